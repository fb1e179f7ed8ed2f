"""Hand work to the workers once the transaction has committed.

The database is the queue of record: a message only says that a row is due. When the broker is
down the message is dropped with a warning, and the sweeper queues the row again (ADR 0008).
Whatever goes wrong here, what has been committed is not called a failure.
"""

from __future__ import annotations

import logging
from typing import Any

from celery import current_app
from django.db import transaction
from kombu import Connection
from kombu.exceptions import ChannelError, OperationalError
from redis import RedisError

MOST_WAITING = 100
"""Messages up to which the sweeper fills the queue: a flushed queue is full again at once, and a
long one is not made longer by messages about rows that have theirs already."""
LEAST_ROOM = 10
"""What a sweep may add however long the queue is, so that no lost row waits for its end."""

logger = logging.getLogger(__name__)


def enqueue(task: str, *ids: object) -> None:
    """Send `documents.tasks.<task>` with ids as its arguments, after commit."""

    def send() -> None:
        try:
            current_app.send_task(f"documents.tasks.{task}", args=list(ids))
        except OperationalError:
            logger.warning("The broker is down: %s %s waits for the sweeper.", task, ids)

    transaction.on_commit(send, robust=True)


def room() -> int:
    """How many messages a sweep may send; none while the broker is down."""
    try:
        with current_app.connection_for_write() as broker:
            broker.ensure_connection(max_retries=1, timeout=2)
            return max(LEAST_ROOM, MOST_WAITING - _waiting(broker))
    except (OSError, OperationalError, RedisError):
        logger.warning("The broker is down: nothing was queued again.")
        return 0


def _waiting(broker: Connection) -> int:
    open_channel: Any = broker.channel  # the stubs know no passive declaration
    with open_channel() as channel:
        try:
            found = channel.queue_declare(current_app.conf.task_default_queue, passive=True)
        except ChannelError:  # an empty queue is no key of Redis
            return 0
        return int(found.message_count)
