"""The one process that keeps the embedded Postgres and Redis running.

It holds the supervisor's lock while it lives, starts both servers as its own children, reaps
and restarts what dies, and stops everything when it is told to or when nobody has used the
services for a while. When it is killed itself, its children stop with it and the next process
that needs the services starts another.
"""

import fcntl
import json
import os
import select
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from legalqa.supervision import postgres, privileges, redis
from legalqa.supervision.layout import EmbeddedServicesError, Layout, Sockets, make_sockets
from legalqa.supervision.server import MAX_QUICK_DEATHS, Server

GRACE_SECONDS_VARIABLE = "LEGALQA_EMBEDDED_GRACE_SECONDS"
DEFAULT_GRACE_SECONDS = 60.0
_START_SECONDS = 60.0
_TICK_SECONDS = 0.5
_LOCK_ATTEMPTS = 5
_LOG_LIMIT_BYTES = 10_000_000


@dataclass(slots=True)
class Supervisor:
    """The servers of one layout."""

    layout: Layout
    sockets: Sockets
    servers: list[Server]
    grace_seconds: float
    notes: list[str] = field(default_factory=list)
    told_to_stop: bool = False

    def run(self) -> None:
        """Start, watch until told to stop or unused, stop.

        Raises:
            EmbeddedServicesError: a server does not start, or keeps dying.
        """
        wake = self._listen_for_signals()
        try:
            self._start()
            with self.layout.users_lock.open("a") as users:
                self._watch(wake, users)
                self._stop()
        finally:
            self._stop()

    def _start(self) -> None:
        for server in self.servers:
            server.start()
        deadline = time.monotonic() + _START_SECONDS
        while not (postgres.is_ready(self.sockets) and redis.is_ready(self.sockets)):
            self._reap()
            dead = [server for server in self.servers if server.process is None]
            if dead or self.told_to_stop or time.monotonic() > deadline:
                name = dead[0] if dead else self.servers[0]
                raise EmbeddedServicesError(f"{name.name} did not start: {_tail(name.log)}")
            time.sleep(0.02)
        postgres.bootstrap(self.layout, self.sockets)
        self._write_state()
        log(f"ready; sockets in {self.sockets.folder}")

    def _watch(self, wake: int, users: IO[str]) -> None:
        last_used = time.monotonic()
        while not self.told_to_stop:
            select.select([wake], [], [], _TICK_SECONDS)
            _drain(wake)
            self._reap()
            self._restart_dead()
            if _in_use(users):
                last_used = time.monotonic()
            elif time.monotonic() - last_used >= self.grace_seconds:
                # Whoever comes from here on waits for this lock, hence for our end.
                fcntl.flock(users, fcntl.LOCK_EX)
                log(f"unused for {self.grace_seconds:g} s")
                return

    def _reap(self) -> None:
        """Collect every child that ended, orphans that the kernel gave us included."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            for server in self.servers:
                if server.process is not None and server.process.pid == pid:
                    code = os.waitstatus_to_exitcode(status)
                    server.process.returncode = code
                    log(f"{server.name} (process {pid}) ended with {code}")
                    server.note_death()

    def _restart_dead(self) -> None:
        for server in self.servers:
            if server.process is None and time.monotonic() >= server.next_start:
                if server.quick_deaths >= MAX_QUICK_DEATHS:
                    raise EmbeddedServicesError(f"{server.name} keeps dying: {_tail(server.log)}")
                server.start()
                self._write_state()
                log(f"{server.name} started again")

    def _stop(self) -> None:
        self.layout.state.unlink(missing_ok=True)
        for server in self.servers:
            server.stop()

    def _write_state(self) -> None:
        state = {
            "supervisor": os.getpid(),
            "sockets": str(self.sockets.folder),
            "servers": {
                server.name: server.process.pid for server in self.servers if server.process
            },
            "notes": self.notes,
        }
        aside = self.layout.state.with_suffix(".new")
        aside.write_text(json.dumps(state, indent=2))
        aside.replace(self.layout.state)

    def _listen_for_signals(self) -> int:
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        os.set_blocking(writing, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._note_stop)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        return reading

    def _note_stop(self, *_: object) -> None:
        self.told_to_stop = True


def supervise(layout: Layout) -> int:
    """Be the supervisor of `layout`; return 0 when it ended in order or there already is one."""
    layout.make_folders()
    with layout.supervisor_lock.open("a+") as lock:
        if not _take(lock):
            return 0
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        try:
            _prepare(layout).run()
        except EmbeddedServicesError as error:
            log(f"stopped: {error}")
            return 1
    log("stopped")
    return 0


def _prepare(layout: Layout) -> Supervisor:
    privileges.adopt_orphans()
    layout.state.unlink(missing_ok=True)
    for path in (layout.postgres_log, layout.redis_log):
        rotate(path)
    sockets = make_sockets(layout)
    user = privileges.unprivileged_user(layout.postgres_data)
    supervisor = Supervisor(
        layout,
        sockets,
        [],
        float(os.environ.get(GRACE_SECONDS_VARIABLE) or DEFAULT_GRACE_SECONDS),
    )
    supervisor.servers = [
        Server(
            "postgres",
            postgres.command(layout, sockets),
            layout.postgres_data,
            layout.postgres_log,
            signal.SIGINT,  # the fast shutdown: clients are dropped, nothing committed is lost
            user,
            lambda: supervisor.notes.extend(postgres.prepare(layout, sockets, user)),
        ),
        Server(
            "redis",
            redis.command(layout, sockets),
            layout.redis_data,
            layout.redis_log,
            signal.SIGTERM,
            None,
            lambda: sockets.redis.unlink(missing_ok=True),
        ),
    ]
    return supervisor


def _take(lock: IO[str]) -> bool:
    """Take the supervisor's lock, patient with those who look for a moment whether it is held."""
    for _attempt in range(_LOCK_ATTEMPTS):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.02)
        else:
            return True
    return False


def _in_use(users: IO[str]) -> bool:
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(users, fcntl.LOCK_UN)
    return False


def _drain(wake: int) -> None:
    try:
        while os.read(wake, 512):
            pass
    except BlockingIOError:
        return


def rotate(path: Path) -> None:
    """Set a log aside that has grown large."""
    if path.exists() and path.stat().st_size > _LOG_LIMIT_BYTES:
        path.replace(path.with_suffix(".log.1"))


def _tail(path: Path, *, lines: int = 5) -> str:
    text = path.read_text(errors="replace") if path.exists() else ""
    return " / ".join(text.splitlines()[-lines:]) or "it said nothing"


def log(message: str) -> None:
    """One line into the supervisor's log, which its standard error is."""
    now = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())
    sys.stderr.write(f"{now} supervisor[{os.getpid()}] {message}\n")
    sys.stderr.flush()
