"""Who signs in, who tries to, and who leaves: in the audit trail, by name alone.

Django says when it happens; a failed try names an account only if there is one of that name,
since people type passwords into the wrong field.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.contrib.auth import get_user_model
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed

from documents import audit

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def connect() -> None:
    """Record sign-ins from now on; connecting again changes nothing."""
    user_logged_in.connect(_signed_in, dispatch_uid="legalqa-audit")
    user_logged_out.connect(_signed_out, dispatch_uid="legalqa-audit")
    user_login_failed.connect(_failed, dispatch_uid="legalqa-audit")


def _signed_in(sender: object, user: User, **_: Any) -> None:
    audit.record("signed_in", user, actor=user)


def _signed_out(sender: object, user: User | None, **_: Any) -> None:
    if user is not None:  # a session that had ended already
        audit.record("signed_out", user, actor=user)


def _failed(sender: object, credentials: Mapping[str, Any], **_: Any) -> None:
    users = get_user_model()
    name = str(credentials.get(users.USERNAME_FIELD, ""))
    tried = (
        users.objects.filter(**{users.USERNAME_FIELD: name}).first() if "\0" not in name else None
    )
    after = {"username": tried.get_username() if tried else None}
    audit.record("sign_in_failed", tried, actor=None, after=after, object_type="user")
