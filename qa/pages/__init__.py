"""The pages of employees: ask, read, look back. They work without script."""
