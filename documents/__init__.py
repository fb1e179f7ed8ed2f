"""Policies: what we hold, in which version, and who may read it."""
