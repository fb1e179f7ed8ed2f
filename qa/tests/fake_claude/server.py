"""The HTTP server in its thread: keeps what was asked, plays what was queued."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from qa.tests.fake_claude.models import quoting
from qa.tests.fake_claude.replies import Reply, answer, error
from qa.tests.fake_claude.wire import ClientLeft, Request, Wire

JSON = dict[str, Any]

_FORBIDDEN = ("temperature", "top_p", "top_k", "tool_choice")


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
        except (ClientLeft, BrokenPipeError, ConnectionResetError):
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
