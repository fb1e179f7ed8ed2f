"""Signs of life from a run that takes long, for the sweeper.

Parsing, dividing, screening and embedding hold no transaction and may each take longer than
`SWEEP_AFTER_SECONDS`. A thread says meanwhile that the run is alive; it ends with the process,
and after the longest time that a task may take, so a run that hangs is still taken over.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.db.models import Q
from django.db.models.functions import Now

from documents import access
from documents.models import PolicyVersion

logger = logging.getLogger(__name__)

_LEAST_SECONDS = 0.5


@contextmanager
def beating(version_id: int, still: Q) -> Iterator[None]:
    """Touch a version now and then until the block ends, for as long as it is `still` so."""
    stop = threading.Event()
    thread = threading.Thread(target=_beat, args=(version_id, still, stop), daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _beat(version_id: int, still: Q, stop: threading.Event) -> None:
    every_seconds = max(settings.SWEEP_AFTER_SECONDS / 4, _LEAST_SECONDS)
    ends = time.monotonic() + settings.CELERY_TASK_TIME_LIMIT
    try:
        while not stop.wait(every_seconds) and time.monotonic() < ends:
            _touch(version_id, still)
    finally:
        connection.close()


def _touch(version_id: int, still: Q) -> None:
    try:
        with access.editing():
            PolicyVersion.objects.filter(still, pk=version_id).update(updated_at=Now())
    except (OperationalError, InterfaceError):
        logger.warning("The database is away: version %s gives no sign of life.", version_id)
        connection.close()
