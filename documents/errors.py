"""What can go wrong in documents, from the root down.

DocumentsError
├── RetryableError          what can heal by itself: a task may try again
│   └── StorageError        the disk is full or cannot be written
├── AccessError             a rule of access was broken by our own code
├── ValidationProblem       bad input: the message says what to do about it
│   ├── ParseError          a file that cannot be read, with the state it ends in
│   └── UnknownLabelError   a label that does not exist
├── TransitionError         a version may not move to that state
└── EmbeddingError          the model is missing, or gave something unusable

Every error has a stable `code` and a message that is safe to show.
"""

from __future__ import annotations


class DocumentsError(Exception):
    """Root of the errors of this app."""

    code = "documents_error"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code


class RetryableError(DocumentsError):
    """Something outside failed that may work again: a task retries it."""

    code = "retryable"


class StorageError(RetryableError):
    """A file could not be written; nothing of it was kept."""

    code = "storage_unavailable"


class AccessError(DocumentsError):
    """Our own code broke a rule of access; never shown to a reader."""

    code = "access_error"


class ValidationProblem(DocumentsError):
    """Input that cannot be taken; the message says what to do."""

    code = "invalid"


class ParseError(ValidationProblem):
    """A file that gives no usable text.

    `code` is one of `empty`, `encrypted`, `needs_ocr`, `refused`, `unsupported`. `pages` are
    those that it is about, counted from 1: for `needs_ocr` the pages without text.
    """

    code = "refused"

    def __init__(
        self, message: str, *, code: str | None = None, pages: tuple[int, ...] = ()
    ) -> None:
        super().__init__(message, code=code)
        self.pages = pages


class UnknownLabelError(ValidationProblem):
    """A label slug that does not exist."""

    code = "unknown_label"


class TransitionError(DocumentsError):
    """A version cannot go from its state to the one asked for."""

    code = "bad_transition"


class EmbeddingError(DocumentsError):
    """The embedding model is missing, has been altered, or gave bad vectors."""

    code = "embedding_error"
