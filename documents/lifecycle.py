"""The table of version states, and the one function that moves a version.

`superseded` and `scheduled` are no states: they follow from the effective range and the date.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import connection

from documents import audit
from documents.errors import TransitionError
from documents.models import PolicyVersion, VersionState

if TYPE_CHECKING:
    from django.contrib.auth.models import User

S = VersionState
ALLOWED: dict[VersionState, frozenset[VersionState]] = {
    S.RECEIVED: frozenset({S.PARSING, S.FAILED, S.REJECTED}),
    S.PARSING: frozenset({S.SCREENING, S.FAILED, S.PARSING}),
    S.SCREENING: frozenset({S.HELD, S.AWAITING_APPROVAL, S.FAILED, S.PARSING}),
    S.HELD: frozenset({S.AWAITING_APPROVAL, S.REJECTED}),
    S.AWAITING_APPROVAL: frozenset({S.INDEXING, S.REJECTED, S.HELD}),
    S.INDEXING: frozenset({S.PUBLISHED, S.FAILED, S.AWAITING_APPROVAL}),
    S.PUBLISHED: frozenset({S.WITHDRAWN}),
    S.FAILED: frozenset({S.RECEIVED, S.INDEXING, S.REJECTED}),
    S.WITHDRAWN: frozenset(),
    S.REJECTED: frozenset(),
}
MOVING = frozenset({S.RECEIVED, S.PARSING, S.SCREENING, S.INDEXING})  # a worker has to act


def lock(version_id: int) -> PolicyVersion:
    """The version with its row locked until the transaction ends.

    Raises:
        PolicyVersion.DoesNotExist: there is none.
    """
    if not connection.in_atomic_block:
        raise TransitionError("a version is locked inside a transaction")
    return PolicyVersion.objects.select_for_update(of=("self",)).get(pk=version_id)


def transition(
    version_id: int,
    to: VersionState,
    *,
    actor: User | None = None,
    detail: dict[str, Any] | None = None,
) -> PolicyVersion:
    """Move a version to a state, under its row lock, with an audit row.

    Args:
        version_id: internal id of the version.
        to: the state asked for.
        actor: who moves it; None: the system.
        detail: what else the audit row should hold, JSON values only.

    Raises:
        TransitionError: the table does not allow it; nothing has changed.
    """
    version = lock(version_id)
    state = VersionState(version.state)
    if to not in ALLOWED[state]:
        raise TransitionError(
            f"A version that is {state.label.lower()} cannot become {to.label.lower()}."
        )
    version.state = to
    version.save(update_fields=["state", "updated_at"])
    audit.record(
        f"version_{to.value}",
        version,
        actor=actor,
        before={"state": state.value},
        after={"state": to.value, **(detail or {})},
    )
    return version
