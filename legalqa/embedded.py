"""The embedded Postgres and Redis: start, share, stop.

    python -m legalqa.embedded up | down | status | psql [ARGUMENTS]

Whoever needs the services calls `ensure_services()`: it joins the services of this checkout,
or has a supervisor start them, and marks this process as a user for as long as it lives. The
supervisor stops them when nobody has used them for a while. For trial and tests; production
names its own servers in DATABASE_URL and REDIS_URL. ADR 0003 has the reasons.
"""

import argparse
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from legalqa.supervision import postgres, redis, supervisor
from legalqa.supervision.layout import (
    ROOT,
    VAR_DIR_VARIABLE,
    EmbeddedServicesError,
    Layout,
    Sockets,
    layout_from_environment,
)

__all__ = ["EmbeddedServicesError", "Services", "ensure_services", "main", "stop_services"]

_START_SECONDS = 90.0
# Descriptors, open until the process ends: the kernel gives the locks back then.
_users_locks: dict[Path, int] = {}


@dataclass(frozen=True, slots=True)
class Services:
    """Addresses of the running services; all are unix sockets of this user."""

    database_url: str
    database_owner_url: str
    database_superuser_url: str
    redis_url: str
    """As Celery takes it."""
    redis_client_url: str
    """As redis-py takes it."""
    notes: tuple[str, ...] = ()
    """What was changed on this machine to make them run, in words."""


def ensure_services(*, timeout_seconds: float = _START_SECONDS) -> Services:
    """Join the services of this checkout, starting them if they do not run.

    This process, and what it forks, counts as their user until it ends.

    Raises:
        EmbeddedServicesError: they did not become ready within `timeout_seconds`.
    """
    layout = layout_from_environment()
    _count_as_user(layout)
    deadline = time.monotonic() + timeout_seconds
    starter: subprocess.Popen[bytes] | None = None
    while True:
        state = _ready_state(layout)
        if state is not None:
            return _services(state)
        if starter is not None and starter.poll():
            raise EmbeddedServicesError(
                f"The embedded services did not start. {_last_words(layout)}"
            )
        if starter is None or starter.poll() is not None:
            starter = _start_supervisor(layout) if supervisor_pid(layout) is None else None
        if time.monotonic() > deadline:
            raise EmbeddedServicesError(
                f"The embedded services are not ready. {_last_words(layout)}"
            )
        time.sleep(0.02)


def stop_services() -> bool:
    """Stop the services whoever uses them; false when they did not run."""
    layout = layout_from_environment()
    pid = supervisor_pid(layout)
    if pid is None:
        return False
    os.kill(pid, signal.SIGTERM)
    while supervisor_pid(layout) == pid:
        time.sleep(0.05)
    return True


def supervisor_pid(layout: Layout) -> int | None:
    """The process id of the living supervisor, 0 while it has not written it, or None."""
    try:
        with layout.supervisor_lock.open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return None
    except BlockingIOError:
        return int(layout.supervisor_lock.read_text() or 0)
    return None


def _count_as_user(layout: Layout) -> None:
    if layout.users_lock in _users_locks:
        return
    try:
        layout.make_folders()
        users = os.open(layout.users_lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except PermissionError as error:
        raise EmbeddedServicesError(
            f"{layout.var} belongs to another user. Run as that user, "
            f"or set {VAR_DIR_VARIABLE} to a folder of your own."
        ) from error
    fcntl.flock(users, fcntl.LOCK_SH)
    _users_locks[layout.users_lock] = users


def _start_supervisor(layout: Layout) -> subprocess.Popen[bytes]:
    supervisor.rotate(layout.log)
    with layout.log.open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "legalqa.embedded", "supervise"],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            env={**os.environ, VAR_DIR_VARIABLE: str(layout.var)},  # it may be relative to here
        )


def _ready_state(layout: Layout) -> dict[str, Any] | None:
    """What the supervisor wrote, if it lives and both services answer."""
    try:
        state: dict[str, Any] = json.loads(layout.state.read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    sockets = Sockets(Path(state["sockets"]))
    if supervisor_pid(layout) and postgres.is_ready(sockets) and redis.is_ready(sockets):
        return state
    return None


def _services(state: dict[str, Any]) -> Services:
    sockets = Sockets(Path(state["sockets"]))

    def database(role: str, name: str = "legalqa") -> str:
        return f"postgresql://{role}@/{name}?host={sockets.postgres_folder}"

    return Services(
        database_url=database("legalqa_app"),
        database_owner_url=database("legalqa_owner"),
        database_superuser_url=database(postgres.SUPERUSER),
        redis_url=f"redis+socket://{sockets.redis}?virtual_host=0",
        redis_client_url=f"unix://{sockets.redis}?db=0",
        notes=tuple(state["notes"]),
    )


def _last_words(layout: Layout) -> str:
    words = layout.log.read_text(errors="replace").splitlines() if layout.log.exists() else []
    return " / ".join(words[-3:]) + f" (logs: {layout.log.parent})"


def _up() -> int:
    services = ensure_services()
    for note in services.notes:
        _say(note)
    _say(f"DATABASE_URL={services.database_url}")
    _say(f"DATABASE_OWNER_URL={services.database_owner_url}")
    _say(f"REDIS_URL={services.redis_url}")
    return 0


def _down() -> int:
    _say("Stopped." if stop_services() else "Not running.")
    return 0


def _status() -> int:
    layout = layout_from_environment()
    state = _ready_state(layout)
    if state is None:
        starting = supervisor_pid(layout) is not None
        _say("Starting or restarting." if starting else "Not running.")
        return 3
    _say(json.dumps(state, indent=2))
    return 0


def _psql(arguments: Sequence[str]) -> int:
    services = ensure_services()
    folder = services.database_url.partition("host=")[2]
    where = {"PGHOST": folder, "PGUSER": postgres.SUPERUSER, "PGDATABASE": "legalqa"}
    program = str(postgres.programs() / "psql")
    done = subprocess.run([program, *arguments], check=False, env={**os.environ, **where})  # noqa: S603 - our own program
    return done.returncode


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m legalqa.embedded", description=__doc__)
    parser.add_argument("command", choices=["up", "down", "status", "psql", "supervise"])
    parsed, rest = parser.parse_known_args(arguments)
    if rest and parsed.command != "psql":
        parser.error(f"unknown arguments: {' '.join(rest)}")
    try:
        match parsed.command:
            case "up":
                return _up()
            case "down":
                return _down()
            case "status":
                return _status()
            case "psql":
                return _psql(rest)
            case _:
                return supervisor.supervise(layout_from_environment())
    except EmbeddedServicesError as error:
        sys.stderr.write(f"{error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
