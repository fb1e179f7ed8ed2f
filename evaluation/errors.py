"""What can go wrong in evaluation, from the root down.

EvaluationError
├── QuestionFileError    a file of questions that cannot be taken: every line's mistake
├── UnknownSetError      neither a set of that name nor a file
├── UnknownGateError     a gate on a metric that does not exist
└── AnswererError        an answerer that cannot be used as things are set

A gate that is not met is a result, not an error.
"""

from __future__ import annotations


class EvaluationError(Exception):
    """Root of the errors of this app; `code` is stable, the message safe to show."""

    code = "evaluation_error"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class QuestionFileError(EvaluationError):
    """A file that cannot be taken; the message names each line and what is wrong with it."""

    code = "bad_questions"


class UnknownSetError(EvaluationError):
    """There is no question set of that name, and no such file."""

    code = "unknown_set"


class UnknownGateError(EvaluationError):
    """A gate names no metric, or no number; the message lists the metrics."""

    code = "unknown_gate"


class AnswererError(EvaluationError):
    """The answerer asked for cannot be used; the message says what is missing."""

    code = "answerer_unavailable"
