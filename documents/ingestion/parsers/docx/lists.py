"""Where an item stands among the lists around it: its depth, and its whole label.

`(a)` under the heading `1.2` is `1.2(a)`, also where heading and item belong to different lists:
then the one hangs below the other by order and indent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from documents.ingestion.parsers.docx.numbering import Marker, join_labels

_PLAIN_COUNT = re.compile(r"\d+\Z")
_WORDED = re.compile(r"[^\W\d_]{2,}", re.ASCII)


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

    def heading(self, marker: Marker | None) -> str | None:
        """Open a heading; returns its whole label."""
        self._open.clear()
        self._heading = marker.full if marker else None
        self._heading_key = marker.key if marker else None
        return self._heading

    def item(self, marker: Marker, left: int | None) -> tuple[int, str | None]:
        """Open an item; returns its depth, counted from 0, and its whole label."""
        left = marker.left if left is None else left
        self._close_before(marker, left)
        parent = self._open[-1] if self._open else None
        depth = 0 if marker.is_own or parent is None else parent.depth + 1
        label = self._label(marker)
        self._open.append(_Entry(marker.key, marker.level, left, depth, label))
        return depth, label

    def depth_of_paragraph(self, left: int | None) -> int | None:
        """The depth of the item that an indented paragraph goes on with; None if with none."""
        for entry in reversed(self._open):
            if left and entry.left is not None and left >= entry.left > 0:
                return entry.depth
        return None

    def _close_before(self, marker: Marker, left: int | None) -> None:
        keys = [entry.key for entry in self._open]
        if marker.key in keys:
            while self._open and (
                self._open[-1].key != marker.key or self._open[-1].level >= marker.level
            ):
                if marker.key not in [entry.key for entry in self._open]:
                    break
                self._open.pop()
            return
        while self._open and (left is None or (self._open[-1].left or 0) >= left):
            self._open.pop()

    def _label(self, marker: Marker) -> str | None:
        if marker.full is None:
            return None
        for entry in reversed(self._open):
            if entry.key != marker.key and entry.label:
                return below(entry.label, marker.full)
        if self._heading and marker.key != self._heading_key:
            return below(self._heading, marker.full)
        return marker.full


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
