"""Commands of evaluation."""
