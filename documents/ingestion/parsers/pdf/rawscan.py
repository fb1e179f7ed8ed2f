"""Names of actions in the bytes of a PDF whose object graph cannot be followed.

Other readers repair files that pypdf gives up on, and would run what is in them. This looks at
the bytes themselves and into object streams, so that a broken file cannot carry a script past.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

from documents.records import ActiveContent

_NAMES = {
    "JavaScript": "javascript",
    "Launch": "launch",
    "SubmitForm": "form_submit",
    "ImportData": "form_import",
}
_OBJECT_STREAM = re.compile(rb"/ObjStm\b.{0,400}?stream\r?\n", re.DOTALL)
_MAX_STREAMS = 2_000
_MAX_STREAM = 4 * 1024 * 1024  # bytes of one inflated stream
_MAX_TOTAL = 64 * 1024 * 1024


def _spelled(name: str) -> re.Pattern[bytes]:
    """The name as a PDF may write it, any letter as `#` and two hexadecimal digits."""
    letters = (f"(?:{letter}|#{ord(letter):02x}|#{ord(letter):02X})" for letter in name)
    return re.compile(f"/{''.join(letters)}(?![A-Za-z])".encode())


_PATTERNS = {kind: _spelled(name) for name, kind in _NAMES.items()}


def scan(data: bytes) -> tuple[ActiveContent, ...]:
    """The dangerous actions that the bytes name, one of each kind."""
    parts = (data, *_object_streams(data))
    detail = "named in a damaged file"
    return tuple(
        ActiveContent(kind, detail, is_dangerous=True)
        for kind, pattern in _PATTERNS.items()
        if any(pattern.search(part) for part in parts)
    )


def _object_streams(data: bytes) -> Iterator[bytes]:
    total = 0
    for count, match in enumerate(_OBJECT_STREAM.finditer(data)):
        if count >= _MAX_STREAMS or total > _MAX_TOTAL:
            return
        inflated = _inflated(data[match.end() : match.end() + _MAX_STREAM])
        total += len(inflated)
        yield inflated


def _inflated(data: bytes) -> bytes:
    try:
        return zlib.decompressobj().decompress(data, _MAX_STREAM)
    except zlib.error:
        return b""
