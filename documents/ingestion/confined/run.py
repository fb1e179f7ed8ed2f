"""The parent's side: start a child for one file, feed it, listen to it, and end it.

The child has no environment, no descriptor but its pipes, an empty folder and a session of its
own. Whatever happens here, an exception or a signal turned into one, it is killed and waited
for; if this process itself is killed, the kernel kills the child.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from documents.errors import ParseError
from documents.ingestion.confined import decode, pipes, wire
from documents.ingestion.confined.child import OUT_OF_MEMORY
from documents.ingestion.confined.confine import Walls
from documents.ingestion.confined.limits import Limits, Usage
from documents.ingestion.confined.recognised import plain_values
from documents.ingestion.parsers.progress import Progress, no_progress
from documents.records import ParsedDocument, RecognisedPage

logger = logging.getLogger(__name__)

ENTRY = "documents.ingestion.parsers:parse"
_CODES = frozenset({"empty", "encrypted", "needs_ocr", "refused", "unsupported"})
_MAX_MESSAGE = 2_000  # characters of a refusal
_START = (
    "import sys; sys.path[:0] = sys.argv[1:]; "
    "from documents.ingestion.confined.child import main; main()"
)
_ROOT = Path(__file__).resolve().parents[3]
_CODE = ("documents/__init__.py", "documents/errors.py", "documents/records.py")
_HEARTBEAT_SECONDS = 2.0
_FAREWELL_SECONDS = 5.0

_REASONS = {
    "too_long": "The file took longer than {seconds} seconds to read. Split it into smaller files "
    "and upload each.",
    "too_much_memory": "Reading the file took more than {memory} MB of memory. Split it into "
    "smaller files, or save it again without its images, and upload that.",
    "too_much_text": "The file unpacks to more than {output} MB. Split it into smaller files and "
    "upload each.",
    "broken": "The file could not be read: it is damaged, or of a very unusual kind. Open it, save "
    "it again as PDF or Word (.docx), and upload that.",
}

Observe = Callable[[Usage], None]


class CannotStartError(RuntimeError):
    """The fault is not the file's: interpreter or code cannot be loaded in a child."""


def parse_confined(
    data: bytes,
    *,
    file_name: str,
    limits: Limits | None = None,
    progress: Progress = no_progress,
    observe: Observe | None = None,
    entry: str = ENTRY,
    walls: Walls | None = None,
    recognised: Sequence[RecognisedPage] = (),
) -> ParsedDocument:
    """Read a file in a child process that can do nothing but compute.

    Args:
        data: the file.
        file_name: its name, which breaks ties between kinds of text.
        limits: what the child may use.
        progress: called with what is done of what there is, and every few seconds anyway.
        observe: called with what it took, however it ended.
        entry: `module:function` of the parser, another one in tests.
        walls: which of the platform's walls to use, fewer in tests.
        recognised: what text recognition read on pages that hold no text of their own.

    Raises:
        ParseError: the file gives no usable text, or the child went over a limit or broke;
            the message says what to do.
        CannotStartError: the installation is at fault, not the file.
    """
    task = {
        "file_name": file_name.encode(errors="replace").decode(),
        "size": len(data),
        "entry": entry,
        "recognised": plain_values(recognised),
        "limits": asdict(limits or Limits()),
        "walls": asdict(walls or Walls()),
        "readable": [str(path) for path in code_folders()],
        "parent": os.getpid(),
    }
    with tempfile.TemporaryDirectory(prefix="legalqa-") as folder:
        child = _Child(_start(folder), limits or Limits(), progress)
        try:
            return child.listen(wire.pack(task), data)
        finally:
            child.end()
            if observe is not None:
                observe(child.usage)


def code_folders() -> list[Path]:
    """What the child may read: the standard library, installed packages and ingestion."""
    return [
        Path(sysconfig.get_path("stdlib")),
        *_packages(),
        _ROOT / "documents" / "ingestion",
        *(_ROOT / name for name in _CODE),
    ]


def _packages() -> list[Path]:
    found = [Path(entry) for entry in sys.path]
    return [path for path in found if path.name in ("site-packages", "dist-packages")]


def _start(folder: str) -> subprocess.Popen[bytes]:
    paths = [str(_ROOT), *map(str, _packages())]
    return subprocess.Popen(  # noqa: S603 - our own interpreter and code
        [sys.executable, "-I", "-S", "-X", "utf8", "-c", _START, *paths],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env={},
        start_new_session=True,
    )


