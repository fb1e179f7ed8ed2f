"""Parsers as an attacker would have them, once a file has taken them over.

Each tries something and says in its text what came of it: `done` when it succeeded.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg

from documents.errors import ParseError
from documents.records import Block, BlockKind, MediaType, ParsedDocument

_PIECE = b"x" * 1_000_000
_LIBC = ctypes.CDLL(None, use_errno=True)


def _said(text: str) -> ParsedDocument:
    return ParsedDocument(MediaType.PLAIN, text, (Block(BlockKind.PARAGRAPH, 0, len(text)),))


def _attempt(act: Callable[[], Any]) -> str:
    try:
        return f"done: {act()!r}"
    except BaseException as error:  # noqa: BLE001 - the parent must hear of each
        return f"{type(error).__name__}: {error}"


def attempt(data: bytes, *, file_name: str, progress: Any) -> ParsedDocument:
    """Try what the file lists, and report in a line each what came of it."""
    names = data.decode().split("\n")
    return _said("\n".join(f"{name}: {_attempt(ATTEMPTS[name])}" for name in names))


def _connect(family: int, address: Any) -> Callable[[], Any]:
    def act() -> None:
        with socket.socket(family, socket.SOCK_STREAM) as opened:
            opened.settimeout(2)
            opened.connect(address)

    return act


def _system_call(number: int, *arguments: Any) -> Callable[[], int]:
    """A call that Python has no function for; an OSError when the kernel refuses."""

    def act() -> int:
        result = int(_LIBC.syscall(ctypes.c_long(number), *arguments))
        if result < 0:
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error))
        return result

    return act


def _thread() -> None:
    threading.Thread(target=time.sleep, args=(0,)).start()


def _raise_limits() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (-1, -1))


def _inherit_nothing() -> str:
    """The descriptors that are open besides the pipes and what goes nowhere."""
    found = []
    for number in range(4, 64):
        try:
            os.fstat(number)
        except OSError:
            continue
        found.append(number)
    if found:
        return f"done: {found}"
    raise OSError("nothing else is open")


def _read_environment() -> dict[str, str]:
    held = dict(os.environ)
    # Python itself sets the locale where there is none.
    held.pop("LC_CTYPE", None)
    if not held:
        raise OSError("the environment is empty")
    return held


def _files_here() -> list[Path]:
    found = list(Path.cwd().iterdir())
    if not found:
        raise OSError("the folder is empty")
    return found


ATTEMPTS: dict[str, Callable[[], Any]] = {
    "tcp": _connect(socket.AF_INET, ("127.0.0.1", 9)),
    "tcp6": _connect(socket.AF_INET6, ("::1", 9)),
    "unix socket": _connect(socket.AF_UNIX, "/dev/log"),
    "resolve": lambda: socket.getaddrinfo("localhost", 80),
    "socketpair": socket.socketpair,
    "read passwd": lambda: Path("/etc/passwd").read_text(),
    "read environment of parent": lambda: Path(f"/proc/{os.getppid()}/environ").read_bytes(),
    "read own maps": lambda: Path("/proc/self/maps").read_text(),
    "read settings": lambda: (Path(__file__).parents[4] / "legalqa" / "settings.py").read_text(),
    "read models": lambda: (Path(__file__).parents[3] / "models" / "policy.py").read_text(),
    "list root": lambda: os.listdir("/"),  # noqa: PTH208 - the system call itself
    "list here": _files_here,
    "write here": lambda: Path("note.txt").write_text("x"),
    "write in tmp": lambda: (Path("..") / "note.txt").write_text("x"),
    "write code": lambda: Path(__file__).write_text("x"),
    "remove": lambda: Path(__file__).unlink(),
    "rename": lambda: Path(__file__).rename(Path(__file__).with_suffix(".old")),
    "make folder": lambda: Path("folder").mkdir(),
    "link": lambda: Path("link").symlink_to("/etc/passwd"),
    "chmod": lambda: Path(__file__).chmod(0o777),
    "leave folder": lambda: os.chdir("/"),
    "exec": lambda: os.execv("/bin/true", ["true"]),  # noqa: S606 - it must fail
    "subprocess": lambda: subprocess.run(["/bin/true"], check=True),
    "fork": os.fork,
    "vfork": lambda: subprocess.Popen([sys.executable, "-c", "pass"]).pid,
    "thread": _thread,
    "kill parent": lambda: os.kill(os.getppid(), signal.SIGKILL),
    "kill all": lambda: os.kill(-1, signal.SIGTERM),
    "trace parent": lambda: _system_call(101 if "x86" in os.uname().machine else 117, 16,
                                         os.getppid(), 0, 0)(),
    "own signal to parent": lambda: _system_call(
        234 if "x86" in os.uname().machine else 131, os.getppid(), os.getppid(), 9)(),
    "io_uring": _system_call(425, 4, ctypes.create_string_buffer(256)),
    "open with openat2": _system_call(437, -100, b"/etc/passwd", b"\0" * 24, 24),
    "memory file": lambda: os.memfd_create("code"),
    "namespace": lambda: _system_call(272 if "x86" in os.uname().machine else 97, 0x10000000)(),
    "user": lambda: os.setuid(0 if os.getuid() else 1),
    "session": os.setsid,
    "limits": _raise_limits,
    "environment": _read_environment,
    "descriptors": _inherit_nothing,
}  # fmt: skip


def select_accounts(data: bytes, *, file_name: str, progress: Any) -> ParsedDocument:
    """Read who has an account, from the database that the file names."""

    def act() -> Any:
        with psycopg.connect(data.decode()) as connection:
            return connection.execute("select username from auth_user").fetchall()

    return _said(_attempt(act))


def count(data: bytes, *, file_name: str, progress: Any) -> ParsedDocument:
    """An honest one: how many bytes came, and under which name."""
    for done in range(1, 4):
        time.sleep(0.15)
        progress(done, 3)
    return _said(f"{len(data)} bytes of {file_name}")


def import_late(data: bytes, *, file_name: str, progress: Any) -> ParsedDocument:
    """An honest one that imports a module, and a codec, when it has begun."""
    import wave

    return _said(f"{wave.__name__} " + "規".encode("big5hkscs").hex())


def spin(data: bytes, *, file_name: str, progress: Any) -> ParsedDocument:
    while True:
        pass


def ignore_signals(data: bytes, *, file_name: str, progress: Any) -> ParsedDocument:
    for name in (signal.SIGXCPU, signal.SIGTERM, signal.SIGINT):
        signal.signal(name, signal.SIG_IGN)
    while True:
        pass


def sleep(data: bytes, *, file_name: str, progress: Any) -> ParsedDocument:
    time.sleep(3600)
    return _said("woken")


def swell(data: bytes, *, file_name: str, progress: Any) -> ParsedDocument:
    held = []
    while True:
        held.append(bytearray(50_000_000))


def swell_quietly(data: bytes, *, file_name: str, progress: Any) -> ParsedDocument:
    """Catches its own MemoryError, as a library may, and goes on."""
    held = []
    try:
        while True:
            held.append(bytearray(50_000_000))
    except MemoryError:
        return _said(f"{len(held) * 50} MB")


def too_much_text(data: bytes, *, file_name: str, progress: Any) -> ParsedDocument:
    return _said("x" * (3 * 1024 * 1024))


def flood(data: bytes, *, file_name: str, progress: Any) -> ParsedDocument:
    """A thousand megabytes into every descriptor that is open."""
    for _ in range(1000):
        for number in range(1, 16):
            try:
                os.write(number, _PIECE)
            except OSError:
                continue
    return _said("done")


def print_much(data: bytes, *, file_name: str, progress: Any) -> ParsedDocument:
    """What a library prints must not get between the messages."""
    sys.stdout.write("warning: " * 100_000)
    sys.stderr.write("warning: " * 100_000)
    os.write(1, b"\0\0\0\x02{}")
    return _said("printed")


def lie(data: bytes, *, file_name: str, progress: Any) -> ParsedDocument:
    """Write into the pipe what the file says, then leave."""
    os.write(3, data)
    os._exit(0)


def crash(data: bytes, *, file_name: str, progress: Any) -> ParsedDocument:
    ctypes.string_at(0)
    return _said("survived")


def abort(data: bytes, *, file_name: str, progress: Any) -> ParsedDocument:
    os.abort()


def leave(data: bytes, *, file_name: str, progress: Any) -> ParsedDocument:
    os._exit(0)


def recurse(data: bytes, *, file_name: str, progress: Any) -> ParsedDocument:
    return recurse(data, file_name=file_name, progress=progress)


def fail(data: bytes, *, file_name: str, progress: Any) -> ParsedDocument:
    raise KeyError("a secret of the file's")


def refuse(data: bytes, *, file_name: str, progress: Any) -> ParsedDocument:
    raise ParseError("Remove the password and upload it again.", code="encrypted", pages=(2, 7))


def refuse_oddly(data: bytes, *, file_name: str, progress: Any) -> ParsedDocument:
    raise ParseError("<script>\x1b[31m\n", code="encrypted")


def broken_characters(data: bytes, *, file_name: str, progress: Any) -> ParsedDocument:
    return _said("one\0two\ud800three")
