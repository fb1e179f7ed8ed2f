"""Where an item stands among the lists around it: its depth, and its whole label.

`(a)` under the heading `1.2` is `1.2(a)`, also where heading and item belong to different lists
or where the author typed the `1.2`: then the one hangs below the other by order and indent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from documents.ingestion.numbering import parse_label
from documents.ingestion.parsers.docx.numbering import Marker, join_labels

_PLAIN_COUNT = re.compile(r"\d+\Z")
_WORDED = re.compile(r"[^\W\d_]{2,}", re.ASCII)
_TYPED_CLAUSE = re.compile(r"(\d{1,3}(?:\.\d{1,3}){1,5})\.?[ \t\u00a0]+(?=\S)")
_MAX_DEPTH = 8
_MAX_OPEN = 40
_TYPED = -1  # the key of a label that the author typed


@dataclass(frozen=True, slots=True)
class _Entry:
    key: int
    level: int
    left: int | None
    depth: int
    label: str | None


class Outline:
    """The heading and the list items that are open."""

    def __init__(self) -> None:
        self._heading: str | None = None
        self._heading_key: int | None = None
        self._open: list[_Entry] = []

    def heading(self, marker: Marker | None, text: str) -> str | None:
        """Open a heading; returns its whole label, where Word computes it."""
        self._open.clear()
        if marker is not None:
            self._heading, self._heading_key = marker.full, marker.key
            return marker.full
        typed = parse_label(text)
        self._heading, self._heading_key = typed.number if typed else None, _TYPED
        return None

    def typed(self, text: str) -> None:
        """Take a paragraph whose author typed its number, as `4.3 Exceptions.`."""
        match = _TYPED_CLAUSE.match(text)
        if match is None:
            return
        label = match[1]
        while self._open and not label.startswith(f"{self._open[-1].label}."):
            self._open.pop()
        self._open.append(_Entry(_TYPED, 0, None, 0, label))

    def item(self, marker: Marker, left: int | None) -> tuple[int, str | None]:
        """Open an item; returns its depth, counted from 0, and its whole label."""
        left = marker.left if left is None else left
        self._close_before(marker, left)
        parent = self._open[-1] if self._open else None
        depth = 0 if parent is None or marker.is_own else parent.depth + (parent.key != _TYPED)
        depth, label = min(depth, _MAX_DEPTH), self._label(marker)
        del self._open[_MAX_OPEN:]
        self._open.append(_Entry(marker.key, marker.level, left, depth, label))
        return depth, label

    def depth_of_paragraph(self, left: int | None) -> int | None:
        """The depth of the item that an indented paragraph goes on with; None if with none."""
        for entry in reversed(self._open):
            if left and entry.left is not None and left >= entry.left > 0:
                return entry.depth
        return None

    def _close_before(self, marker: Marker, left: int | None) -> None:
        """Close what is at the item's level or below, and what of other lists does not hold it."""
        of_list = [index for index, entry in enumerate(self._open) if entry.key == marker.key]
        above = [index for index in of_list if self._open[index].level < marker.level]
        if of_list:
            first = above[-1] + 1 if above else of_list[0]
            is_kept = bool(above) and not marker.is_own and len(self._open) > first
            if is_kept and self._open[first].key == _TYPED:
                first += 1
            del self._open[first:]
            return
        while self._open and not _holds(self._open[-1], left):
            self._open.pop()

    def _label(self, marker: Marker) -> str | None:
        if marker.full is None:
            return None
        for entry in reversed(self._open):
            if entry.label and entry.key != marker.key:
                return below(entry.label, marker.own)
            if entry.label and marker.above is not None:
                return join_labels(entry.label, marker.own)
        if self._heading and marker.key != self._heading_key:
            return below(self._heading, marker.full)
        return marker.full


def _holds(entry: _Entry, left: int | None) -> bool:
    """Whether an item of another list, indented by `left`, hangs below an open one."""
    return entry.left is None or (left is not None and entry.left < left)


def below(above: str, label: str) -> str:
    """The label of an item of another list that hangs below `above`.

    `1` under `1.2` is `1.2(1)`; `1.1` under `1` names its section itself; `1.1` under
    `Schedule 2` is `Schedule 2 1.1`.
    """
    if label.startswith(f"{above}."):
        return label
    if _WORDED.search(above) and label[0].isalnum():
        return f"{above} {label}"
    if _PLAIN_COUNT.match(label):
        return f"{above}({label})"
    is_whole = label[0].isdigit() and "." in label
    return label if is_whole else join_labels(above, label)
