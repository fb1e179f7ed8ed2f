"""Questions: retrieve, answer, verify, log."""
