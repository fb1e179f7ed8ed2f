"""The Model Context Protocol server: a third door to the same pipeline, read-only."""
