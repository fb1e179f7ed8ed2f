"""What can go wrong in qa, from the root down.

QAError
├── InvalidQuestionError        the question itself cannot be taken
├── AnswererUnavailableError    the answerer asked for cannot be used as things are set
├── RetrievalError              the search could not be run
└── GenerationError
    ├── ClaudeUnavailableError  retryable: no connection, timeout, 429, 529, 5xx
    ├── ModelOutputError        never shown: becomes the refusal `model_error`
    └── ClaudeRequestError      not retryable: our request, key or spending limit
"""

from __future__ import annotations

from documents.errors import RetryableError


class QAError(Exception):
    """Root of the errors of this app; `code` is stable, the message safe to show."""

    code = "qa_error"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code


class InvalidQuestionError(QAError):
    """The question is empty, too long, or not text."""

    code = "invalid_question"


class AnswererUnavailableError(QAError):
    """The answerer that was asked for by name cannot be used; the message says what is missing."""

    code = "answerer_unavailable"


class RetrievalError(QAError):
    """The search could not be run."""

    code = "retrieval_error"


class GenerationError(QAError):
    """The model gave no usable answer."""

    code = "model_error"


class ClaudeUnavailableError(GenerationError, RetryableError):
    """No connection, a timeout, 429, 529 or 5xx: trying again may help."""

    code = "model_unavailable"


class ModelOutputError(GenerationError):
    """The reply was cut off, refused, not JSON or not of the schema."""

    code = "model_output"


class ClaudeRequestError(GenerationError):
    """The API refused our request: bad key, bad request, or a spending limit."""

    code = "model_request"
