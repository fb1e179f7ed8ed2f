"""Headings to a tree of sections that covers the whole text.

Where the format marks levels they decide; else the numbering does: `4.3` belongs to `4`,
an article to its chapter, and a count that begins anew to the annex around it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from documents.ingestion.gaps import gap_notices
from documents.ingestion.headings import find_headings
from documents.ingestion.numbering import Label, Scheme
from documents.ingestion.openings import Heading
from documents.ingestion.paging import Paging
from documents.records import Notice, ParsedDocument, SectionRecord

# Which keyword stands above which, where the document does not show it.
_RANKS = {
    Scheme.ANNEX: 0,
    Scheme.BOOK: 1,
    Scheme.PART: 2,
    Scheme.HAN_PART: 2,
    Scheme.TITLE: 3,
    Scheme.CHAPTER: 4,
    Scheme.HAN_CHAPTER: 4,
    Scheme.HAN_SUPPLEMENT: 4,
    Scheme.DIVISION: 5,
    Scheme.SECTION: 6,
    Scheme.HAN_SECTION: 6,
    Scheme.HAN_SUBSECTION: 7,
    Scheme.HAN_ITEM: 8,
    Scheme.ARTICLE: 9,
    Scheme.PARAGRAPH_SIGN: 9,
    Scheme.HAN_ARTICLE: 9,
}
_ENCLOSING = frozenset({Scheme.ANNEX, Scheme.BOOK, Scheme.PART, Scheme.TITLE, Scheme.HAN_PART})


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
    return _with_pages(parsed, records)


def _with_pages(
    parsed: ParsedDocument, records: Sequence[SectionRecord]
) -> tuple[SectionRecord, ...]:
    paging = Paging(parsed)
    return tuple(replace(each, pages=paging.pages(each.start, each.end)) for each in records)


def structure_warnings(
    parsed: ParsedDocument, sections: Sequence[SectionRecord]
) -> tuple[Notice, ...]:
    """What the owner should know about the structure that was found."""
    if parsed.text and not any(section.number or section.title for section in sections):
        message = (
            "No headings were found: the text was divided by paragraphs. Number the clauses or "
            "mark the headings in the file to make them citable one by one."
        )
        return (Notice("no_headings", message),)
    return gap_notices(sections)


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
    label = heading.label
    scheme = label.scheme if label else None
    if heading.level is not None:
        _close_for_marked(stack, heading)
    elif label is None or scheme is None:
        _close_while(stack, lambda top: not top.is_marked and top.scheme not in _ENCLOSING)
    elif scheme is Scheme.DECIMAL:
        _close_for_decimal(stack, heading, label)
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
    label = heading.label
    for index in range(len(stack) - 1, -1, -1):
        entry = stack[index]
        if label is None or label.scheme is not Scheme.DECIMAL:
            break
        if entry.heading.level == level and _encloses(entry, label):
            del stack[index + 1 :]
            return
    _close_while(stack, lambda top: top.heading.level is None or top.heading.level >= level)


def _encloses(entry: _Open, label: Label) -> bool:
    """Whether an open number stands above another: `12` above `12.1`, but beside `12A`."""
    value = label.value
    depth = len(value) - (2 if label.number[-1].isalpha() else 1)
    if entry.scheme is not Scheme.DECIMAL or not 0 < len(entry.value) <= depth:
        return False
    return value[: len(entry.value)] == entry.value


def _close_for_decimal(stack: list[_Open], heading: Heading, label: Label) -> None:
    if heading.restarts:
        return
    for index in range(len(stack) - 1, -1, -1):
        if _encloses(stack[index], label):
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
    if scheme is Scheme.SECTION and stack and _is_numbered_after(stack[-1], heading):
        return
    rank = _RANKS[scheme]
    while stack and not stack[-1].is_marked and not _holds(stack[-1], rank):
        top = stack[-1]
        is_empty = not text[top.heading.body_start : heading.start].strip()
        if rank and is_empty and top.scheme in _RANKS:
            return  # right below a heading without words: inside it, whatever the usual order
        stack.pop()


def _holds(top: _Open, rank: int) -> bool:
    return top.scheme is not None and _RANKS.get(top.scheme, rank) < rank


def _is_numbered_after(top: _Open, heading: Heading) -> bool:
    """`Section 5.01` after `Article V`: in contracts sections stand inside articles."""
    value = heading.label.value if heading.label else ()
    is_inside = len(value) > 1 and value[:1] == top.value[:1]
    return top.scheme is Scheme.ARTICLE and is_inside
