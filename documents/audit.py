"""The one way to write an audit row, in the transaction of what it records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from documents.models import AuditEvent

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import Model

SYSTEM = "system"


def record(
    action: str,
    target: Model,
    *,
    actor: User | None,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    address: str = "",
) -> None:
    """Write who did what to which object.

    Args:
        action: verb and noun in the past, e.g. `version_approved`.
        target: the saved object that the act was done to.
        actor: the person, or None for the system itself.
        before: what the changed fields held, JSON values only.
        after: what they hold now.
        address: where the request came from, empty for the system.
    """
    AuditEvent.objects.create(
        actor_id=actor.pk if actor else None,
        actor_name=actor.get_username() if actor else SYSTEM,
        action=action,
        object_type=target._meta.model_name or "",
        object_id=str(getattr(target, "public_id", target.pk)),
        before=dict(before) if before is not None else None,
        after=dict(after) if after is not None else None,
        address=address,
    )
