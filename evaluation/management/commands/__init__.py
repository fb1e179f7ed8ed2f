"""`evaluate` and `import_questions`."""
