"""Running another program on some bytes: no network, no writing, no secrets, and limits.

For Tesseract, which reads images that strangers made. The program sees its own files and the
system's libraries, its input, and nothing of this process.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from documents.errors import ParseError
from documents.ingestion.confined import landlock, pipes, seccomp
from documents.ingestion.confined.confine import end_with, forbid_privileges, give_up_root, limit
from documents.ingestion.confined.limits import Limits

_ROOT = Path(__file__).resolve().parents[3]
_START = (
    "import sys; sys.path[:0] = [sys.argv[1]]; "
    "from documents.ingestion.confined.program import become; become(*sys.argv[2:])"
)
_ENVIRONMENT = {"OMP_THREAD_LIMIT": "1", "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
_SYSTEM = ("/usr", "/lib", "/lib64", "/opt", "/nix/store", "/etc/ld.so.cache", "/etc/alternatives")
_MAX_OUTPUT_BYTES = 64 * 1024 * 1024


def run_program(arguments: Sequence[str], data: bytes, *, limits: Limits | None = None) -> bytes:
    """What a program prints when `data` is its input.

    Args:
        arguments: the program's full path, and what it is told.
        data: its standard input.
        limits: processor time and memory.

    Raises:
        ParseError: it failed, took too long, or printed too much.
    """
    allowed = limits or Limits(cpu_seconds=120)
    told = json.dumps([allowed.cpu_seconds, allowed.memory_mb, os.getpid()])
    command = [sys.executable, "-I", "-S", "-X", "utf8", "-c", _START, str(_ROOT), told, *arguments]
    with subprocess.Popen(  # noqa: S603 - our own interpreter, then a program found by us
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        cwd="/", env=_ENVIRONMENT, start_new_session=True,
    ) as process:  # fmt: skip
        try:
            return _printed(process, arguments[0], data, allowed.wall_seconds)
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)


def _printed(
    process: subprocess.Popen[bytes], program: str, data: bytes, wall_seconds: float
) -> bytes:
    """What a running program prints until it ends, never holding more than is allowed."""
    end = time.monotonic() + wall_seconds

    def patience() -> float:
        if time.monotonic() >= end:
            raise _failed(program, "took too long")
        return end - time.monotonic()

    printed = bytearray()
    for piece in pipes.talk(
        process.stdin, process.stdout, [memoryview(data)], ends_input=True, patience=patience
    ):
        printed += piece
        if len(printed) > _MAX_OUTPUT_BYTES:
            raise _failed(program, "printed too much")
    try:
        status = process.wait(patience())
    except subprocess.TimeoutExpired as error:
        raise _failed(program, "took too long") from error
    if status != 0:
        raise _failed(program, "failed")
    return bytes(printed)


def _failed(program: str, what: str) -> ParseError:
    message = f"{Path(program).name} {what} on this file. Save it again, then upload it."
    return ParseError(message, code="refused")


def become(told: str, program: str, *arguments: str) -> None:
    """In the child: shut this process in, then turn it into the program."""
    cpu_seconds, memory_mb, parent = json.loads(told)
    limit(Limits(cpu_seconds=cpu_seconds, memory_mb=memory_mb), may_run=True)
    forbid_privileges()
    system = [Path(path) for path in _SYSTEM]
    own = Path(program).resolve()
    landlock.restrict([], runnable=[*system, own])
    give_up_root([own])
    end_with(parent)
    # The filter keeps it from writing and the network also where there is no Landlock.
    seccomp.install(may_open=True, process_id=os.getpid(), may_run=True)
    os.execv(program, [program, *arguments])  # noqa: S606 - that is what this process is for
