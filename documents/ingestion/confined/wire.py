"""The messages between parent and child: four bytes of length, then JSON in UTF-8.

Nothing is unpickled: what comes back is plain values, which `decode` checks one by one.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any, NoReturn

_LENGTH = struct.Struct(">I")


class BadMessageError(Exception):
    """The child said something that no honest child says."""


def pack(message: dict[str, Any]) -> bytes:
    """One message, ready to be written."""
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
    return _LENGTH.pack(len(body)) + body


class Messages:
    """Takes bytes as they come, and gives the messages that are whole."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._buffer = bytearray()
        self.total_bytes = 0

    @property
    def is_over(self) -> bool:
        """Whether more came, or is announced, than is allowed."""
        announced = 0
        if len(self._buffer) >= _LENGTH.size:
            announced = _LENGTH.unpack_from(self._buffer)[0]
        return max(self.total_bytes, announced) > self._max_bytes

    def feed(self, data: bytes) -> Iterator[dict[str, Any]]:
        """Take some bytes; yields each message that they complete.

        Raises:
            BadMessageError: one is not a JSON object.
        """
        self.total_bytes += len(data)
        self._buffer += data
        while not self.is_over and (body := self._next()) is not None:
            yield unpack(body)

    def _next(self) -> bytes | None:
        if len(self._buffer) < _LENGTH.size:
            return None
        end = _LENGTH.size + int(_LENGTH.unpack_from(self._buffer)[0])
        if len(self._buffer) < end:
            return None
        body = bytes(memoryview(self._buffer)[_LENGTH.size : end])
        del self._buffer[:end]
        return body


def unpack(body: bytes) -> dict[str, Any]:
    """The message in `body`.

    Raises:
        BadMessageError: it is not a JSON object, or holds a number that is none.
    """
    try:
        message = json.loads(body.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise BadMessageError("not JSON") from error
    if not isinstance(message, dict):
        raise BadMessageError("not an object")
    return message


def _refuse(name: str) -> NoReturn:
    raise BadMessageError(f"{name} is not a number")
