"""A line that opens a section, as a heading: its title, and where its clause begins."""

from __future__ import annotations

from dataclasses import dataclass

from documents.ingestion import titles
from documents.ingestion.numbering import Label, Scheme
from documents.ingestion.surroundings import Form, Surroundings

_MIN_CLAUSE_WORDS = 5


@dataclass(frozen=True, slots=True)
class Heading:
    """A line that opens a section; `text[start:body_start]` is the heading itself.

    `restarts` says that its number begins a new count inside what encloses it.
    """

    start: int
    body_start: int
    label: Label | None
    title: str | None
    level: int | None = None
    restarts: bool = False

    @property
    def number(self) -> str | None:
        """The number as printed, without a closing mark."""
        return self.label.number if self.label else None


def open_numbered(around: Surroundings, index: int, label: Label, *, restarts: bool) -> Heading:
    """The heading that the labelled line at `index` is.

    A line that reads like a title is all heading; a label on a line of its own takes the next
    line as its title where that reads like one; else the line is a clause, perhaps with a title
    run in before its words.
    """
    line = around.lines[index]
    rest = line.text[label.rest_start :].strip()
    form = around.form(index, rest)
    if line.lead:
        title = titles.tidy_title(line.text[: line.lead])
        body_start = line.start + label.rest_start
        return Heading(line.start, body_start, label, title, restarts=restarts)
    if form is Form.ALONE:
        return _open_alone(around, index, label, restarts)
    if form is Form.TITLE:
        if _is_childless_clause(around, index, label, rest):
            return Heading(line.start, line.start, label, None, restarts=restarts)
        return Heading(line.start, line.end, label, titles.tidy_title(rest), restarts=restarts)
    run_in = titles.run_in_title(rest)
    if run_in is None and label.delimiter and (line.is_inline or len(rest) > titles.WRAP):
        run_in = titles.unmarked_run_in_title(rest)
    if run_in is None or run_in[1] >= len(rest):
        return Heading(line.start, line.start, label, None, restarts=restarts)
    body_start = line.start + line.text.index(rest, label.rest_start) + run_in[1]
    return Heading(line.start, body_start, label, run_in[0], restarts=restarts)


def _open_alone(around: Surroundings, index: int, label: Label, restarts: bool) -> Heading:
    line, following = around.lines[index], index + 1
    if not reads_as_title(around, following) or around.lines[following].kind is not line.kind:
        return Heading(line.start, line.end, label, None, restarts=restarts)
    around.skip = following
    title = around.lines[following]
    tidy = titles.tidy_title(title.text)
    return Heading(line.start, title.end, label, tidy, restarts=restarts)


def reads_as_title(around: Surroundings, index: int) -> bool:
    """Whether the line at `index` can be the title of a label on the line before."""
    if index + 1 >= len(around.lines) or around.labels[index] is not None:
        return False
    line = around.lines[index]
    following = None if line.is_before_blank else around.text(index + 1)
    return titles.is_title(line.text, following)


def _is_childless_clause(around: Surroundings, index: int, label: Label, rest: str) -> bool:
    """A line with neither text nor deeper numbers below it is the clause itself.

    Short ones and ones in title case stay titles.
    """
    following = around.label(index + 1)
    if index + 1 < len(around.lines):
        if following is None or around.lines[index + 1].level is not None:
            return False
        if following.scheme is not label.scheme or len(following.value) > len(label.value):
            return False
    if label.scheme is Scheme.HAN_ARTICLE:
        return True
    return len(rest.split()) >= _MIN_CLAUSE_WORDS and not titles.is_title_case(rest)
