"""A stand-in for Claude's HTTP API on loopback: the only fake in the test suite.

A real HTTP server in a thread that speaks `POST /v1/messages`, streamed and not, keeps what
was asked and plays whatever a test wants to see: answers, limits, cuts, stalls and junk. It
needs nothing but the standard library and knows nothing of legalqa's code, so that it cannot
share a mistake with it.

    with FakeClaude() as claude:
        claude.reply_with(overloaded(), answer({"answerable": False, …}))  # one a request
        claude.reply_by(obedient)  # after those: a function of the request's body

Without either it quotes the sentence of the prompt that is nearest to the question
(`quoting`), which is enough to try the whole path by hand:
`python -m qa.tests.fake_claude --port 8787`, then ANTHROPIC_BASE_URL=http://127.0.0.1:8787.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import select
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from xml.etree import ElementTree as ET

JSON = dict[str, Any]
Reply = Callable[["Wire"], None]

_FORBIDDEN = ("temperature", "top_p", "top_k", "tool_choice")
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


@dataclass(frozen=True, slots=True)
class PromptDocument:
    """One document as it stands in a prompt, unescaped."""

    id: str
    text: str
    attributes: Mapping[str, str] = field(default_factory=dict)


def documents_in(body: JSON) -> list[PromptDocument]:
    """The documents in the last message of a request."""
    return [
        PromptDocument(node.attrib["id"], node.text or "", dict(node.attrib))
        for node in _message(body).iter("document")
    ]


def question_in(body: JSON) -> str:
    """The question in the last message of a request."""
    return _message(body).findtext("question") or ""


def _message(body: JSON) -> ET.Element:
    content = body["messages"][-1]["content"]
    text = content if isinstance(content, str) else "".join(part["text"] for part in content)
    return ET.fromstring(f"<message>{text}</message>")  # noqa: S314 - our own prompt


# Models to reply by


def claim(text: str, *citations: tuple[str, str]) -> JSON:
    """A claim with (passage id, quote) pairs."""
    return {
        "text": text,
        "citations": [{"passage": passage, "quote": quote} for passage, quote in citations],
    }


def answered(*claims: JSON, confidence: str = "high") -> JSON:
    """A structured answer."""
    return {
        "answerable": True,
        "claims": list(claims),
        "missing": None,
        "confidence": confidence,
    }


def not_answerable(missing: str = "the point that was asked") -> JSON:
    """A structured reply that declines."""
    return {"answerable": False, "claims": [], "missing": missing, "confidence": "low"}


def quoting(body: JSON) -> JSON:
    """An honest model: quotes the sentence that shares most words with the question."""
    wanted = _words(question_in(body))
    best, best_score = None, 0
    for document in documents_in(body):
        for sentence in re.split(r"(?<=[.!?。！？；])\s*|\n+", document.text):
            score = len(wanted & _words(sentence))
            if score > best_score and sentence.strip():
                best, best_score = (document.id, sentence.strip()), score
    return answered(claim(best[1], best)) if best else not_answerable()


def _words(text: str) -> set[str]:
    words = set(re.findall(r"[a-z0-9]{4,}", text.lower()))
    ideographs = "".join(re.findall(r"[\u4e00-\u9fff]+", text))
    return words | {ideographs[i : i + 2] for i in range(len(ideographs) - 1)}


# Replies


def answer(
    structured: JSON | str,
    *,
    thinking: str | None = None,
    stop_reason: str | None = "end_turn",
    cached_tokens: int = 0,
    cache_write_tokens: int = 0,
    delay_seconds: float = 0.0,
    stall_after: str | None = None,
    stall_seconds: float = 5.0,
) -> Reply:
    """A whole message. A string is sent as it is, which need not be JSON.

    `stall_after` stops the stream once that text has been sent, for `stall_seconds` or until
    the client leaves.
    """
    text = structured if isinstance(structured, str) else json.dumps(structured)

    def play(wire: Wire) -> None:
        usage = {
            "cache_read_input_tokens": cached_tokens,
            "cache_creation_input_tokens": cache_write_tokens,
        }
        if not wire.request.body.get("stream"):
            wire.send_json(200, wire.message(text, stop_reason, usage))
            return
        wire.open_stream()
        wire.start_message(usage)
        if thinking is not None:
            wire.block(0, "thinking", thinking)
        index = 0 if thinking is None else 1
        wire.text_block(index, text, delay_seconds, stall_after, stall_seconds)
        wire.end_message(text, stop_reason)

    return play


def error(
    status: int,
    kind: str,
    *,
    message: str = "no luck",
    error_code: str | None = None,
    **headers: str,
) -> Reply:
    """An error before any stream; keywords are headers (`retry_after="1"`)."""
    body: JSON = {"type": "error", "error": {"type": kind, "message": message}}
    if error_code is not None:
        body["error"]["details"] = {"error_code": error_code}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda wire: wire.send_json(status, body, named)


def rate_limited(retry_after: float | str | None = 0.01) -> Reply:
    """429; without `retry_after` it is a spending limit."""
    headers = {} if retry_after is None else {"retry_after": str(retry_after)}
    return error(429, "rate_limit_error", **headers)


def overloaded() -> Reply:
    """529 before the stream."""
    return error(529, "overloaded_error")


def server_error(status: int = 500) -> Reply:
    """5xx before the stream."""
    return error(status, "api_error")


def unauthorised() -> Reply:
    """401: the key is wrong."""
    return error(401, "authentication_error", message="invalid x-api-key")


def error_event(
    kind: str = "overloaded_error", *, after: JSON | str = "", data: str | None = None
) -> Reply:
    """An error inside a stream that began with 200, after this much of an answer."""
    body = {"type": "error", "error": {"type": kind, "message": "no luck"}}
    return _broken(after, lambda wire: wire.raw_event("error", data or json.dumps(body)))


def hard_cut(after: JSON | str = "", *, is_reset: bool = False) -> Reply:
    """The connection breaks inside the stream: an unfinished body, or a reset."""
    return _broken(after, lambda wire: wire.cut(is_reset=is_reset))


def clean_close(after: JSON | str = "", *, stop_reason: str | None = None) -> Reply:
    """The body ends properly before `message_stop`, as a proxy may do it."""

    def end(wire: Wire) -> None:
        if stop_reason is not None:
            wire.stop(json.dumps(after), stop_reason)

    return _broken(after, end)


def broken_event(after: JSON | str = "", *, data: str = '{"type": "content_block_de') -> Reply:
    """An event whose data is not JSON, or not what its name says."""
    return _broken(after, lambda wire: wire.raw_event("content_block_delta", data))


def _broken(after: JSON | str, how: Callable[[Wire], None]) -> Reply:
    text = after if isinstance(after, str) else json.dumps(after)

    def play(wire: Wire) -> None:
        wire.open_stream()
        wire.start_message({})
        wire.text_block(0, text, is_open=True)
        how(wire)
        wire.finish()

    return play


def stall(seconds: float = 5.0, *, ping_every_seconds: float | None = None) -> Reply:
    """Says nothing (or only pings) after the head of the stream, until the client leaves."""

    def play(wire: Wire) -> None:
        wire.open_stream()
        wire.start_message({})
        wire.wait(seconds, ping_every_seconds)
        wire.finish()

    return play


def silence(seconds: float = 5.0) -> Reply:
    """Takes the request and sends nothing at all, until the client leaves."""

    def play(wire: Wire) -> None:
        wire.wait(seconds)
        wire.cut()

    return play


def raw(body: bytes, content_type: str = "text/html", status: int = 200) -> Reply:
    """Any body: a wrong content type, an empty one, junk."""
    return lambda wire: wire.send(status, body, {"content-type": content_type})


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
        with contextlib.suppress(ClientLeft):  # the message was whole: leaving now is no loss
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
        try:
            self._watch(0)
            self._handler.wfile.write(data)
        except (BrokenPipeError, ConnectionResetError) as left:
            raise ClientLeft from left


def _tokens(text: str) -> int:
    return max(1, len(text) // 4)


class FakeClaude:
    """The server. `requests` holds what was asked, `disconnects` how many clients left early."""

    def __init__(self, *, port: int = 0) -> None:
        self.requests: list[Request] = []
        self.disconnects = 0
        self._replies: deque[Reply] = deque()
        self._model: Callable[[JSON], JSON] = quoting
        self._changed = threading.Condition()
        self._server = _Server(("127.0.0.1", port), _handler_for(self))
        self._thread = threading.Thread(target=self._serve, name="fake-claude", daemon=True)

    @property
    def base_url(self) -> str:
        """What to set as ANTHROPIC_BASE_URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def bodies(self) -> list[JSON]:
        """The bodies of all requests."""
        return [request.body for request in self.requests]

    def reply_with(self, *replies: Reply | JSON) -> Self:
        """Queue replies, one a request; a dict is a structured answer."""
        self._replies.extend(reply if callable(reply) else answer(reply) for reply in replies)
        return self

    def reply_by(self, model: Callable[[JSON], JSON]) -> Self:
        """Answer by a function of the request's body once the queue is empty."""
        self._model = model
        return self

    def wait_for_disconnect(self, timeout_seconds: float = 5.0, *, count: int = 1) -> bool:
        """Whether `count` clients have left early, now or within that time."""
        with self._changed:
            return self._changed.wait_for(lambda: self.disconnects >= count, timeout_seconds)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.close_connections()
        self._server.server_close()

    def serve(self, request: Request, handler: BaseHTTPRequestHandler) -> None:
        """Play the next reply to one request."""
        wire = Wire(handler, request)
        with self._changed:
            self.requests.append(request)
            complaint = _complaint(request)
            is_queued = bool(self._replies) and complaint is None
            reply = self._replies.popleft() if is_queued else None
        try:
            if complaint is not None:
                error(complaint[0], complaint[1], message=complaint[2])(wire)
            else:
                (reply or answer(self._model(request.body)))(wire)
        except ClientLeft:
            with self._changed:
                self.disconnects += 1
                self._changed.notify_all()

    def _serve(self) -> None:
        self._server.serve_forever(poll_interval=0.02)


