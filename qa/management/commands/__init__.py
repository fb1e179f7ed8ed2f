"""`ask`, `search`, `verify` and the other commands of qa."""