@dataclass(slots=True)
class _Child:
    """One running child, from its start until it has been waited for."""

    process: subprocess.Popen[bytes]
    limits: Limits
    progress: Progress
    usage: Usage = field(default_factory=lambda: Usage(0.0, 0.0, 0))
    started_at: float = field(default_factory=time.monotonic)
    done: tuple[int, int] = (0, 0)
    peak_bytes: int = 0
    is_ready: bool = False
    assembler: decode.Assembler = field(default_factory=decode.Assembler)

    def listen(self, task: bytes, data: bytes) -> ParsedDocument:
        """Send the file, and take messages until the document is whole.

        Raises:
            ParseError: it never will be.
            CannotStartError: the child ended before it looked at the file.
        """
        messages = wire.Messages(self.limits.output_bytes)
        try:
            for piece in self._talk([memoryview(task), memoryview(data)]):
                for message in messages.feed(piece):
                    self._take(message)
                    if self.assembler.document is not None:
                        return self.assembler.document
                if messages.is_over:
                    raise self._refused("too_much_text")
        except wire.BadMessageError as error:
            logger.warning("A parser's result was refused: %s.", error)
            raise self._refused("broken") from error
        self.end(patience_seconds=_FAREWELL_SECONDS)
        if not self.is_ready:
            raise CannotStartError(f"The child that reads files ended: {self.process.returncode}.")
        raise self._refused(self._why_it_stopped())

    def _talk(self, outgoing: list[memoryview]) -> Iterator[bytes]:
        """What the child says while it is told; its input stays open, to say that we are here.

        Raises:
            ParseError: the time is over.
        """
        return pipes.talk(
            self.process.stdin,
            self.process.stdout,
            outgoing,
            ends_input=False,
            patience=self._patience,
            idle=self._beat,
        )

    def _beat(self) -> None:
        self.peak_bytes = max(self.peak_bytes, _peak_memory_bytes(self.process.pid))
        self.progress(*self.done)

    def _patience(self) -> float:
        """How long to wait for the child's next move."""
        left = self.started_at + self.limits.wall_seconds - time.monotonic()
        if left <= 0:
            raise self._refused("too_long")
        return min(left, _HEARTBEAT_SECONDS)

    def _take(self, message: dict[str, Any]) -> None:
        kind = message.get("kind")
        if kind == "ready":
            self.is_ready = True
        elif kind == "progress":
            self.done = _progress_of(message)
            self.progress(*self.done)
        elif kind == "refused":
            raise _refusal_of(message)
        elif kind == "failed":
            where = str(message.get("where"))[:200]
            where = where.encode("ascii", "replace").decode()
            if not self.is_ready:
                raise CannotStartError(f"The child that reads files cannot start: {where}.")
            logger.warning("A parser failed: %s.", where)
            raise self._refused("broken")
        else:
            self.assembler.accept(message)

    def _why_it_stopped(self) -> str:
        status = self.process.returncode
        if status == -signal.SIGXCPU:
            return "too_long"
        if status == -signal.SIGKILL:  # not by us: the hard limit, or the system lacks memory
            is_late = self.usage.cpu_seconds >= self.limits.cpu_seconds
            return "too_long" if is_late else "too_much_memory"
        return "too_much_memory" if status == OUT_OF_MEMORY else "broken"

    def _refused(self, reason: str) -> ParseError:
        return ParseError(
            _REASONS[reason].format(
                seconds=self.limits.cpu_seconds,
                memory=self.limits.memory_mb,
                output=self.limits.output_mb,
            ),
            code="refused",
        )

    def end(self, patience_seconds: float = 0.0) -> None:
        """Wait for the child, and after some patience kill it and all it may have started."""
        self.peak_bytes = max(self.peak_bytes, _peak_memory_bytes(self.process.pid))
        self._close(self.process.stdin)
        if self.process.returncode is None and not self._waited(patience_seconds):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            with suppress(ProcessLookupError):
                os.kill(self.process.pid, signal.SIGKILL)
            self._reap(0)
        self._close(self.process.stdout)

    def _waited(self, patience_seconds: float) -> bool:
        end = time.monotonic() + patience_seconds
        while not self._reap(os.WNOHANG):
            if time.monotonic() >= end:
                return False
            time.sleep(0.01)
        return True

    def _reap(self, options: int) -> bool:
        """Take the child's exit status and what it used; whether it has ended."""
        try:
            pid, status, used = os.wait4(self.process.pid, options)
        except ChildProcessError:  # somebody else has waited for it
            self.process.returncode = 0
            return True
        if not pid:
            return False
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.usage = Usage(
            seconds=time.monotonic() - self.started_at,
            cpu_seconds=used.ru_utime + used.ru_stime,
            peak_memory_bytes=self.peak_bytes,
        )
        return True

    @staticmethod
    def _close(stream: IO[bytes] | None) -> None:
        if stream is not None:
            with suppress(OSError):  # the child is gone
                stream.close()


def _peak_memory_bytes(process_id: int) -> int:
    """The most memory that a running process has held; 0 where the system does not tell.

    What `wait4` says is no less than what its parent held when it was started.
    """
    try:
        status = Path(f"/proc/{process_id}/status").read_text()
    except OSError:
        return 0
    peak = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    return int(peak[1]) * 1024 if peak else 0


def _progress_of(message: dict[str, Any]) -> tuple[int, int]:
    done, total = message.get("done"), message.get("total")
    if type(done) is not int or type(total) is not int or not 0 <= done <= total:
        raise wire.BadMessageError("progress that is none")
    return done, total


def _refusal_of(message: dict[str, Any]) -> ParseError:
    code, words = message.get("code"), message.get("message")
    if code not in _CODES or not isinstance(words, str) or len(words) > _MAX_MESSAGE:
        raise wire.BadMessageError("a refusal that is none")
    if not words.isprintable():
        raise wire.BadMessageError("a refusal with control characters")
    return ParseError(words, code=str(code), pages=decode.page_numbers(message.get("pages")))
