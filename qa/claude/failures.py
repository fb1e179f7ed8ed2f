"""What the SDK raises, translated once.

Errors are built here and raised by the caller after its handler has ended: the SDK's own
messages quote the API's words, and as a cause they would be printed with every traceback.
"""

from __future__ import annotations

import anthropic
import httpx2

from qa.errors import (
    ClaudeRequestError,
    ClaudeUnavailableError,
    GenerationError,
    ModelOutputError,
)

SPENDING_LIMIT = "model_spending_limit"

# What a wait on the SDK may raise: its own errors; those of the HTTP library under it, which
# are not wrapped once the stream runs; the standard library's for broken JSON and broken UTF-8;
# and what an event of the wrong shape does to its models.
LIBRARY_ERRORS = (
    anthropic.AnthropicError,
    httpx2.HTTPError,
    httpx2.StreamError,
    OSError,
    ValueError,
    TypeError,
    AttributeError,
)

_HEALING_TYPES = frozenset({"overloaded_error", "api_error", "timeout_error", "rate_limit_error"})
_HEALING_STATUSES = frozenset({408, 429, *range(500, 600)})
_SPENDING_CODES = frozenset(
    {
        "enforced_spend_limit_reached",
        "contract_spend_limit_reached",
        "linked_organization_spend_limit_reached",
    }
)
_REQUEST_ERRORS = {
    400: "The API found our request wrong.",
    401: "The API refused the key: check ANTHROPIC_API_KEY.",
    403: "The API refused the key's rights: check ANTHROPIC_API_KEY.",
    404: "The API does not know this address or model: check LEGALQA_MODEL.",
    413: "The API found our request too large: lower LEGALQA_CONTEXT_TOKENS.",
}


class TryAgainError(ClaudeUnavailableError):
    """Unavailable, with the pause that the API asked for, if it did."""

    def __init__(self, message: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


def too_late() -> TryAgainError:
    """The error for a limit of time that has passed."""
    return TryAgainError("The model did not answer in time.")


def translated(error: Exception) -> GenerationError:
    """Our error for one of LIBRARY_ERRORS; says nothing that the API said."""
    if isinstance(error, anthropic.APIStatusError):
        return _translated_status(error)
    if isinstance(error, anthropic.APITimeoutError | httpx2.TimeoutException):
        return too_late()
    connection = anthropic.APIConnectionError | httpx2.HTTPError | httpx2.StreamError | OSError
    if isinstance(error, connection):
        return TryAgainError("The connection to the model failed.")
    return ModelOutputError("The model's reply was malformed.")


def _translated_status(error: anthropic.APIStatusError) -> GenerationError:
    """Our error for what the API said: inside a stream the status is 200, so types count too."""
    headers = error.response.headers
    if _is_spent(error):
        message = "The spending limit at the API has been reached."
        return ClaudeRequestError(message, code=SPENDING_LIMIT)
    if _can_heal(error):
        return TryAgainError("The model is busy.", _seconds(headers.get("retry-after")))
    unnamed = f"The API refused our request with status {error.status_code}."
    return ClaudeRequestError(_REQUEST_ERRORS.get(error.status_code, unnamed))


def _is_spent(error: anthropic.APIStatusError) -> bool:
    # A rate limit names the time to come back; a spending limit has none to name.
    is_endless = error.status_code == 429 and "retry-after" not in error.response.headers
    is_billing = error.status_code == 402 or error.type == "billing_error"
    return is_endless or is_billing or error.error_code in _SPENDING_CODES


def _can_heal(error: anthropic.APIStatusError) -> bool:
    is_unnamed_in_stream = error.status_code == 200 and error.type is None
    has_healing_status = error.status_code in _HEALING_STATUSES
    return has_healing_status or error.type in _HEALING_TYPES or is_unnamed_in_stream


def _seconds(value: str | None) -> float | None:
    try:
        return max(0.0, float(value)) if value else None
    except ValueError:
        return None  # a date, which a proxy may send: our own pause will do
