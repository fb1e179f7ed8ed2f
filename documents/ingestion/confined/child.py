"""The child: reads one file from its standard input, and says what is in it.

The parent starts it as `python -I -S`, with nothing in its environment. It imports the parser,
takes the file whole, shuts itself in, and only then looks at it. Its standard output carries
messages alone; whatever else is printed goes nowhere.
"""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Any

from documents.errors import ParseError
from documents.ingestion.confined import landlock, wire
from documents.ingestion.confined.confine import Walls, shut_in
from documents.ingestion.confined.encode import encode
from documents.ingestion.confined.limits import Limits
from documents.ingestion.confined.recognised import recognised_pages
from documents.ingestion.parsers.progress import Progress
from documents.records import ParsedDocument

OUT_OF_MEMORY = 71  # exit status
_PROGRESS_SECONDS = 0.1
_PARSERS = "documents.ingestion.parsers"
_ALL = ("pdf", "docx", "html", "markdown", "plain", "law_json")

Parse = Callable[..., ParsedDocument]
Send = Callable[[dict[str, Any]], None]


def main() -> None:
    """Serve one file and leave without looking back: no exit handlers, no flushing."""
    send = _sender()
    status = 0
    try:
        _serve(send)
    except MemoryError:
        status = OUT_OF_MEMORY
    except Exception as error:  # noqa: BLE001 - whatever a file does to a parser ends here
        send({"kind": "failed", "where": _where(error)})
    finally:
        if not status:
            os.read(0, 1)  # the parent looks at what was used, then closes the pipe
        os._exit(status)


def _serve(send: Send) -> None:
    task, data = _receive()
    parse = _load(task, data)
    send({"kind": "ready"})
    _shut_in(task)
    try:
        document = _parsed(parse, task, data, _progress(send))
    except ParseError as error:
        pages = list(error.pages)
        send({"kind": "refused", "code": error.code, "message": error.message, "pages": pages})
        return
    for message in encode(document):
        send(message)


def _parsed(parse: Parse, task: dict[str, Any], data: bytes, progress: Progress) -> ParsedDocument:
    if task["recognised"]:
        recognised = recognised_pages(task["recognised"])
        return parse(data, file_name=task["file_name"], progress=progress, recognised=recognised)
    return parse(data, file_name=task["file_name"], progress=progress)


def _receive() -> tuple[dict[str, Any], bytes]:
    """The task, one message, and after it the file.

    Raises:
        BadMessageError: the parent went away before all of it was here.
    """
    stream = FileIO(0, closefd=False)
    task = wire.unpack(_exactly(stream, int.from_bytes(_exactly(stream, 4), "big")))
    return task, _exactly(stream, task["size"])


def _exactly(stream: FileIO, size: int) -> bytes:
    data = bytearray(size)
    view = memoryview(data)
    while view:
        read = stream.readinto(view)
        if not read:
            raise wire.BadMessageError("cut short")
        view = view[read:]
    return bytes(data)


def _sender() -> Send:
    """A function that writes a message to the parent, on a descriptor that nobody else uses."""
    descriptor = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)

    def send(message: dict[str, Any]) -> None:
        remaining = memoryview(wire.pack(message))
        while remaining:
            remaining = remaining[os.write(descriptor, remaining) :]

    return send


def _load(task: dict[str, Any], data: bytes) -> Parse:
    """The parser, with every module that this file is likely to need."""
    module, name = task["entry"].split(":")
    parse: Parse = getattr(importlib.import_module(module), name)
    if module == _PARSERS:
        needed = _likely(data, task["file_name"]) if landlock.version() else _ALL
        for parser in needed:
            with suppress(ImportError):  # where it is the one that is needed, `parse` says so
                importlib.import_module(f"{_PARSERS}.{parser}")
    return parse


def _likely(data: bytes, file_name: str) -> Iterator[str]:
    """The parsers for what a file looks like; another one may still be imported later."""
    head = data[:1024].lstrip()
    if b"%PDF-" in head:
        yield "pdf"
    elif head.startswith(b"PK"):
        yield "docx"
    else:
        yield "plain"
        if b"<" in head:
            yield "html"
        if head[:1] in (b"{", b"["):
            yield "law_json"
        if b"# " in data or file_name.lower().endswith((".md", ".markdown")):
            yield "markdown"


def _shut_in(task: dict[str, Any]) -> None:
    shut_in(
        Limits(**task["limits"]),
        readable=[Path(path) for path in task["readable"]],
        parent=task["parent"],
        walls=Walls(**task["walls"]),
    )


def _where(error: Exception) -> str:
    """The kind of an error and its line in our code: nothing of the file's own words."""
    place, step = "", error.__traceback__
    while step is not None:
        name = step.tb_frame.f_code.co_filename
        place = f"{Path(name).name}:{step.tb_lineno}"
        step = step.tb_next
    return f"{type(error).__name__} at {place}"


def _progress(send: Send) -> Progress:
    said_at = 0.0

    def progress(done: int, total: int) -> None:
        nonlocal said_at
        now = time.monotonic()
        if now - said_at >= _PROGRESS_SECONDS:
            said_at = now
            send({"kind": "progress", "done": done, "total": total})

    return progress
