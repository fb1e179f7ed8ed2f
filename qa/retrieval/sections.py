"""One section as a reader may see it, with a cited span marked; every door shows this.

The text is put together from readable chunks. A section that does not exist and one that may
not be read are both None.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from documents import access
from documents.access import ReadableSection, Reader
from qa.records import Passage, PassagePart
from qa.retrieval.search import joined


@dataclass(frozen=True, slots=True)
class SectionText:
    """A readable section; `cited` counts in `text`, where a span was asked for and is readable."""

    section: ReadableSection
    text: str
    parts: tuple[PassagePart, ...]
    cited: tuple[int, int] | None


def read_section(
    reader: Reader,
    public_id: UUID,
    *,
    as_of: date | None = None,
    span: tuple[int, int] | None = None,
) -> SectionText | None:
    """A section of a version in force on `as_of` (default: today).

    Args:
        reader: who reads.
        public_id: of the section.
        as_of: the day whose rules are asked for.
        span: a cited stretch, as offsets into the version's canonical text.

    Raises:
        ValidationProblem: a future date without the right to read ahead.
    """
    with access.reading_as(reader, as_of) as reading:
        section = access.readable_section(reading, public_id)
        if section is None:
            return None
        section = access.with_references(reading, [section])[0]
    text, parts, _ = joined(section.chunks)
    return SectionText(section, text, parts, located(parts, span))


def located(parts: tuple[PassagePart, ...], span: tuple[int, int] | None) -> tuple[int, int] | None:
    """A canonical span as one of the joined text; None when an end of it is not readable."""
    if span is None or span[0] >= span[1]:
        return None
    first = _position(parts, span[0])
    last = _position(parts, span[1] - 1)
    return (first, last + 1) if first is not None and last is not None else None


def _position(parts: tuple[PassagePart, ...], canonical: int) -> int | None:
    for part in parts:
        offset = canonical - part.chunk_start
        if 0 <= offset < part.end - part.start:
            return part.start + offset
    return None


def section_json(found: SectionText) -> dict[str, Any]:
    """A section as the API and MCP show it."""
    section = found.section
    last = section.effective_to
    start, end = found.cited or (None, None)
    return {
        "id": str(section.public_id),
        "document": section.policy_title,
        "policy": section.policy_slug,
        "version": section.version_number,
        "effective_from": section.effective_from.isoformat(),
        "effective_to": last.isoformat() if last else None,
        "section_id": section.number or section.title,
        "section_title": section.title,
        "section_path": list(section.path),
        "language": section.language,
        "text": found.text,
        "cited": {"start": start, "end": end} if found.cited else None,
        "has_gaps": Passage.GAP in found.text,
        "clauses": _clauses(found),
        "references": _references(found),
        "pages": list(section.pages),
        "source_url": section.source_url or None,
        "ask": section.contact or None,
        "url": f"/sections/{section.public_id}/?as_of={section.effective_from.isoformat()}",
    }


def _clauses(found: SectionText) -> list[dict[str, Any]]:
    """The labelled clauses that begin in the text; a clause ends with its readable part."""
    return [
        {
            "label": clause.label,
            "start": start,
            "end": min(start + clause.end - clause.start, part.end),
        }
        for chunk, part in zip(found.section.chunks, found.parts, strict=True)
        for clause in chunk.clauses
        if part.start <= (start := part.start + clause.start - part.chunk_start) < part.end
    ]


def _references(found: SectionText) -> list[dict[str, Any]]:
    """The words that name another clause, where the caller may read that one too."""
    return [
        {
            "start": part.start + one.start - part.chunk_start,
            "end": part.start + one.end - part.chunk_start,
            "section": str(one.section),
            "section_title": one.title,
            "label": one.label,
        }
        for chunk, part in zip(found.section.chunks, found.parts, strict=True)
        for one in chunk.references
        if one.section is not None
    ]
