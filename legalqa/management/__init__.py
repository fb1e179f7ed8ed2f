"""Commands that need all apps."""
