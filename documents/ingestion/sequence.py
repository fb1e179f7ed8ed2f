"""How one number follows another."""

from __future__ import annotations

from enum import Enum, auto

from documents.ingestion.numbering import INSERTED

MAX_GAP = 5
MAX_DEEP_GAP = 30


class Fit(Enum):
    """How a number follows the numbering that runs."""

    FIRST = auto()
    NEXT = auto()
    AHEAD = auto()  # some numbers were left out
    FAR = auto()  # under a parent that does not exist
    RESTART = auto()
    BACK = auto()


def follow(last: tuple[int, ...], value: tuple[int, ...]) -> Fit:
    """How `value` follows `last` in a decimal numbering."""
    depth = len(value)
    if value[:-1] == last[: depth - 1]:
        before = last[depth - 1] if depth <= len(last) else 0
        if value[-1] > INSERTED:
            before = max(before, INSERTED)  # `2A` follows `2` and all that is inside it
        step = value[-1] - before
        if step == 1:
            return Fit.NEXT
        limit = MAX_GAP if depth == 1 else MAX_DEEP_GAP
        return Fit.AHEAD if 1 < step <= limit else (Fit.BACK if step < 1 else Fit.FAR)
    if value < last:
        return Fit.BACK
    shared = last[: depth - 1]
    opens_parent = value[-1] in (1, INSERTED + 1) and follow(last, value[:-1]) is Fit.NEXT
    return Fit.NEXT if opens_parent and shared else Fit.FAR
