"""Health checks of the containers: `python -m legalqa.probe web` or `beat`.

A worker is asked by Celery's own `inspect ping`. Exit status 0 means healthy.
"""

import http.client
import os
import sys
import time
from pathlib import Path

from legalqa.supervision.layout import layout_from_environment

DEFAULT_PORT = 8000
_TIMEOUT_SECONDS = 5.0
# Beat writes its schedule every three minutes.
_BEAT_SILENCE_SECONDS = 600.0


def web_answers(port: int, *, timeout_seconds: float = _TIMEOUT_SECONDS) -> bool:
    """Whether the web process answers on this port without an error of its own.

    A redirect or a refused host name counts: the process that said so is well.
    """
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout_seconds)
    try:
        connection.request("GET", "/")
        return connection.getresponse().status < 500
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def beat_is_alive(folder: Path) -> bool:
    """Whether beat wrote its schedule in `folder` lately."""
    written = [path.stat().st_mtime for path in folder.glob("celerybeat-schedule*")]
    return bool(written) and time.time() - max(written) < _BEAT_SILENCE_SECONDS


def main(arguments: list[str]) -> int:
    """Check the named process; returns the exit status."""
    match arguments:
        case ["web"]:
            healthy = web_answers(int(os.environ.get("PORT") or DEFAULT_PORT))
        case ["beat"]:
            healthy = beat_is_alive(layout_from_environment().var)
        case _:
            sys.stderr.write("usage: python -m legalqa.probe web|beat\n")
            return 2
    return 0 if healthy else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
