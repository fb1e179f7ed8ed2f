"""What the API may reply: answers, limits, cuts, stalls and junk. Each is a function of a Wire."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from qa.tests.fake_claude.wire import Wire

JSON = dict[str, Any]
Reply = Callable[[Wire], None]


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
