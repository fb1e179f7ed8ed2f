"""Headings to a tree of sections that covers the whole text.

Where the format marks levels they decide; else the numbering does: `4.3` belongs to `4`,
an article to its chapter, and a count that begins anew to the annex around it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from documents.ingestion.headings import find_headings
from documents.ingestion.numbering import Scheme
from documents.ingestion.openings import Heading
from documents.records import Notice, ParsedDocument, SectionRecord

_RANKS = {
    Scheme.ANNEX: 0,
    Scheme.PART: 1,
    Scheme.HAN_PART: 1,
    Scheme.CHAPTER: 2,
    Scheme.HAN_CHAPTER: 2,
    Scheme.HAN_SUPPLEMENT: 2,
    Scheme.SECTION: 3,
    Scheme.HAN_SECTION: 3,
    Scheme.ARTICLE: 4,
    Scheme.PARAGRAPH_SIGN: 4,
    Scheme.HAN_ARTICLE: 4,
}
_ENCLOSING = frozenset({Scheme.ANNEX, Scheme.PART, Scheme.HAN_PART})


@dataclass(frozen=True, slots=True)
class _Open:
    ordinal: int
    heading: Heading

    @property
    def scheme(self) -> Scheme | None:
        return self.heading.label.scheme if self.heading.label else None

    @property
    def value(self) -> tuple[int, ...]:
        return self.heading.label.value if self.heading.label else ()

    @property
    def is_marked(self) -> bool:
        return self.heading.level is not None


def build_sections(parsed: ParsedDocument, *, fallback_title: str) -> tuple[SectionRecord, ...]:
    """Divide a document into sections, in order, without gap or overlap.

    Text before the first heading becomes a preamble: a section without number or title,
    shown as `fallback_title`. A document without headings is that one section.
    """
    headings = find_headings(parsed)
    records: list[SectionRecord] = []
    first = headings[0].start if headings else len(parsed.text)
    if not headings or parsed.text[:first].strip():
        records.append(_preamble(first, fallback_title))
    starts = [heading.start for heading in headings]
    if starts and not records:
        starts[0] = 0
    ends = [*starts[1:], len(parsed.text)][: len(starts)]
    stack: list[_Open] = []
    for heading, start, end in zip(headings, starts, ends, strict=True):
        _close(stack, heading, parsed.text)
        parent = records[stack[-1].ordinal] if stack else None
        record = _record(heading, start, end, len(records), parent, fallback_title)
        stack.append(_Open(record.ordinal, heading))
        records.append(record)
    return tuple(records)


def structure_warnings(
    parsed: ParsedDocument, sections: Sequence[SectionRecord]
) -> tuple[Notice, ...]:
    """What the owner should know about the structure that was found."""
    if parsed.text and not any(section.number or section.title for section in sections):
        message = "No headings were found: the text was divided by paragraphs."
        return (Notice("no_headings", message),)
    return ()


def _preamble(end: int, fallback_title: str) -> SectionRecord:
    return SectionRecord(
        ordinal=0,
        parent=None,
        level=1,
        number=None,
        title=None,
        display_title=fallback_title,
        path=(),
        start=0,
        body_start=0,
        end=end,
    )


def _record(
    heading: Heading,
    start: int,
    end: int,
    ordinal: int,
    parent: SectionRecord | None,
    fallback_title: str,
) -> SectionRecord:
    name = " ".join(part for part in (heading.number, heading.title) if part)
    return SectionRecord(
        ordinal=ordinal,
        parent=parent.ordinal if parent else None,
        level=parent.level + 1 if parent else 1,
        number=heading.number,
        title=heading.title,
        display_title=heading.title or (parent.display_title if parent else fallback_title),
        path=(*(parent.path if parent else ()), name),
        start=start,
        body_start=start if heading.body_start == heading.start else heading.body_start,
        end=end,
    )


def _close(stack: list[_Open], heading: Heading, text: str) -> None:
    """Close the sections that end where `heading` begins; the last one left encloses it."""
    scheme = heading.label.scheme if heading.label else None
    if heading.level is not None:
        _close_for_marked(stack, heading)
    elif scheme is None:
        _close_while(stack, lambda top: not top.is_marked and top.scheme not in _ENCLOSING)
    elif scheme is Scheme.DECIMAL:
        _close_for_decimal(stack, heading)
    elif scheme in _RANKS:
        _close_for_keyword(stack, heading, scheme, text)
    elif scheme is Scheme.LETTERED_DECIMAL:
        _close_for_lettered(stack, heading)
    else:
        _close_through(stack, scheme)


def _close_while(stack: list[_Open], test: Callable[[_Open], bool]) -> None:
    while stack and test(stack[-1]):
        stack.pop()


def _close_for_marked(stack: list[_Open], heading: Heading) -> None:
    level = heading.level or 1
    value = heading.label.value if heading.label else ()
    is_decimal = heading.label is not None and heading.label.scheme is Scheme.DECIMAL
    for index in range(len(stack) - 1, -1, -1):
        entry = stack[index]
        if is_decimal and entry.heading.level == level and _encloses(entry, value):
            del stack[index + 1 :]
            return
    _close_while(stack, lambda top: top.heading.level is None or top.heading.level >= level)


def _encloses(entry: _Open, value: tuple[int, ...]) -> bool:
    is_shorter = 0 < len(entry.value) < len(value)
    return (
        entry.scheme is Scheme.DECIMAL and is_shorter and value[: len(entry.value)] == entry.value
    )


def _close_for_decimal(stack: list[_Open], heading: Heading) -> None:
    value = heading.label.value if heading.label else ()
    if heading.restarts:
        return
    for index in range(len(stack) - 1, -1, -1):
        if _encloses(stack[index], value):
            del stack[index + 1 :]
            return
    for index, entry in enumerate(stack):
        if entry.scheme is Scheme.DECIMAL and not entry.is_marked:
            del stack[index:]
            return


def _close_through(stack: list[_Open], scheme: Scheme) -> None:
    """Close the open section of this scheme, and all inside it."""
    for index in range(len(stack) - 1, -1, -1):
        if stack[index].scheme is scheme and not stack[index].is_marked:
            del stack[index:]
            return


def _close_for_lettered(stack: list[_Open], heading: Heading) -> None:
    value = heading.label.value if heading.label else ()
    for index in range(len(stack) - 1, -1, -1):
        entry = stack[index]
        is_letter = entry.scheme in (Scheme.LETTER, Scheme.ANNEX, Scheme.LETTERED_DECIMAL)
        if is_letter and len(entry.value) < len(value) and value[: len(entry.value)] == entry.value:
            del stack[index + 1 :]
            return
    for index, entry in enumerate(stack):
        if entry.scheme is Scheme.LETTERED_DECIMAL:
            del stack[index:]
            return


def _close_for_keyword(stack: list[_Open], heading: Heading, scheme: Scheme, text: str) -> None:
    if any(entry.scheme is scheme and not entry.is_marked for entry in stack):
        _close_through(stack, scheme)
        return
    if scheme is Scheme.SECTION and stack and _is_section_of_article(stack[-1], heading, text):
        return
    rank = _RANKS[scheme]

    def is_below(top: _Open) -> bool:
        return not top.is_marked and (
            top.scheme not in _RANKS or _RANKS[top.scheme] > rank or rank == 0
            or (rank == 2 and _RANKS[top.scheme] == 2)
        )  # fmt: skip

    _close_while(stack, is_below)


def _is_section_of_article(top: _Open, heading: Heading, text: str) -> bool:
    """In some contracts sections stand inside articles, in laws it is the other way round."""
    value = heading.label.value if heading.label else ()
    if top.scheme is not Scheme.ARTICLE:
        return False
    is_numbered_after_it = len(value) > 1 and value[:1] == top.value[:1]
    return is_numbered_after_it or not text[top.heading.body_start : heading.start].strip()
