"""The one way to write an audit row, in the transaction of what it records.

Where an act came from is not passed along: the door that lets it in says so once
(`coming_from`), and every row written until it has ended carries it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from documents.models import AuditEvent

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import Model

SYSTEM = "system"
COMMAND_LINE = "command line"


@dataclass(frozen=True, slots=True)
class Person:
    """Who acted, where there is no account at hand."""

    pk: int | None
    name: str

    def get_username(self) -> str:
        """As accounts have it."""
        return self.name[:150]


@dataclass(frozen=True, slots=True)
class Told:
    """What one event says of its object."""

    event_id: int
    action: str
    object_id: str
    after: Mapping[str, Any]


_origin: ContextVar[str] = ContextVar("legalqa_audit_origin", default="")


def set_origin(address: str) -> None:
    """Say where acts come from until the task or thread ends, or says otherwise."""
    _origin.set(address)


def origin() -> str:
    """Where the act at hand comes from; empty for the system."""
    return _origin.get()


@contextmanager
def coming_from(address: str) -> Iterator[None]:
    """Say where the acts of this block come from."""
    token = _origin.set(address)
    try:
        yield
    finally:
        _origin.reset(token)


def record(
    action: str,
    target: Model | None,
    *,
    actor: User | Person | None,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    address: str | None = None,
    object_type: str = "",
    object_id: str = "",
) -> None:
    """Write who did what to which object.

    Args:
        action: verb and noun in the past, e.g. `version_approved`.
        target: the saved object that the act was done to; None: to none in particular.
        actor: the person, or None for the system itself.
        before: what the changed fields held, JSON values only.
        after: what they hold now.
        address: where the act came from; None: what its door said (`coming_from`).
        object_type: what kind of thing the act was about, where there is no target.
        object_id: which one, where it may be gone.
    """
    AuditEvent.objects.create(
        actor_id=actor.pk if actor else None,
        actor_name=actor.get_username() if actor else SYSTEM,
        action=action,
        object_type=(target._meta.model_name or "") if target else object_type,
        object_id=str(getattr(target, "public_id", target.pk)) if target else object_id,
        before=_as_json(before),
        after=_as_json(after),
        address=_origin.get() if address is None else address,
    )


def told_of(object_type: str, actions: Collection[str]) -> Iterator[Told]:
    """What the trail says of one kind of object, oldest first, a few rows in memory."""
    rows = AuditEvent.objects.filter(object_type=object_type, action__in=actions).order_by("pk")
    for event in rows.iterator(chunk_size=500):
        yield Told(event.pk, event.action, event.object_id, event.after or {})


def _as_json(values: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """As the database will give it back, so that the signature still fits then."""
    return json.loads(json.dumps(dict(values))) if values is not None else None
