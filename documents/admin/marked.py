"""A text cut into pieces for a reviewer: what a rule matched, and what the eye cannot see.

Pure: the template draws the pieces. Nothing is left out, and the pieces are escaped there.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

_ALSO_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u3164\uffa0")
_INVISIBLE_CATEGORIES = frozenset({"Cf", "Cc", "Co", "Cn", "Cs", "Zl", "Zp"})


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a text; `name` says what an invisible character is, `count` how often."""

    text: str
    is_marked: bool
    name: str = ""
    count: int = 1


def pieces(text: str, spans: Iterable[tuple[int, int]] = ()) -> list[Piece]:
    """Cut a text at the ends of `spans` and at invisible characters.

    Args:
        text: the passage.
        spans: half-open stretches of it that a rule matched; parts outside are ignored.

    Returns:
        Pieces in order. Those of visible text, put together, are the text without its
        invisible characters; a run of one invisible character is one piece.
    """
    marked = bytearray(len(text))
    for start, end in spans:
        first, last = max(0, start), min(len(text), end)
        if first < last:
            marked[first:last] = b"\x01" * (last - first)
    keyed = ((character, bool(marked[i]), _name(character)) for i, character in enumerate(text))
    return list(_joined(keyed))


def _joined(keyed: Iterator[tuple[str, bool, str]]) -> Iterator[Piece]:
    for (is_marked, name), run in groupby(keyed, key=lambda item: item[1:]):
        characters = "".join(character for character, _, _ in run)
        if name:
            yield Piece("", is_marked, name, len(characters))
        else:
            yield Piece(characters, is_marked)


def _name(character: str) -> str:
    """`U+200B ZERO WIDTH SPACE` for what the eye cannot see; empty for all else."""
    if character in "\n\t" or not _is_invisible(character):
        return ""
    return f"U+{ord(character):04X} {unicodedata.name(character, '')}".strip()


def _is_invisible(character: str) -> bool:
    code = ord(character)
    return (
        unicodedata.category(character) in _INVISIBLE_CATEGORIES
        or character in _ALSO_INVISIBLE
        or 0xFE00 <= code <= 0xFE0F
        or 0xE0100 <= code <= 0xE01EF
    )