def _complaint(request: Request) -> tuple[int, str, str] | None:
    """What the API would refuse in a request: (status, type, message)."""
    body = request.body
    if request.path != "/v1/messages":
        return 404, "not_found_error", "no such path"
    if not request.key:
        return 401, "authentication_error", "the key is missing"
    if missing := {"model", "max_tokens", "messages"} - body.keys():
        return 400, "invalid_request_error", f"missing: {sorted(missing)}"
    if unwanted := [name for name in _FORBIDDEN if name in body]:
        return 400, "invalid_request_error", f"not allowed: {unwanted}"
    return None


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self._open: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def close_request(self, request: Any) -> None:
        self._open.discard(request)
        super().close_request(request)

    def close_connections(self) -> None:
        """End what still stalls, so that no thread outlives the test."""
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


def _handler_for(claude: FakeClaude) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", 0))
            body = json.loads(self.rfile.read(length) or b"{}")
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Request(self.path, headers, body, time.monotonic())
            self.close_connection = True
            with contextlib.suppress(ConnectionAbortedError):
                claude.serve(request, self)

        def finish(self) -> None:
            with contextlib.suppress(OSError, ValueError):
                super().finish()

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: requests are kept, not printed."""

    return Handler


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description="A stand-in for Claude's API on loopback.")
    parser.add_argument("--port", type=int, default=8787)
    options = parser.parse_args(arguments)
    with FakeClaude(port=options.port) as claude, contextlib.suppress(KeyboardInterrupt):
        print(f"ANTHROPIC_BASE_URL={claude.base_url}", flush=True)  # noqa: T201 - a command
        threading.Event().wait()


if __name__ == "__main__":
    main()
