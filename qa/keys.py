"""API keys: made once, shown once, kept as a hash."""

from __future__ import annotations

import datetime
import hashlib
import hmac
import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.db.models import Q

from documents import audit
from qa.models import ApiKey

if TYPE_CHECKING:
    from django.contrib.auth.models import User

_PREFIX_LENGTH = 12


def create_key(
    user: User,
    *,
    name: str,
    scopes: Sequence[str],
    labels: Sequence[str] | None = None,
    expires_at: datetime.datetime | None = None,
    actor: User | None = None,
) -> str:
    """Make a key for `user` and return it; it can never be shown again."""
    key = "lqa_" + secrets.token_urlsafe(32)
    row = ApiKey.objects.create(
        name=name,
        user=user,
        prefix=key[:_PREFIX_LENGTH],
        digest=_digest(key),
        scopes=list(scopes),
        labels=list(labels) if labels is not None else None,
        expires_at=expires_at,
    )
    after = {
        "name": name,
        "user": user.get_username(),
        "prefix": row.prefix,
        "scopes": list(scopes),
        "labels": row.labels,
        "expires_at": expires_at.isoformat() if expires_at else None,
    }
    audit.record("api_key_created", row, actor=actor, after=after)
    return key


def find_key(key: str) -> ApiKey | None:
    """The valid key row of an active user; None for anything else, without saying why."""
    if not key.isascii() or not key.isprintable():
        return None  # no key of ours, and the database takes no NUL
    now = datetime.datetime.now(datetime.UTC)
    row = (
        ApiKey.objects.filter(prefix=key[:_PREFIX_LENGTH], revoked_at=None, user__is_active=True)
        .filter(Q(expires_at=None) | Q(expires_at__gt=now))
        .select_related("user")
        .first()
    )
    if row is None or not hmac.compare_digest(row.digest, _digest(key)):
        return None
    ApiKey.objects.filter(pk=row.pk).update(last_used_at=now)
    return row


def is_in_force(key_id: int) -> bool:
    """Whether a key may still be used: not revoked, not expired, its user active."""
    now = datetime.datetime.now(datetime.UTC)
    rows = ApiKey.objects.filter(pk=key_id, revoked_at=None, user__is_active=True)
    return rows.filter(Q(expires_at=None) | Q(expires_at__gt=now)).exists()


def row_of(key: str) -> tuple[int, str]:
    """The id and the prefix of the row that a key was just made as."""
    row = ApiKey.objects.get(prefix=key[:_PREFIX_LENGTH])
    return row.pk, row.prefix


def revoke_key(row: ApiKey, *, actor: User | None) -> None:
    """End a key at once; one that has ended stays as it is."""
    now = datetime.datetime.now(datetime.UTC)
    if ApiKey.objects.filter(pk=row.pk, revoked_at=None).update(revoked_at=now):
        audit.record("api_key_revoked", row, actor=actor, before=_named(row))


def _named(row: ApiKey) -> dict[str, str]:
    return {"name": row.name, "user": row.user.get_username(), "prefix": row.prefix}


def _digest(key: str) -> str:
    # 256 random bits need no slow hash: there is nothing to guess.
    return hashlib.sha256(key.encode()).hexdigest()
