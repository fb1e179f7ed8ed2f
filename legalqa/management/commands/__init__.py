"""`demo` and `doctor`."""
