"""The processes of legalqa: how web, worker and beat are started, and stopped together.

`run.py` starts all three on one machine; docker-compose.yml has the same command lines, a
container each, and a test compares them.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from legalqa import env
from legalqa.supervision import privileges
from legalqa.supervision.layout import ROOT, layout_from_environment
from legalqa.supervision.supervisor import rotate

STOP_SECONDS = 20.0
# Watched by name: the whole checkout holds the thousands of files of .venv.
PACKAGES = ("legalqa", "documents", "qa", "evaluation")


@dataclass(slots=True)
class Child:
    """A process of the run, and where its output goes."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path


def listening_host() -> str:
    """The address that the web process listens on: this machine alone unless told otherwise."""
    return env.text("LEGALQA_HOST", default="127.0.0.1")


def web_command(port: int, *, reload: bool = False) -> list[str]:
    """The command line of the web process."""
    options = ["--host", listening_host(), "--port", str(port), "--no-access-log", "--ws", "none"]
    # Which proxies to believe is decided in one place (LEGALQA_TRUSTED_PROXIES).
    options += ["--timeout-graceful-shutdown", "5", "--no-proxy-headers"]
    if reload:
        options += ["--reload", *(f"--reload-dir={ROOT / package}" for package in PACKAGES)]
    return [sys.executable, "-m", "uvicorn", "legalqa.asgi:application", *options]


def worker_command() -> list[str]:
    """The command line of the worker."""
    options = ["--concurrency", str(env.number("LEGALQA_WORKERS", default=1)), "--loglevel", "INFO"]
    return [sys.executable, "-m", "celery", "-A", "legalqa", "worker", *options]


def beat_command() -> list[str]:
    """The command line of the process that starts the periodic tasks."""
    pid_file = ["--pidfile", ""]  # a stale one after kill -9 would block the next start
    return [sys.executable, "-m", "celery", "-A", "legalqa", "beat", "-l", "INFO", *pid_file]


def start(name: str, command: list[str]) -> Child:
    """Start a process whose output goes to `var/log/NAME.log`; it ends when we do."""
    log = layout_from_environment().log.with_name(f"{name}.log")
    rotate(log)
    with log.open("ab") as output:
        process = subprocess.Popen(  # noqa: S603 - our own command line
            command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C comes to us alone, and we stop them in order
            preexec_fn=privileges.die_with_parent(signal.SIGTERM),
            env={**os.environ, "LEGALQA_PROCESS": name},
        )
    return Child(name, process, log)


def stop(children: Sequence[Child]) -> None:
    """Ask all to end, then end by force what has not within `STOP_SECONDS`."""
    for child in children:
        child.process.terminate()
    deadline = time.monotonic() + STOP_SECONDS
    for child in children:
        try:
            child.process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            os.killpg(child.process.pid, signal.SIGKILL)
            child.process.wait()
