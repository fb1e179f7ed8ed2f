"""Landlock: which files a process may still read, for the rest of its life. Linux 5.13 or later.

Everything that the running kernel can handle is forbidden: writing, making, removing, running,
TCP, signals to and sockets of processes outside. Only reading below some folders is allowed
again. See landlock(7).
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every machine
_ASK_VERSION = 1
_RULE_PATH_BENEATH = 1
_EXECUTE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 2, 1 << 3
# How many kinds of access to files each version of the interface knows.
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
_FILE_RIGHTS_NOW = 16
_FIRST_WITH_NETWORK, _FIRST_WITH_SCOPES = 4, 6
_BIND_AND_CONNECT = 0b11
_SIGNALS_AND_SOCKETS = 0b11


def version() -> int:
    """The version of the kernel's interface; 0: it has none, or it is switched off."""
    if sys.platform != "linux":
        return 0
    return max(0, _syscall(_CREATE_RULESET, None, 0, _ASK_VERSION))


def restrict(readable: Iterable[Path], *, runnable: Iterable[Path] = ()) -> bool:
    """Let this process read below `readable` and touch nothing else; whether it was done.

    What lies below `runnable` may be read and run as well. Needs `no_new_privs`.
    """
    now = version()
    if not now:
        return False
    attributes = _attributes(now)
    ruleset = _syscall(_CREATE_RULESET, attributes, len(attributes), 0)
    if ruleset < 0:
        return False
    try:
        for path, may_run in (*((p, False) for p in readable), *((p, True) for p in runnable)):
            with suppress(OSError):  # what is not there need not be readable
                _allow(ruleset, path, may_run=may_run)
        return _syscall(_RESTRICT_SELF, ruleset, 0) == 0
    finally:
        os.close(ruleset)


def _attributes(now: int) -> bytes:
    files = (1 << _FILE_RIGHTS.get(now, _FILE_RIGHTS_NOW)) - 1
    attributes = struct.pack("=Q", files)
    if now >= _FIRST_WITH_NETWORK:
        attributes += struct.pack("=Q", _BIND_AND_CONNECT)
    if now >= _FIRST_WITH_SCOPES:
        attributes += struct.pack("=Q", _SIGNALS_AND_SOCKETS)
    return attributes


def _allow(ruleset: int, path: Path, *, may_run: bool) -> None:
    rights = _READ_FILE | _READ_DIR if path.is_dir() else _READ_FILE
    rights |= _EXECUTE if may_run else 0
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = struct.pack("=Qi", rights, descriptor)
        _syscall(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, rule, 0)
    finally:
        os.close(descriptor)


def _syscall(number: int, *arguments: int | bytes | None) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    given = [ctypes.c_long(x) if isinstance(x, int) else x for x in arguments]
    return int(libc.syscall(ctypes.c_long(number), *given))
