"""Hand work to the workers once the transaction has committed.

The database is the queue of record: a message only says that a row is due. When the broker is
down the message is dropped with a warning, and the sweeper queues the row again (ADR 0008).
"""

from __future__ import annotations

import logging

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)


def enqueue(task: str, *ids: object) -> None:
    """Send `documents.tasks.<task>` with ids as its arguments, after commit."""

    def send() -> None:
        try:
            current_app.send_task(f"documents.tasks.{task}", args=list(ids))
        except OperationalError:
            logger.warning("The broker is down: %s %s waits for the sweeper.", task, ids)

    transaction.on_commit(send)
