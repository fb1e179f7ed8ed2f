"""The admin of API keys, and of the questions that were asked."""

from qa.admin import api_keys, questions

__all__ = ["api_keys", "questions"]
