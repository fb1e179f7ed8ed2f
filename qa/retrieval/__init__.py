"""From a question to the passages that this reader may read."""
