"""Guessing passwords and keys is stopped, by person and by address, before anything is looked up.

Ten wrong passwords for one name from one address, a hundred for one name from anywhere, or
fifty from one address for any names, and no more tries count for a quarter of an hour, the
right one included. What a person sees is the same whether the name exists, the password is
wrong, or the limit is reached. Counted in the shared cache (`limits`), so nothing is stored of
whoever tried; the tries themselves are in the audit trail.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.signals import user_logged_in, user_login_failed
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from documents import audit
from qa import limits

WINDOW_SECONDS = 15 * 60
MOST_OF_NAME_AND_ADDRESS = 10
MOST_OF_NAME = 100
MOST_OF_ADDRESS = 50
MOST_KEYS_OF_ADDRESS = 100


class GuessingBackend:
    """First of the ways to sign in: lets nobody in, and ends it where too much was tried.

    Not derived from Django's base class: it has no users to give back.
    """

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, **_: Any
    ) -> None:
        """Nothing, so that the next way is tried.

        Raises:
            PermissionDenied: too many wrong tries; no other way is tried.
        """
        if any(limits.tallied(key, WINDOW_SECONDS) >= most for key, most in _counts(username)):
            raise PermissionDenied


def connect() -> None:
    """Count wrong tries from now on; connecting again changes nothing."""
    user_login_failed.connect(_failed, dispatch_uid="legalqa-guessing")
    user_logged_in.connect(_succeeded, dispatch_uid="legalqa-guessing")


def _failed(sender: object, credentials: Mapping[str, Any], **_: Any) -> None:
    name = credentials.get(get_user_model().USERNAME_FIELD)
    for key, _most in _counts(str(name) if name is not None else None):
        limits.tally(key, WINDOW_SECONDS)


def _succeeded(sender: object, user: Any, **_: Any) -> None:
    """A person who knows the password has not been guessing: their own count begins anew."""
    limits.forget(_of_name_here(user.get_username()), WINDOW_SECONDS)


def _counts(name: str | None) -> Iterator[tuple[str, int]]:
    if origin := audit.origin():
        yield f"tries:at:{_hash(origin)}", MOST_OF_ADDRESS
    if name is not None:
        yield _of_name_here(name), MOST_OF_NAME_AND_ADDRESS
        yield f"tries:of:{_hash(name)}", MOST_OF_NAME


def _of_name_here(name: str) -> str:
    return f"tries:of:{_hash(name)}:at:{_hash(audit.origin())}"


def _hash(text: str) -> str:
    """People type passwords into the field of the name: the cache keeps none as it is."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:24]


def is_guessing_keys() -> bool:
    """Whether too many unknown keys came from this address to look at another one."""
    return limits.tallied(_keys_here(), WINDOW_SECONDS) >= MOST_KEYS_OF_ADDRESS


def count_wrong_key() -> None:
    """Count a key that is none."""
    limits.tally(_keys_here(), WINDOW_SECONDS)


def _keys_here() -> str:
    return f"keys:at:{_hash(audit.origin())}"
