"""Shutting a child in, once it has what it needs: each wall that the platform has.

All this runs in the child, before it looks at the file.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import stat
import struct
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from documents.ingestion.confined import landlock, seccomp
from documents.ingestion.confined.limits import Limits

_NOBODY = 65534
_MAX_DESCRIPTORS = 16
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38
_CAPABILITIES_VERSION = 0x20080522
_UNITS_OF_CPU_AFTER_THE_SIGNAL = 2


@dataclass(frozen=True, slots=True)
class Walls:
    """Which of the platform's walls may be used; tests leave some out."""

    landlock: bool = True
    seccomp: bool = True


def shut_in(limits: Limits, *, readable: Sequence[Path], parent: int, walls: Walls) -> None:
    """Give up everything but memory, processor time and the pipes.

    Args:
        limits: what may be used from now on.
        readable: the folders that hold the interpreter and the code.
        parent: the process that waits for the result; without it there is no use in going on.
        walls: which to use where there are any.
    """
    limit(limits)
    forbid_privileges()
    has_landlock = walls.landlock and landlock.restrict(readable)
    give_up_root(readable)
    if sys.platform == "linux":
        _prctl(_PR_SET_DUMPABLE, 0)
    end_with(parent)
    if walls.seccomp:
        # Where nothing says which files may be read, none is opened at all.
        seccomp.install(may_open=has_landlock, process_id=os.getpid())


def forbid_privileges() -> None:
    """Gain no rights from here on, by whatever program this process becomes."""
    if sys.platform == "linux":
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def end_with(parent: int) -> None:
    """End when the parent ends. After a change of user, which would forget it."""
    if sys.platform == "linux":
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def limit(limits: Limits, *, may_run: bool = False) -> None:
    """Bound processor time, memory, files and processes of this process.

    One that is to become another program (`may_run`) keeps the number of its processes: after
    a change of user the kernel would not let it.
    """
    memory = _address_space_bytes() + limits.memory_bytes
    cpu = limits.cpu_seconds
    for name, soft, hard in (
        (resource.RLIMIT_CPU, cpu, cpu + _UNITS_OF_CPU_AFTER_THE_SIGNAL),
        (resource.RLIMIT_AS, memory, memory),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_CORE, 0, 0),
        *(() if may_run else ((resource.RLIMIT_NPROC, 0, 0),)),
        (resource.RLIMIT_NOFILE, _MAX_DESCRIPTORS, _MAX_DESCRIPTORS),
    ):
        with suppress(ValueError, OSError):  # a lower one is set already, or there is none
            resource.setrlimit(name, (soft, hard))


def _address_space_bytes() -> int:
    """What the interpreter, its modules and the file take up already."""
    try:
        pages = Path("/proc/self/statm").read_text().split()[0]
    except OSError:
        return 256 * 1024 * 1024
    return int(pages) * resource.getpagesize()


def give_up_root(readable: Sequence[Path]) -> None:
    """Become nobody where code stays readable for nobody; else keep the name and no power."""
    if os.geteuid() != 0:
        return
    if all(map(_is_open_to_all, readable)):
        with suppress(OSError):  # a container may not allow it
            os.setgroups([])
            os.setgid(_NOBODY)
            os.setuid(_NOBODY)
            return
    if sys.platform == "linux":
        _give_up_capabilities()


def _is_open_to_all(path: Path) -> bool:
    """Whether anybody may pass through every folder above a file, and read it."""
    try:
        passable = all(folder.stat().st_mode & stat.S_IXOTH for folder in path.parents)
        return passable and bool(path.stat().st_mode & stat.S_IROTH)
    except OSError:
        return True  # not there: nothing to read


def _give_up_capabilities() -> None:
    header = struct.pack("=Ii", _CAPABILITIES_VERSION, 0)
    _libc().capset(header, struct.pack("=6I", 0, 0, 0, 0, 0, 0))


def _prctl(option: int, value: int) -> None:
    _libc().prctl(option, ctypes.c_ulong(value), 0, 0, 0)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
