"""Policies and sections as a page shows them, put together from what its reader may read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from uuid import UUID

from documents import access
from documents.access import ReadableSection, Reader, Reading
from qa.pages import marking, originals
from qa.pages.originals import ShownPage
from qa.pages.shown import Piece, days
from qa.records import Passage
from qa.retrieval.search import joined
from qa.retrieval.sections import SectionText, located

MOST_IMAGES = 2  # of cited pages on one page


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of a section without gaps; `is_after_gap`: something before it is left out."""

    pieces: tuple[Piece, ...]
    is_after_gap: bool


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of the page; `url` leads to the section's own page, empty for a mere parent."""

    level: int
    text: str
    anchor: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class ShownSection:
    """One section below its headings: those of parents come with their first readable child.

    `pages` are those of the file on which the readable text stands; `source_url` leads to the
    official text of an article.
    """

    anchor: str
    name: str
    path: tuple[str, ...]
    headings: tuple[Heading, ...]
    blocks: tuple[Block, ...]
    url: str
    pages: tuple[int, ...] = ()
    source_url: str = ""


@dataclass(frozen=True, slots=True)
class ShownVersion:
    """The version of a policy that a page shows; `file_url` where its reader may have the file."""

    title: str
    slug: str
    url: str
    number: int
    days: str
    contact: str
    language: str
    is_in_force: bool
    has_pending_review: bool
    file_url: str


@dataclass(frozen=True, slots=True)
class PolicyPage:
    """A version with its readable sections."""

    version: ShownVersion
    sections: tuple[ShownSection, ...]


@dataclass(frozen=True, slots=True)
class SectionPage:
    """One section between its neighbours; `is_marked` when the cited words were found in it.

    `cited_pages` are images of the file with those words marked, `pages` leads to the others.
    """

    version: ShownVersion
    section: ShownSection
    before: ShownSection | None
    after: ShownSection | None
    is_marked: bool
    cited_pages: tuple[ShownPage, ...]
    pages: tuple[ShownPage, ...]


def policy_page(reader: Reader, slug: str, as_of: date | None) -> PolicyPage | None:
    """A policy on a day, or None when there is nothing that this reader may read.

    Raises:
        ValidationProblem: a future date without the right to read ahead.
    """
    with access.reading_as(reader, as_of) as reading:
        sections = access.readable_sections(reading, slug)
        sections = access.with_references(reading, sections)
    if not sections:
        return None
    taken: set[str] = set()
    shown = tuple(
        _shown(section, headings, taken=taken)
        for section, headings in zip(sections, headings_of(sections), strict=True)
    )
    return PolicyPage(_version(sections[0], reading), shown)


def section_page(
    reader: Reader, public_id: UUID, as_of: date | None, span: tuple[int, int] | None
) -> SectionPage | None:
    """A section on a day, or None when it is missing or may not be read: both look alike.

    Raises:
        ValidationProblem: a future date without the right to read ahead.
    """
    with access.reading_as(reader, as_of) as reading:
        section = access.readable_section(reading, public_id)
        if section is None:
            return None
        section = access.with_references(reading, [section])[0]
        near = access.readable_sections(reading, section.policy_slug)
    at = [other.public_id for other in near].index(section.public_id)
    shown = _shown(section, span=span)
    images = originals.pages_of(reader, section, reading.as_of, span)
    cited = tuple(page for page in images if page.boxes)[:MOST_IMAGES]
    return SectionPage(
        version=_version(section, reading),
        section=shown,
        before=_shown(near[at - 1]) if at else None,
        after=_shown(near[at + 1]) if at + 1 < len(near) else None,
        is_marked=any(piece.quotes for block in shown.blocks for piece in block.pieces),
        cited_pages=cited,
        pages=tuple(page for page in images if page not in cited),
    )


def _version(section: ReadableSection, reading: Reading) -> ShownVersion:
    waiting = access.policies_awaiting_review(reading, [section.policy_slug])
    last = section.effective_to
    return ShownVersion(
        title=section.policy_title,
        slug=section.policy_slug,
        url=f"/policies/{section.policy_slug}/?as_of={section.effective_from.isoformat()}",
        number=section.version_number,
        days=days(section.effective_from, last),
        contact=section.contact,
        language=section.language,
        is_in_force=section.effective_from <= reading.today
        and (last is None or reading.today <= last),
        has_pending_review=bool(waiting),
        file_url=originals.file_url(reading, section),
    )


def headings_of(sections: Sequence[ReadableSection]) -> list[tuple[Heading, ...]]:
    """The headings above each section: its own and those of parents not yet shown.

    A parent without text of its own is no readable section; its title stands in the paths of
    its children. Levels begin at 2 and never skip one.
    """
    root = _root(sections)
    shown: tuple[str, ...] = ()
    all_headings = []
    for section in sections:
        path = section.path[root:]
        is_titled = bool(path) and not _is_clause(section)
        titles = path if is_titled else path[:-1]
        same = _shared(shown, path[:-1])
        all_headings.append(
            tuple(
                Heading(
                    level=min(depth + 2, 6),
                    text=titles[depth],
                    anchor=f"{_anchor(section)}-{depth}",
                    url=_url(section) if depth == len(path) - 1 else "",
                )
                for depth in range(same, len(titles))
            )
        )
        shown = path
    return all_headings


def _root(sections: Sequence[ReadableSection]) -> int:
    """1 when all paths begin with the document's own title, which the page shows already."""
    firsts = {section.path[:1] for section in sections}
    return int(len(firsts) == 1 and any(len(section.path) > 1 for section in sections))


def _shared(path: tuple[str, ...], other: tuple[str, ...]) -> int:
    """How many leading entries two paths share."""
    pairs = zip(path, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(path), len(other)))


def _is_clause(section: ReadableSection) -> bool:
    """Whether the text itself begins with the section's number, so that it needs no heading."""
    return bool(section.number) and section.chunks[0].text.startswith(section.number or "")


def _anchor(section: ReadableSection) -> str:
    return f"s{section.ordinal}"


def _url(section: ReadableSection) -> str:
    return f"/sections/{section.public_id}/?as_of={section.effective_from.isoformat()}"


def _shown(
    section: ReadableSection,
    headings: tuple[Heading, ...] = (),
    *,
    span: tuple[int, int] | None = None,
    taken: set[str] | None = None,
) -> ShownSection:
    text, parts, _ = joined(section.chunks)
    found = SectionText(section, text, parts, located(parts, span))
    marks = marking.marks_of(found, taken=taken if taken is not None else set())
    return ShownSection(
        anchor=_anchor(section),
        name=section.path[-1] if section.path else section.title,
        path=section.path[:-1],
        headings=headings,
        blocks=_blocks(found, marks),
        url=_url(section),
        pages=section.pages,
        source_url=section.source_url,
    )


def _blocks(found: SectionText, marks: marking.Marks) -> tuple[Block, ...]:
    """The text parted at its gaps, with the cited stretch, clauses and references in each part."""
    blocks: list[Block] = []
    at = 0
    edges = [
        after.start
        for before, after in pairwise(found.parts)
        if found.text[before.end : after.start] == Passage.GAP
    ]
    for edge in [*edges, len(found.text)]:
        close = edge - len(Passage.GAP) if edge in edges else edge
        is_first = not any(piece.quotes for block in blocks for piece in block.pieces)
        pieces = marking.cut(found.text, at, close, marks, is_first=is_first)
        blocks.append(Block(pieces, bool(blocks)))
        at = edge
    return tuple(blocks)
