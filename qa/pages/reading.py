"""Policies and sections as a page shows them, put together from what its reader may read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from uuid import UUID

from documents import access
from documents.access import ReadableSection, Reader, Reading
from qa.pages.shown import Piece, days, reflowed
from qa.records import Passage
from qa.retrieval.search import joined
from qa.retrieval.sections import SectionText, located


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of a section without gaps; `is_after_gap`: something before it is left out."""

    pieces: tuple[Piece, ...]
    is_after_gap: bool


@dataclass(frozen=True, slots=True)
class ShownSection:
    """One section; `level` is that of its HTML heading, `heading` empty for an untitled clause."""

    public_id: str
    anchor: str
    name: str
    heading: str
    level: int
    path: tuple[str, ...]
    blocks: tuple[Block, ...]
    url: str


@dataclass(frozen=True, slots=True)
class ShownVersion:
    """The version of a policy that a page shows."""

    title: str
    slug: str
    url: str
    number: int
    days: str
    contact: str
    language: str
    is_in_force: bool
    has_pending_review: bool


@dataclass(frozen=True, slots=True)
class PolicyPage:
    """A version with its readable sections."""

    version: ShownVersion
    sections: tuple[ShownSection, ...]


@dataclass(frozen=True, slots=True)
class SectionPage:
    """One section between its neighbours; `is_marked` when the cited words were found in it."""

    version: ShownVersion
    section: ShownSection
    before: ShownSection | None
    after: ShownSection | None
    is_marked: bool


def policy_page(reader: Reader, slug: str, as_of: date | None) -> PolicyPage | None:
    """A policy on a day, or None when there is nothing that this reader may read.

    Raises:
        ValidationProblem: a future date without the right to read ahead.
    """
    with access.reading_as(reader, as_of) as reading:
        sections = access.readable_sections(reading, slug)
    if not sections:
        return None
    shown = tuple(
        _shown(section, level, None)
        for section, level in zip(sections, heading_levels(sections), strict=True)
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
        near = access.readable_sections(reading, section.policy_slug)
    at = [other.public_id for other in near].index(section.public_id)
    shown = _shown(section, 1, span)
    return SectionPage(
        version=_version(section, reading),
        section=shown,
        before=_shown(near[at - 1], 2, None) if at else None,
        after=_shown(near[at + 1], 2, None) if at + 1 < len(near) else None,
        is_marked=any(piece.quotes for block in shown.blocks for piece in block.pieces),
    )


def _version(section: ReadableSection, reading: Reading) -> ShownVersion:
    waiting = access.policies_awaiting_review(reading.classes, [section.policy_slug])
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
    )


def heading_levels(sections: Sequence[ReadableSection]) -> list[int]:
    """An HTML heading level for each section: from 2, at most one deeper than the one before."""
    top = min(len(section.path) for section in sections)
    levels: list[int] = []
    for section in sections:
        deepest = levels[-1] + 1 if levels else 2
        levels.append(min(len(section.path) - top + 2, deepest, 6))
    return levels


def _shown(section: ReadableSection, level: int, span: tuple[int, int] | None) -> ShownSection:
    text, parts, _ = joined(section.chunks)
    found = SectionText(section, text, parts, located(parts, span))
    name = section.path[-1] if section.path else section.title
    first_words = text[: len(section.number or "")]
    is_clause = bool(section.number) and first_words == section.number
    return ShownSection(
        public_id=str(section.public_id),
        anchor=f"s{section.ordinal}",
        name=name,
        heading="" if is_clause else name,
        level=level,
        path=section.path[:-1],
        blocks=_blocks(found),
        url=f"/sections/{section.public_id}/?as_of={section.effective_from.isoformat()}",
    )


def _blocks(found: SectionText) -> tuple[Block, ...]:
    """The text parted at its gaps, with the cited stretch marked in each part."""
    start, end = found.cited or (0, 0)
    blocks: list[Block] = []
    at = 0
    edges = [
        after.start
        for before, after in pairwise(found.parts)
        if found.text[before.end : after.start] == Passage.GAP
    ]
    for edge in [*edges, len(found.text)]:
        close = edge - len(Passage.GAP) if edge in edges else edge
        blocks.append(Block(_marked(found.text, at, close, start, end), bool(blocks)))
        at = edge
    return tuple(blocks)


def _marked(text: str, begin: int, close: int, start: int, end: int) -> tuple[Piece, ...]:
    """`text[begin:close]` with what of `text[start:end]` lies in it marked."""
    flowing = reflowed(text[begin:close])
    first, last = max(start - begin, 0), min(end, close) - begin
    if first >= last:
        return (Piece(flowing),)
    cut = [Piece(flowing[:first]), Piece(flowing[first:last], "cited"), Piece(flowing[last:])]
    return tuple(piece for piece in cut if piece.text)
