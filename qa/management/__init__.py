"""Commands of qa, and who asks on the command line."""
