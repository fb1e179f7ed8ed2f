"""One server under supervision: start, restart, stop, and clearing what an earlier one left."""

import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

from legalqa.supervision import privileges

MAX_QUICK_DEATHS = 6
_STOP_SECONDS = 20.0
_STEADY_SECONDS = 10.0
_SERVER_NAMES = ("postgres", "redis-server")


@dataclass(slots=True)
class Server:
    """One server under supervision, and what it takes to start and stop it."""

    name: str
    command: list[str]
    data: Path
    log: Path
    stop_signal: signal.Signals
    user: privileges.RunAs | None
    before_start: Callable[[], object]
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    quick_deaths: int = 0
    next_start: float = 0.0

    def start(self) -> None:
        """Stop what an earlier supervisor left on this data, then start."""
        stop_leftovers(self.data)
        self.before_start()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(  # noqa: S603 - our own command line
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd="/",
                start_new_session=True,
                preexec_fn=privileges.die_with_parent(self.stop_signal),
                user=self.user.uid if self.user else None,
                group=self.user.gid if self.user else None,
                extra_groups=[] if self.user else None,
            )
        self.started = time.monotonic()

    def note_death(self) -> None:
        """Plan the restart: at once, or later the more often it died young."""
        young = time.monotonic() - self.started < _STEADY_SECONDS
        self.quick_deaths = self.quick_deaths + 1 if young else 0
        wait = 0.0 if self.quick_deaths < 2 else min(2.0 ** (self.quick_deaths - 2), 15.0)
        self.next_start = time.monotonic() + wait
        self.process = None

    def stop(self) -> None:
        """Stop it in order, by force when that takes too long."""
        if self.process is None:
            return
        self.process.send_signal(self.stop_signal)
        try:
            self.process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None
        stop_leftovers(self.data)


def stop_leftovers(data: Path) -> None:
    """Stop the servers that still run in `data` though their supervisor or postmaster died.

    Only the holder of the supervisor's lock may call this: nobody else owns such a process.
    """
    found = [process for process in psutil.process_iter(["name"]) if _serves(process, data)]
    for process in found:
        _signal(process, signal.SIGINT if process.info["name"] == "postgres" else signal.SIGTERM)
    _, alive = psutil.wait_procs(found, timeout=5)
    for process in alive:
        _signal(process, signal.SIGKILL)
    psutil.wait_procs(alive, timeout=5)


def _serves(process: psutil.Process, data: Path) -> bool:
    try:
        return process.info["name"] in _SERVER_NAMES and Path(process.cwd()) == data
    except psutil.Error:
        return False


def _signal(process: psutil.Process, number: signal.Signals) -> None:
    try:
        process.send_signal(number)
    except psutil.NoSuchProcess:
        return
