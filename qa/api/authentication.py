"""Who calls: a program with a key in the Authorization header, or a signed-in person.

A key is looked at first, so a request with a key never falls back on a cookie. Being first
also makes a missing or unknown key a 401 with `WWW-Authenticate`, not a 403.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, Throttled
from rest_framework.request import Request

from documents.access import Reader
from qa import guessing, keys
from qa.models import ApiKey

if TYPE_CHECKING:
    from django.contrib.auth.models import User

SCHEME = "Bearer"


class ApiKeyAuthentication(BaseAuthentication):
    """Authenticates `Authorization: Bearer lqa_…`; `request.auth` is then the key's row."""

    def authenticate(self, request: Request) -> tuple[User, ApiKey] | None:
        """The key's user and its row; None when the request carries no key.

        Raises:
            AuthenticationFailed: unknown, expired or revoked, or its user is disabled. Which
                of these it is, is not said.
            Throttled: too many unknown keys came from this address.
        """
        scheme, _, key = request.headers.get("Authorization", "").partition(" ")
        if scheme.casefold() != SCHEME.casefold():
            return None
        if guessing.is_guessing_keys():
            raise Throttled(wait=guessing.WINDOW_SECONDS)
        row = keys.find_key(key.strip())
        if row is None:
            guessing.count_wrong_key()
            raise AuthenticationFailed(
                "This API key is not valid. Check it, or ask for a new one.", code="invalid_key"
            )
        return row.user, row

    def authenticate_header(self, request: Request) -> str:
        """What a 401 names as the way in."""
        return f'{SCHEME} realm="legalqa"'


def key_of(request: Request) -> ApiKey | None:
    """The key that a request came with; None for a signed-in person."""
    return request.auth if isinstance(request.auth, ApiKey) else None


def user_of(request: Request) -> User:
    """The person behind a request that was let in."""
    return request.user  # type: ignore[return-value]  # permissions let no anonymous request in


def reader_of(request: Request) -> Reader:
    """The reader of a request: its user, narrowed to the labels of its key."""
    key = key_of(request)
    return Reader.for_user(user_of(request), key_labels=key.labels if key else None)
