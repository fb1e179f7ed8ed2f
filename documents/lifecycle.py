"""The table of version states, and the one function that moves a version.

`superseded` and `scheduled` are no states: they follow from the effective range and the date.
How long a version has rested is measured by the database's clock alone.
"""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import connection
from django.db.models import Q
from django.db.models.functions import Now

from documents import audit
from documents.errors import TransitionError
from documents.models import PolicyVersion, VersionState

if TYPE_CHECKING:
    from django.contrib.auth.models import User

S = VersionState
ALLOWED: dict[VersionState, frozenset[VersionState]] = {
    S.RECEIVED: frozenset({S.PARSING, S.FAILED, S.REJECTED}),
    S.PARSING: frozenset({S.SCREENING, S.FAILED, S.PARSING, S.REJECTED}),
    S.SCREENING: frozenset({S.HELD, S.AWAITING_APPROVAL, S.FAILED, S.PARSING}),
    S.HELD: frozenset({S.AWAITING_APPROVAL, S.REJECTED}),
    S.AWAITING_APPROVAL: frozenset({S.INDEXING, S.REJECTED, S.HELD}),
    S.INDEXING: frozenset({S.PUBLISHED, S.FAILED, S.AWAITING_APPROVAL, S.REJECTED}),
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


def touch(version_id: int) -> None:
    """Show the sweeper that a run is at work on a version."""
    PolicyVersion.objects.filter(pk=version_id).update(updated_at=Now())


def long_ago(field: str) -> Q:
    """Rows of which a time lies further back than a working run would let it.

    A time ahead of the database's clock was written by a clock that is wrong, and says nothing:
    it counts as long ago too, or a version would rest until the wrong clock is reached.
    """
    span = datetime.timedelta(seconds=settings.SWEEP_AFTER_SECONDS)
    return Q(**{f"{field}__lte": Now() - span}) | Q(**{f"{field}__gt": Now() + span})


def is_stale(version_id: int) -> bool:
    """Whether a version has rested in its state longer than a working run would let it."""
    return PolicyVersion.objects.filter(long_ago("updated_at"), pk=version_id).exists()


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
    PolicyVersion.objects.filter(pk=version_id).update(state=to, updated_at=Now())
    audit.record(
        f"version_{to.value}",
        version,
        actor=actor,
        before={"state": state.value},
        after={"state": to.value, **(detail or {})},
    )
    return version
