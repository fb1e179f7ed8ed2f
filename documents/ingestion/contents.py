"""Which lines belong to a table of contents, and so open no section."""

from __future__ import annotations

import re
from collections.abc import Sequence

from documents.ingestion.lines import Line
from documents.ingestion.numbering import Label, Scheme

_LEADERS = re.compile(
    r"\.(?: ?\.){3,}+\s*[\divx]{0,5}$|…{2,}\s*\d{0,4}$|\t\s*\d{1,4}$|_{4,}\s*\d*$"
)
_CONTENTS = re.compile(
    r"(?:table of contents|contents|index|目錄|目录|目次|inhalt|inhaltsverzeichnis|sommaire)\s*:?$",
    re.IGNORECASE,
)
_PAGE_AT_END = re.compile(r"[\s.…_]*\d{0,4}$")


def contents_lines(lines: Sequence[Line], labels: Sequence[Label | None]) -> set[int]:
    """Indexes of lines that belong to a table of contents.

    They end in dot leaders, or stand in a run of labelled lines that all come again later.
    """
    keys = [_contents_key(line, label) for line, label in zip(lines, labels, strict=True)]
    later: set[tuple[Scheme, tuple[int, ...], str]] = set()
    repeated = [False] * len(lines)
    for index in range(len(lines) - 1, -1, -1):
        key = keys[index]
        if key is not None:
            repeated[index] = key in later and lines[index].level is None
            later.add(key)
    found = {index for index, line in enumerate(lines) if _LEADERS.search(line.text[-200:])}
    for index, is_repeated in enumerate(repeated):
        neighbours = (index - 1, index + 1)
        if is_repeated and any(0 <= i < len(lines) and repeated[i] for i in neighbours):
            found.add(index)
    return found


def _contents_key(line: Line, label: Label | None) -> tuple[Scheme, tuple[int, ...], str] | None:
    if label is None:
        return None
    title = _PAGE_AT_END.sub("", line.text[label.rest_start : label.rest_start + 200])
    return label.scheme, label.value, title.casefold().strip()


def is_contents_title(text: str) -> bool:
    """Whether a line is the heading of a table of contents."""
    return _CONTENTS.match(text) is not None
