"""The REST API: one view per operation, problems in one shape, answers streamed as events."""
