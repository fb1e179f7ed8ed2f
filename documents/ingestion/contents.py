"""Which lines belong to a table of contents, and so open no section."""

from __future__ import annotations

import re
from collections.abc import Sequence

from documents.ingestion.lines import Line
from documents.ingestion.numbering import Label, Scheme

_LEADERS = re.compile(
    r"\.(?: ?\.){3,}+\s*[\divx]{0,5}$|…{2,}\s*\d{0,4}$|\t\s*\d{1,4}$|_{4,}\s*\d*$"
    r"|[A-Za-z)’'\d]\s*(?:[-–—·](?: ?[-–—·]){3,}+)\s*[\divx]{1,5}$"
)
_CONTENTS = re.compile(
    r"(?:table of contents?(?:\s+page)?|contents?|index|目錄|目录|目次|inhalt|inhaltsverzeichnis|"
    r"sommaire)\s*:?$",
    re.IGNORECASE,
)
_LAST_NUMBER = re.compile(r"[^\W\d_][^\d]*\s(\d{1,4})$")
_MIN_RUN = 4
_MIN_SHARE = 0.6
_MAX_JUMP = 60  # pages between two entries
_MAX_FOOT_WORDS = 12  # a page's foot between two entries
_REACH = 2  # lines from an entry to the next
_PAGE_AT_END = re.compile(r"[\s.…_]*\d{0,4}$")


def contents_lines(lines: Sequence[Line], labels: Sequence[Label | None]) -> set[int]:
    """Indexes of lines that belong to a table of contents.

    They end in dot leaders, or stand in a run of labelled lines that all come again later, or
    in one that ends in page numbers and whose labels come again.
    """
    found = {index for index, line in enumerate(lines) if _LEADERS.search(line.text[-200:])}
    repeated = _come_again(
        [_contents_key(line, label) for line, label in zip(lines, labels, strict=True)], lines
    )
    for index, is_repeated in enumerate(repeated):
        neighbours = (index - 1, index + 1)
        if is_repeated and any(0 <= i < len(lines) and repeated[i] for i in neighbours):
            found.add(index)
    return _filled(found | _paged_runs(lines, labels), lines, labels)


def _filled(found: set[int], lines: Sequence[Line], labels: Sequence[Label | None]) -> set[int]:
    """With the entries in the midst of others that come again in other words."""
    between = {
        index
        for index, label in enumerate(labels)
        if label is not None
        and lines[index].level is None
        and len(lines[index].text.split()) <= _MAX_FOOT_WORDS
        and not found.isdisjoint(range(index - _REACH, index))
        and not found.isdisjoint(range(index + 1, index + _REACH + 1))
    }
    return found | between


def _come_again(keys: Sequence[object], lines: Sequence[Line]) -> list[bool]:
    later: set[object] = set()
    repeated = [False] * len(keys)
    for index in range(len(keys) - 1, -1, -1):
        if keys[index] is not None:
            repeated[index] = keys[index] in later and lines[index].level is None
            later.add(keys[index])
    return repeated


def _paged_runs(lines: Sequence[Line], labels: Sequence[Label | None]) -> set[int]:
    """Runs of short labelled lines with rising page numbers at their ends."""
    repeated = _come_again([label and (label.scheme, label.value) for label in labels], lines)
    found: set[int] = set()
    run: list[int] = []
    last_page = 0
    for index, (line, label) in enumerate(zip(lines, labels, strict=True)):
        page = _LAST_NUMBER.search(line.text[-20:])
        is_entry = label is not None and line.level is None and page is not None
        if is_entry and page is not None and last_page <= int(page[1]) <= last_page + _MAX_JUMP:
            run.append(index)
            last_page = int(page[1])
        elif label is not None or len(line.text.split()) > _MAX_FOOT_WORDS:
            found.update(_contents_run(run, repeated))
            run, last_page = [], 0
    found.update(_contents_run(run, repeated))
    return found


def _contents_run(run: Sequence[int], repeated: Sequence[bool]) -> Sequence[int]:
    again = sum(repeated[index] for index in run)
    return run if len(run) >= _MIN_RUN and again >= _MIN_SHARE * len(run) else ()


def _contents_key(line: Line, label: Label | None) -> tuple[Scheme, tuple[int, ...], str] | None:
    if label is None:
        return None
    title = _PAGE_AT_END.sub("", line.text[label.rest_start : label.rest_start + 200])
    return label.scheme, label.value, title.casefold().strip()


def is_contents_title(text: str) -> bool:
    """Whether a line is the heading of a table of contents."""
    return _CONTENTS.match(text) is not None
