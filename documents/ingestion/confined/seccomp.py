"""A filter of system calls for a process that only computes.

It names what is allowed; every other call, today's and tomorrow's, fails with EPERM: sockets,
programs, processes, signals to others, files for writing, namespaces, tracing, keys, io_uring.
Linux on x86-64 and 64-bit ARM. See seccomp(2) and Documentation/userspace-api/seccomp_filter.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys

# Number on x86-64, number on 64-bit ARM (asm/unistd_64.h, asm-generic/unistd.h).
_ALLOWED: dict[str, tuple[int | None, int | None]] = {
    # what is open already: pipes and, where files may be opened, code of ours
    "read": (0, 63), "write": (1, 64), "readv": (19, 65), "writev": (20, 66),
    "pread64": (17, 67), "close": (3, 57), "lseek": (8, 62), "fcntl": (72, 25),
    "dup": (32, 23), "ioctl": (16, 29), "poll": (7, None), "ppoll": (271, 73),
    "select": (23, None), "pselect6": (270, 72), "fadvise64": (221, 223),
    # looking at names
    "fstat": (5, 80), "newfstatat": (262, 79), "stat": (4, None), "lstat": (6, None),
    "statx": (332, 291), "access": (21, None), "faccessat": (269, 48),
    "faccessat2": (439, 439), "readlink": (89, None), "readlinkat": (267, 78),
    "getcwd": (79, 17), "getdents64": (217, 61),
    # memory
    "mmap": (9, 222), "munmap": (11, 215), "mremap": (25, 216), "mprotect": (10, 226),
    "madvise": (28, 233), "brk": (12, 214), "mincore": (27, 232),
    # signals of its own, locks, leaving
    "futex": (202, 98), "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139), "sigaltstack": (131, 132), "exit": (60, 93),
    "exit_group": (231, 94), "restart_syscall": (219, 128), "set_robust_list": (273, 99),
    "rseq": (334, 293), "membarrier": (324, 283), "arch_prctl": (158, None),
    # time, chance and facts about itself
    "getrandom": (318, 278), "clock_gettime": (228, 113), "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115), "nanosleep": (35, 101), "gettimeofday": (96, 169),
    "time": (201, None), "times": (100, 153), "getpid": (39, 172), "gettid": (186, 178),
    "getppid": (110, 173), "getuid": (102, 174), "geteuid": (107, 175), "getgid": (104, 176),
    "getegid": (108, 177), "uname": (63, 160), "sysinfo": (99, 179), "getrusage": (98, 165),
    "getrlimit": (97, 163), "sched_yield": (24, 124), "sched_getaffinity": (204, 123),
    "getcpu": (309, 168),
}  # fmt: skip
# What the loader of another program needs besides.
_TO_RUN: dict[str, tuple[int | None, int | None]] = {
    "execve": (59, 221), "set_tid_address": (218, 96), "prlimit64": (302, 261),
}  # fmt: skip
_OPEN = (2, None)
_OPENAT = (257, 56)
_TGKILL = (234, 131)  # abort() sends itself a signal
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}

_FOR_WRITING = (
    os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND | getattr(os, "O_TMPFILE", 0)
) & ~getattr(os, "O_DIRECTORY", 0)  # O_TMPFILE holds O_DIRECTORY, which alone only reads
_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _KILL_PROCESS = 0x7FFF0000, 0x80000000
_REFUSE = 0x00050000 | errno.EPERM
_AT_NUMBER, _AT_MACHINE, _AT_ARGUMENTS = 0, 4, 16
_PR_SET_SECCOMP, _MODE_FILTER = 22, 2

Instruction = tuple[int, int, int, int]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def is_known_machine() -> bool:
    """Whether this machine has a table of calls here."""
    return sys.platform == "linux" and platform.machine() in _MACHINES and sys.maxsize > 2**32


def install(*, may_open: bool, process_id: int, may_run: bool = False) -> bool:
    """Filter the calls of this process from now on; whether it was done.

    Args:
        may_open: files may be opened for reading (where Landlock says which), else none.
        process_id: the process itself, to which alone it may send signals.
        may_run: it may become another program.
    """
    if not is_known_machine():
        return False
    machine = platform.machine()
    code = _assemble(may_open=may_open, may_run=may_run, process_id=process_id, machine=machine)
    program = _Program(len(code) // 8, code)
    libc = ctypes.CDLL(None, use_errno=True)
    return bool(libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(program), 0, 0) == 0)


def _assemble(*, may_open: bool, process_id: int, machine: str, may_run: bool = False) -> bytes:
    column, audit_machine = _MACHINES[machine]
    filter_: list[Instruction] = [
        (_LOAD, 0, 0, _AT_MACHINE),
        (_EQUAL, 1, 0, audit_machine),  # else: another table of calls, such as 32-bit ones
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_LOAD, 0, 0, _AT_NUMBER),
    ]
    if may_open:
        filter_ += _only_reading(_OPEN[column], argument=1) + _only_reading(_OPENAT[column], 2)
    filter_ += _only_to(process_id, _TGKILL[column])
    for numbers in (*_ALLOWED.values(), *(_TO_RUN.values() if may_run else ())):
        if (number := numbers[column]) is not None:
            filter_ += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ALLOW)]
    filter_.append((_RETURN, 0, 0, _REFUSE))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in filter_)


def _only_reading(number: int | None, argument: int) -> list[Instruction]:
    """Allow opening when no flag asks for more than reading."""
    if number is None:
        return []
    return [
        (_EQUAL, 0, 4, number),
        (_LOAD, 0, 0, _AT_ARGUMENTS + 8 * argument),
        (_ANY_BIT, 0, 1, _FOR_WRITING),
        (_RETURN, 0, 0, _REFUSE),
        (_RETURN, 0, 0, _ALLOW),
    ]


def _only_to(process_id: int, number: int | None) -> list[Instruction]:
    """Allow a signal to the process itself."""
    if number is None:
        return []
    return [
        (_EQUAL, 0, 4, number),
        (_LOAD, 0, 0, _AT_ARGUMENTS),
        (_EQUAL, 0, 1, process_id),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE),
    ]
