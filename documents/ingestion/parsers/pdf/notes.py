"""Footnotes: the marks in the text, and the notes at the foot of a column.

A raised mark is taken out of the running text, so that `500` with a mark is never 5001. Its note
follows as a block of its own after the paragraph that names it. What is raised but no mark stays:
ordinals (`1st`) as they are, units as `m²`, powers as `10^5`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from documents.ingestion.parsers.pdf.columns import Region
from documents.ingestion.parsers.pdf.lines import text_of
from documents.ingestion.parsers.pdf.page import Line

_MARK = re.compile(r"[\[(]?(\d{1,3}|[ivx]{1,5}|[a-z]|[*†‡§¶#]{1,3})[\])]?(?=[,;.]?$)")
_MARK_LIST = re.compile(r"\d{1,3}(?:[,–-]\d{1,3})+")
_NOTE_START = re.compile(
    r"\s*[\[(]?\s*(\d{1,3}|[*†‡§¶]{1,3}|[a-z](?=[\s)\]]))\s*[\])]?[.:]?\s*(?=\S)"
)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_SMALLER = 0.95


def plain(text: str) -> str:
    """A mark with ordinary digits."""
    return text.translate(_SUPERSCRIPTS)


def mark_of(text: str) -> str | None:
    """The mark that a raised word is, such as `1`, `*` or `a`; None for other raised words."""
    found = _MARK.match(plain(text))
    return found.group(1) if found else None


def marks_of(text: str) -> list[str]:
    """All marks of a raised word: `1,2` names two."""
    value = plain(text)
    if _MARK_LIST.fullmatch(value):
        return re.findall(r"\d+", value)
    found = mark_of(value)
    return [found] if found else []


def cited_marks(lines: Sequence[Line]) -> set[str]:
    """The marks that raised words of these lines name, but for those that begin a line."""
    return {
        mark
        for line in lines
        for index in line.raised
        if index
        for mark in marks_of(line.words[index].text)
    }


def split_notes(
    region: Region, body_size: float, cited: set[str], height: float
) -> tuple[Region, list[Line]]:
    """A region without the notes at its foot, and the lines of those notes.

    Notes are the last lines of a column, in smaller type or after a raised mark; the first
    begins with a mark that the page names.
    """
    first = _first_note(region.lines, body_size, cited, height)
    if first is None:
        return region, []
    first = _with_continuation(region.lines, first, body_size)
    return replace(region, lines=region.lines[:first]), list(region.lines[first:])


def _first_note(
    lines: Sequence[Line], body_size: float, cited: set[str], height: float
) -> int | None:
    found = None
    for index in range(len(lines) - 1, -1, -1):
        line = lines[index]
        is_small = line.table is None and line.size < _SMALLER * body_size
        may_be = is_small or _begins_raised(line, cited) or _is_note_tail(lines, index, cited)
        if not may_be:
            break
        is_marked = note_mark(line) in cited or (is_small and begins_raised(line))
        if is_marked and line.baseline > 0.3 * height:
            found = index
    return found


def _with_continuation(lines: Sequence[Line], first: int, body_size: float) -> int:
    """Where small lines that go on with the note of the column before begin."""
    begun = first
    while begun and lines[begun - 1].words and lines[begun - 1].size < _SMALLER * body_size:
        begun -= 1
    return begun if text_of(lines[begun])[:1].islower() else first


def _is_note_tail(lines: Sequence[Line], index: int, cited: set[str]) -> bool:
    """Whether a line of ordinary size goes on with a note that begins with a raised mark."""
    line = lines[index]
    if line.table is not None:
        return False
    for above in range(index - 1, max(index - 6, -1), -1):
        step = lines[above + 1].baseline - lines[above].baseline
        if lines[above].table is not None or step > 1.5 * line.size:
            return False
        if _begins_raised(lines[above], cited):
            return True
    return False


def begins_raised(line: Line) -> bool:
    """Whether a line begins with a raised mark, in brackets or not."""
    first = 1 if len(line.words) > 1 and line.words[0].text in ("(", "[") else 0
    return line.table is None and first in line.raised and bool(marks_of(line.words[first].text))


def _begins_raised(line: Line, cited: set[str]) -> bool:
    first = 1 if len(line.words) > 1 and line.words[0].text in ("(", "[") else 0
    return first in line.raised and mark_of(line.words[first].text) in cited


def note_mark(line: Line) -> str | None:
    """The mark that a note's first line begins with."""
    if not line.words:
        return None
    if 0 in line.raised:
        return mark_of(line.words[0].text)
    found = _NOTE_START.match(plain(text_of(line)))
    return found.group(1) if found else None
