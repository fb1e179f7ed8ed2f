"""How a parser says how far it is."""

from __future__ import annotations

from collections.abc import Callable

# Called with what is done and what there is in all, in pages or other units of the format.
Progress = Callable[[int, int], None]


def no_progress(done: int, total: int) -> None:
    """Say nothing."""
