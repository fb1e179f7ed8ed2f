"""Writing to a process and reading from it at once, so that neither waits for the other."""

from __future__ import annotations

import os
import selectors
from collections.abc import Callable, Iterator
from typing import IO

_PIECE = 1024 * 1024


def talk(
    stdin: IO[bytes] | None,
    stdout: IO[bytes] | None,
    outgoing: list[memoryview],
    *,
    ends_input: bool,
    patience: Callable[[], float],
    idle: Callable[[], None] = lambda: None,
) -> Iterator[bytes]:
    """Write what goes out while reading what comes in, until the process closes its end.

    Args:
        stdin: where the process reads.
        stdout: where it writes.
        outgoing: what it is to read.
        ends_input: whether `stdin` is closed once all is written.
        patience: how many seconds to wait for its next move; it may raise to give up.
        idle: called when it has made none for so long.

    Yields:
        What it writes, in pieces of at most a megabyte.
    """
    inlet, outlet = _descriptor(stdin), _descriptor(stdout)
    with selectors.DefaultSelector() as selector:
        selector.register(inlet, selectors.EVENT_WRITE)
        selector.register(outlet, selectors.EVENT_READ)
        while True:
            ready = {key.fd for key, _ in selector.select(patience())}
            if not ready:
                idle()
            if inlet in ready and not _write(inlet, outgoing):
                selector.unregister(inlet)
                if ends_input and stdin is not None:
                    stdin.close()
            if outlet in ready:
                piece = os.read(outlet, _PIECE)
                if not piece:
                    return
                yield piece


def _descriptor(stream: IO[bytes] | None) -> int:
    if stream is None:
        raise ValueError("the process was started without pipes")
    os.set_blocking(stream.fileno(), False)
    return stream.fileno()


def _write(descriptor: int, outgoing: list[memoryview]) -> bool:
    """Write some of what goes out; False when there is nothing left, or nobody to read it."""
    while outgoing and not outgoing[0]:
        outgoing.pop(0)
    if not outgoing:
        return False
    try:
        outgoing[0] = outgoing[0][os.write(descriptor, outgoing[0][:_PIECE]) :]
    except BlockingIOError:
        return True
    except OSError:  # the process has seen enough, or is gone: what it says decides
        return False
    return True
