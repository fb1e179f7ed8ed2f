"""Every error of the API in one shape: an RFC 9457 problem document.

`type`, `title`, `status`, `detail` and a stable `code`; `errors` names fields. Nothing
internal is shown: an error that nobody foresaw is a bare 500, and its text stays in no log
either, since it may hold a question. Missing and forbidden objects look alike.
"""

from __future__ import annotations

import json
import logging
import math
import traceback
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions

from documents.errors import (
    AccessError,
    DocumentsError,
    EmbeddingError,
    RetryableError,
    TransitionError,
    ValidationProblem,
)
from qa.errors import InvalidQuestionError, QAError, RetrievalError

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
NOT_FOUND = "There is nothing here that you may read."
NOT_SIGNED_IN = "Sign in, or send an API key in the header Authorization: Bearer <key>."
RETRY_AFTER_SECONDS = 5
_TITLES = {
    400: "Invalid request",
    401: "Not signed in",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    406: "Not acceptable",
    409: "Conflict",
    413: "Too large",
    415: "Unsupported media type",
    429: "Too many requests",
    500: "Internal error",
    503: "Temporarily unavailable",
}


@dataclass(frozen=True, slots=True)
class FieldError:
    """What is wrong with one field of a request."""

    field: str
    message: str


@dataclass(frozen=True, slots=True)
class Problem:
    """An error as a caller sees it."""

    status: int
    code: str
    detail: str
    errors: tuple[FieldError, ...] = ()
    hint: str | None = None
    headers: dict[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The body of RFC 9457."""
        body: dict[str, Any] = {
            "type": f"urn:legalqa:problem:{self.code}",
            "title": _TITLES.get(self.status, "Error"),
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
        }
        if self.errors:
            body["errors"] = [{"field": e.field, "message": e.message} for e in self.errors]
        if self.hint:
            body["hint"] = self.hint
        return body

    def response(self) -> HttpResponse:
        """The problem as a response, whatever media type was asked for."""
        return HttpResponse(
            json.dumps(self.as_json(), ensure_ascii=False),
            status=self.status,
            content_type=MEDIA_TYPE,
            headers=self.headers,
        )


class NotFoundError(exceptions.NotFound):
    """An object that does not exist, or that the caller may not see: nobody can tell which."""

    default_detail = NOT_FOUND


class TooLargeError(exceptions.APIException):
    """A body that is longer than the operation can need."""

    status_code = 413
    default_detail = "The request is too large."
    default_code = "too_large"


class StreamTooLongError(exceptions.APIException):
    """An answer took longer than a stream may live."""

    status_code = 503
    default_detail = "This answer took too long. Ask again, or ask a narrower question."
    default_code = "stream_too_long"


def exception_handler(error: Exception, context: dict[str, Any]) -> HttpResponse:
    """DRF's hook: every exception of a view becomes a problem document."""
    return problem_of(error).response()


def problem_of(error: Exception) -> Problem:
    """The problem that an exception is shown as."""
    if isinstance(error, Http404):
        error = NotFoundError()
    elif isinstance(error, PermissionDenied):
        error = exceptions.PermissionDenied()
    if isinstance(error, exceptions.APIException):
        return _of_api_exception(error)
    if isinstance(error, OperationalError | InterfaceError):
        logger.error("The database cannot be reached: %s", type(error).__name__)
        return _unavailable("database_down", "The database cannot be reached. Try again shortly.")
    if isinstance(error, RequestDataTooBig):
        return Problem(413, "too_large", "The request is too large.")
    if isinstance(error, SuspiciousOperation):
        return Problem(400, "invalid", "The request has too many parts, or is malformed.")
    if isinstance(error, DocumentsError | QAError) and not isinstance(error, AccessError):
        return _of_own(error)
    return _unforeseen(error)


def _of_own(error: DocumentsError | QAError) -> Problem:
    if isinstance(error, ValidationProblem):
        return Problem(413 if error.code == "too_large" else 400, error.code, error.message)
    if isinstance(error, InvalidQuestionError):
        wrong = (FieldError("question", error.message),)
        return Problem(400, error.code, error.message, errors=wrong)
    if isinstance(error, TransitionError):
        return Problem(409, error.code, error.message)
    if isinstance(error, RetryableError | EmbeddingError | RetrievalError):
        return _unavailable(error.code, error.message)
    return Problem(500, error.code, error.message)


def _unavailable(code: str, detail: str) -> Problem:
    return Problem(503, code, detail, headers={"Retry-After": str(RETRY_AFTER_SECONDS)})


def _unforeseen(error: Exception) -> Problem:
    # The exception's own text may hold a question or a row, so only its type and place are kept.
    place = "".join(traceback.format_tb(error.__traceback__))
    logger.error("Unforeseen %s in the API\n%s", type(error).__name__, place)
    return Problem(500, "internal_error", "Something went wrong on our side. Try again shortly.")


def _of_api_exception(error: exceptions.APIException) -> Problem:
    headers: dict[str, str] = {}
    if header := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = header
    wait_seconds: float | None = getattr(error, "wait", None)  # of Throttled
    if wait_seconds is not None:
        headers["Retry-After"] = str(math.ceil(wait_seconds))
    if isinstance(error, exceptions.ValidationError):
        errors = tuple(_field_errors(error.detail))
        detail = " ".join(f"{e.field}: {e.message}" if e.field else e.message for e in errors)
        return Problem(error.status_code, "invalid", detail, errors=errors, headers=headers)
    codes = error.get_codes()
    code = codes if isinstance(codes, str) else error.default_code
    is_nobody = isinstance(error, exceptions.NotAuthenticated)
    detail = NOT_SIGNED_IN if is_nobody else str(error.detail)
    return Problem(error.status_code, code, detail, headers=headers)


def _field_errors(detail: Any, at: str = "") -> list[FieldError]:
    """Flatten DRF's nested errors into `a.b.0` paths."""
    if isinstance(detail, dict):
        pairs = [(f"{at}.{key}" if at else str(key), value) for key, value in detail.items()]
        return [found for path, value in pairs for found in _field_errors(value, path)]
    if isinstance(detail, list):
        return [found for value in detail for found in _field_errors(value, at)]
    return [FieldError("" if at == "non_field_errors" else at, str(detail))]


@csrf_exempt
def not_found(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
    """Any address under /api/ that is no endpoint."""
    return problem_of(NotFoundError()).response()
