"""How the work on uploads stands: what waits, for how long, and whether the sweeper runs."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

from django.core.cache import cache
from django.db.models import Count, Max, Min
from django.db.models.functions import Now
from redis import RedisError

from documents import access, lifecycle
from documents.models import PolicyVersion

logger = logging.getLogger(__name__)

LONGEST_WAIT_SECONDS = 600
_SWEPT_AT = "documents:swept_at"


@dataclass(frozen=True, slots=True)
class Backlog:
    """Versions that wait for a worker or have one, and the longest time since one moved."""

    versions: int
    oldest_seconds: float


def backlog() -> Backlog:
    """What the workers still have to do, by the database's clock."""
    with access.editing():
        moving = PolicyVersion.objects.filter(state__in=lifecycle.MOVING)
        found = moving.aggregate(n=Count("pk"), first=Min("updated_at"), now=Max(Now()))
    if not found["n"]:
        return Backlog(0, 0.0)
    return Backlog(found["n"], (found["now"] - found["first"]).total_seconds())


def note_sweep() -> None:
    """Remember that the sweeper ran: `doctor` misses it otherwise."""
    try:
        cache.set(_SWEPT_AT, time.time(), timeout=None)
    except RedisError:
        logger.warning("The cache is down: this sweep is not noted.")


def seconds_since_sweep() -> float | None:
    """How long ago the sweeper ran; None: it is not known that it ever did."""
    try:
        at = cache.get(_SWEPT_AT)
    except RedisError:
        return None
    return None if at is None else max(0.0, time.time() - at)
