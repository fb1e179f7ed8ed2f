"""What changed between two versions of a policy, as far as a reader may read both.

The comparison is made of readable passages alone, so nothing that is hidden changes a byte of
it. A section of which something is hidden takes part as far as it is readable, and is then left
out with a visible gap, its counterpart with it (DESIGN §5, ADR 0017).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count

from documents.access.door import Reader, Reading, editing, on_day, reading_as
from documents.access.history import PolicyHistory, VersionDays, history
from documents.access.passages import CLOSED_CHUNK_FIELDS, joined_chunks
from documents.ingestion.comparison import ComparedSection, SectionChange, compare
from documents.models import Chunk, Section

_AFTER_NUMBER = ".)）、:： \t　"


@dataclass(frozen=True, slots=True)
class ReadableComparison:
    """Two versions and what changed; None among `changes` is a gap.

    `sections` leads from the key of a compared section to its public id.
    """

    history: PolicyHistory
    older: VersionDays
    newer: VersionDays
    changes: tuple[SectionChange | None, ...]
    sections: Mapping[str, UUID]


@dataclass(frozen=True, slots=True)
class _Side:
    sections: tuple[ComparedSection, ...]
    public_ids: Mapping[str, UUID]
    chunks: Mapping[int, int]  # how many were readable, by internal section id


def readable_comparison(
    reader: Reader, slug: str, older: int, newer: int
) -> ReadableComparison | None:
    """What changed from one version of a policy to another; None: one of them is not readable.

    Args:
        reader: who reads.
        slug: of the policy.
        older: number of the version to compare from.
        newer: number of the version to compare to.
    """
    found = history(reader, slug)
    if found is None:
        return None
    numbered = {version.number: version for version in found.versions}
    if older not in numbered or newer not in numbered:
        return None
    before, after = numbered[older], numbered[newer]
    with reading_as(reader) as reading:
        sides = [_side(reading, version) for version in (before, after)]
    if not all(side.sections for side in sides):
        return None  # lost in between
    partial = _partial(sides)
    comparison = compare(sides[0].sections, sides[1].sections)
    return ReadableComparison(
        history=found,
        older=before,
        newer=after,
        changes=_with_gaps(comparison.changes, partial),
        sections={**sides[0].public_ids, **sides[1].public_ids},
    )


def _side(reading: Reading, version: VersionDays) -> _Side:
    with on_day(reading, version.effective_from):
        sections = list(Section.objects.filter(version=version.id).order_by("ordinal"))
        rows = Chunk.objects.filter(version=version.id).defer("embedding", *CLOSED_CHUNK_FIELDS)
        chunks = chunks_by_section(rows.order_by("ordinal"))
    shown = [section for section in sections if section.pk in chunks]
    return _Side(
        sections=compared(shown, chunks),
        public_ids={str(section.pk): section.public_id for section in shown},
        chunks={pk: len(of_section) for pk, of_section in chunks.items()},
    )


def chunks_by_section(chunks: Iterable[Chunk]) -> dict[int, list[Chunk]]:
    """Chunks in order, by the internal id of their section."""
    found: dict[int, list[Chunk]] = {}
    for chunk in chunks:
        found.setdefault(chunk.section_id, []).append(chunk)
    return found


def compared(
    sections: Iterable[Section], chunks: Mapping[int, list[Chunk]]
) -> tuple[ComparedSection, ...]:
    """Sections as a comparison takes them, with the words of these chunks."""
    return tuple(
        ComparedSection(
            key=str(section.pk),
            parent=str(section.parent_id) if section.parent_id else None,
            number=section.number,
            title=section.title or "",
            path=tuple(section.path),
            text=_words(section, chunks.get(section.pk, [])),
        )
        for section in sections
    )


def _words(section: Section, chunks: list[Chunk]) -> str:
    """The text of a section; of a clause without the number in its line: that may change alone."""
    text, end = "", 0
    for chunk in joined_chunks(chunks, frozenset()):
        between = chunk.start - end
        is_apart = text and between > 0 and not text.endswith("\n")
        text += (" " if between == 1 else "\n") * bool(is_apart) + chunk.text
        end = chunk.start + len(chunk.text)
    number = section.number or ""
    is_in_line = bool(number) and not section.title and text.startswith(number)
    if is_in_line and not text[len(number) :][:1].isalnum():
        return text[len(number) :].lstrip(_AFTER_NUMBER)
    return text


def _partial(sides: Sequence[_Side]) -> frozenset[str]:
    """The sections of which there is more than was readable."""
    readable = {pk: n for side in sides for pk, n in side.chunks.items()}
    with editing():
        counted = Chunk.objects.filter(section__in=list(readable)).order_by()
        rows = counted.values_list("section").annotate(n=Count("pk"))
        return frozenset(str(pk) for pk, n in rows if n != readable[pk])


def _with_gaps(
    changes: Iterable[SectionChange], partial: frozenset[str]
) -> tuple[SectionChange | None, ...]:
    """The changes, with those that touch a partial section left out; gaps side by side are one."""
    shown: list[SectionChange | None] = []
    for change in changes:
        if not any(section.key in partial for section in (*change.old, *change.new)):
            shown.append(change)
        elif not shown or shown[-1] is not None:
            shown.append(None)
    return tuple(shown)
