"""One reply being written, byte by byte, as the API writes it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any

JSON = dict[str, Any]

_PIECE_CHARS = 7  # small deltas, so that nothing that is parsed arrives whole


@dataclass(frozen=True, slots=True)
class Request:
    """What one client sent. Header names are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: JSON
    at: float  # monotonic seconds

    @property
    def key(self) -> str:
        """The key, from either header that the API takes."""
        bearer = self.headers.get("authorization", "").removeprefix("Bearer ")
        return self.headers.get("x-api-key", bearer)

    @property
    def system(self) -> list[JSON]:
        """The system blocks."""
        return list(self.body.get("system", []))

    @property
    def user(self) -> str:
        """The text of the last message."""
        content = self.body["messages"][-1]["content"]
        return content if isinstance(content, str) else "".join(part["text"] for part in content)


class ClientLeft(Exception):
    """The client closed its connection before the reply was complete."""


class Wire:
    """One reply being written."""

    def __init__(self, handler: BaseHTTPRequestHandler, request: Request) -> None:
        self.request = request
        self._handler = handler
        self._socket = handler.connection

    def message(self, text: str, stop_reason: str | None, usage: JSON) -> JSON:
        """A Message as the API sends it whole."""
        return {
            "id": "msg_fake",
            "type": "message",
            "role": "assistant",
            "model": self.request.body["model"],
            "content": [{"type": "text", "text": text}],
            "stop_reason": stop_reason,
            "stop_sequence": None,
            "usage": {
                "input_tokens": len(json.dumps(self.request.body)) // 4,
                "output_tokens": _tokens(text),
                **usage,
            },
        }

    def send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        """A whole reply."""
        self._handler.send_response(status)
        for name, value in headers.items():
            self._handler.send_header(name, value)
        self._handler.send_header("request-id", "req_fake")
        self._handler.send_header("content-length", str(len(body)))
        self._handler.end_headers()
        self._write(body)

    def send_json(self, status: int, body: JSON, headers: Mapping[str, str] | None = None) -> None:
        """A whole JSON reply."""
        head = {"content-type": "application/json", **(headers or {})}
        self.send(status, json.dumps(body).encode(), head)

    def open_stream(self) -> None:
        """The head of an event stream, in chunks."""
        self._handler.send_response(200)
        self._handler.send_header("content-type", "text/event-stream; charset=utf-8")
        self._handler.send_header("request-id", "req_fake")
        self._handler.send_header("transfer-encoding", "chunked")
        self._handler.end_headers()

    def raw_event(self, name: str, data: str) -> None:
        """One event, whatever its data."""
        event = f"event: {name}\ndata: {data}\n\n".encode()
        self._write(b"%x\r\n%s\r\n" % (len(event), event))

    def event(self, name: str, **fields: object) -> None:
        """One well-formed event."""
        self.raw_event(name, json.dumps({"type": name, **fields}))

    def start_message(self, usage: JSON) -> None:
        """`message_start` and a ping."""
        message = self.message("", None, usage) | {"content": []}
        message["usage"]["output_tokens"] = 1
        self.event("message_start", message=message)
        self.event("ping")

    def block(self, index: int, kind: str, text: str) -> None:
        """A thinking block in one delta."""
        start = {"type": kind, kind: "", "signature": ""}
        self.event("content_block_start", index=index, content_block=start)
        delta = {"type": f"{kind}_delta", kind: text}
        self.event("content_block_delta", index=index, delta=delta)
        signature = {"type": "signature_delta", "signature": "c2lnbmVk"}
        self.event("content_block_delta", index=index, delta=signature)
        self.event("content_block_stop", index=index)

    def text_block(
        self,
        index: int,
        text: str,
        delay_seconds: float = 0.0,
        stall_after: str | None = None,
        stall_seconds: float = 0.0,
        *,
        is_open: bool = False,
    ) -> None:
        """A text block in small deltas; long texts in large ones."""
        self.event("content_block_start", index=index, content_block={"type": "text", "text": ""})
        size = max(_PIECE_CHARS, len(text) // 200)
        stall_at = None if stall_after is None else text.index(stall_after) + len(stall_after)
        for start in range(0, len(text), size):
            piece = text[start : start + size]
            self.event(
                "content_block_delta", index=index, delta={"type": "text_delta", "text": piece}
            )
            if stall_at is not None and start + size >= stall_at:
                self.wait(stall_seconds)
                stall_at = None
            elif delay_seconds:
                self.wait(delay_seconds)
        if not is_open:
            self.event("content_block_stop", index=index)

    def end_message(self, text: str, stop_reason: str | None) -> None:
        """`message_delta`, `message_stop`, and the end of the body."""
        self.stop(text, stop_reason)
        self.event("message_stop")
        # The message was whole: leaving now is no loss.
        with contextlib.suppress(ClientLeft, BrokenPipeError, ConnectionResetError):
            self.finish()

    def stop(self, text: str, stop_reason: str | None) -> None:
        """`message_delta`: why the model stopped, and how much it wrote."""
        delta = {"stop_reason": stop_reason, "stop_sequence": None}
        self.event("message_delta", delta=delta, usage={"output_tokens": _tokens(text)})

    def finish(self) -> None:
        """The last chunk."""
        self._write(b"0\r\n\r\n")

    def cut(self, *, is_reset: bool = False) -> None:
        """Close the connection at once, whatever was promised."""
        with contextlib.suppress(OSError):
            if is_reset:
                linger = struct.pack("ii", 1, 0)
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                os.close(self._socket.detach())
            else:
                self._socket.shutdown(socket.SHUT_RDWR)
        raise ConnectionAbortedError

    def wait(self, seconds: float, ping_every_seconds: float | None = None) -> None:
        """Do nothing for a while, watching for the client to leave."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._watch(min(left, ping_every_seconds or left))
            if ping_every_seconds is not None:
                self.event("ping")

    def _watch(self, seconds: float) -> None:
        is_readable, _, _ = select.select([self._socket], [], [], seconds)
        if is_readable and not self._socket.recv(1, socket.MSG_PEEK):
            raise ClientLeft

    def _write(self, data: bytes) -> None:
        self._watch(0)
        self._handler.wfile.write(data)


def _tokens(text: str) -> int:
    return max(1, len(text) // 4)
