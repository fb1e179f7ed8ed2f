"""The way of one upload through this process, with a fault at a chosen step.

A *step* is what could be the last thing that a process does: a statement, a commit (before and
after), a change of a file, a message to the broker, a run of the parser or of the model. The
journey runs in a forked child, which counts its steps; at one of them the fault happens. The
broker is a list in the child's memory: when the child dies its messages are lost, as by
FLUSHALL. `recover` does what the sweeper and a new worker do.
"""

from __future__ import annotations

import errno
import logging
import os
import signal
import tempfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from django.db import close_old_connections, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper
from kombu.exceptions import OperationalError as BrokerDown

from documents import access, actions, embedding, lifecycle, pipeline, queue, tasks
from documents.models import PolicyVersion
from documents.tests import factories

logger = logging.getLogger(__name__)

Fault = Callable[[str], None]
SECTIONS = 3


@dataclass
class Broker:
    """A broker in memory, which nothing outlives."""

    messages: list[tuple[str, list[Any]]] = field(default_factory=list)

    def send_task(self, name: str, args: list[Any]) -> None:
        self.messages.append((name.rpartition(".")[2], args))


def text_of(name: str, *, days: int = 5, extra: str = "") -> bytes:
    """A policy of `SECTIONS` short sections."""
    body = "".join(
        f"## {n} Rule {n}\n\nRule {n} of {name} allows {days + n} visits a year.\n\n"
        for n in range(1, SECTIONS + 1)
    )
    return f"# {name}\n\n{body}{extra}".encode()


def vectors(texts: Sequence[str], language: str | None, **_: Any) -> Any:
    """In the model's place: a direction for each text, the same each time."""
    rows = [np.random.default_rng(zlib.crc32(text.encode())).normal(size=384) for text in texts]
    return np.array([row / np.linalg.norm(row) for row in rows], dtype=np.float32)


def use_broker(monkeypatch: Any) -> Broker:
    """Let this process, and those that it forks, send its messages to a list."""
    broker = Broker()
    monkeypatch.setattr(queue, "current_app", broker)
    monkeypatch.setattr(queue, "room", lambda: queue.MOST_WAITING)
    monkeypatch.setattr(embedding, "encode_passages", vectors)
    monkeypatch.setattr(pipeline, "read_confined", factories._parse_here)
    return broker


def work(broker: Broker) -> None:
    """Do what a worker does: a task that raises is dropped, the next one gets a connection."""
    while broker.messages:
        name, args = broker.messages.pop(0)
        close_old_connections()
        try:
            getattr(tasks, name)(*args)
        except Exception as error:  # noqa: BLE001 - a worker goes on whatever a task raises
            logger.info("%s ended with %r.", name, error)


def recover(broker: Broker) -> None:
    """One sweep, and a worker that does what it queued."""
    tasks.sweep()
    work(broker)


def state_of(version_id: int) -> str:
    with access.editing():
        return PolicyVersion.objects.get(pk=version_id).state


def is_moving(version_id: int) -> bool:
    return state_of(version_id) in lifecycle.MOVING


# Steps, and what happens at one of them


def count_steps(at: Callable[[str], None]) -> None:
    """Have every step of this process, which never ends in order, tell its name first."""

    def around(owner: Any, name: str, label: str, *, after: bool = True) -> None:
        inner = getattr(owner, name)

        def told(*args: Any, **kwargs: Any) -> Any:
            at(label)
            result = inner(*args, **kwargs)
            if after:
                at(f"{label}, done")
            return result

        setattr(owner, name, told)

    around(CursorWrapper, "execute", "statement", after=False)
    around(CursorWrapper, "executemany", "statement", after=False)
    around(BaseDatabaseWrapper, "_commit", "commit")
    around(tempfile, "mkstemp", "new file")
    around(os, "fsync", "flush of a file")
    around(Path, "replace", "rename of a file")
    around(queue.__dict__["current_app"], "send_task", "message")
    around(pipeline, "read_confined", "parser")
    around(embedding, "encode_passages", "model")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a journey ended: what its client was told, and by which signal the process died."""

    received: int | None
    signal: int
    steps: tuple[str, ...]


def travel(
    broker: Broker, upload: Callable[[], actions.Received], at: int = 0, fault: Fault | None = None
) -> Ended:
    """Upload and process in a forked child, with `fault` at step `at`, counted from 1."""
    connections.close_all()  # a child may not use, nor end, its parent's connections
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _child(broker, upload, at, fault, writing)
    os.close(writing)
    with os.fdopen(reading) as told:
        lines = told.read().splitlines()
    _, status = os.waitpid(child, 0)
    received = [int(line.removeprefix("received ")) for line in lines if "received" in line]
    steps = tuple(line.removeprefix("step ") for line in lines if line.startswith("step "))
    broken = [line for line in lines if line.startswith("broken ")]
    assert not broken, broken
    return Ended(received[0] if received else None, status & 0x7F, steps)


def _child(
    broker: Broker,
    upload: Callable[[], actions.Received],
    at: int,
    fault: Fault | None,
    writing: int,
) -> None:
    """Never returns: whatever happens, this process ends here."""
    taken = 0

    def step(name: str) -> None:
        nonlocal taken
        taken += 1
        os.write(writing, f"step {name}\n".encode())
        if taken == at and fault is not None:
            fault(name)

    try:
        count_steps(step)
        try:
            received = upload()
            os.write(writing, f"received {received.version_id}\n".encode())
        except Exception as error:  # noqa: BLE001 - the client sees an error, and no "received"
            if fault is None:
                os.write(writing, f"broken {error!r}\n".encode())
        work(broker)
    finally:
        os._exit(0)


def die(step: str) -> None:
    """As `kill -9`, and as a machine that loses its power."""
    os.kill(os.getpid(), signal.SIGKILL)


def lose_database(step: str) -> None:
    """As a restart of Postgres: this process's connection is gone."""
    if connection.connection is None or connection.connection.closed:
        return
    parts = connection.get_connection_params()
    wanted = {name: parts[name] for name in ("dbname", "user", "host") if name in parts}
    with psycopg.connect(**wanted) as other:
        other.execute(
            "select pg_terminate_backend(%s, 1000)", [connection.connection.info.backend_pid]
        )


def fill_disk(step: str) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def lose_broker(step: str) -> None:
    raise BrokerDown("the broker is down")


def nothing(step: str) -> None:
    """No fault: the journey is only counted."""
