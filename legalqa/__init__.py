"""The project: the only package that knows all apps."""
