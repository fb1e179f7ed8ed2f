"""Policies, sections and passages as a reader may see them, inside an open reading."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import connection

from documents.access.door import Reading
from documents.errors import AccessError
from documents.models import Chunk, Policy, PolicyVersion, Section, VersionEnd

if TYPE_CHECKING:
    from django.db.models import QuerySet

# What the reader's role may not select: leave these out of rows that are read as somebody.
CLOSED_VERSION_FIELDS = ("effective", "updated_at")
CLOSED_CHUNK_FIELDS = ("effective_to",)


def corpus_revision(reading: Reading) -> str:
    """A hash over what this reader can read, so that nothing hidden changes it."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select v.public_id::text, c.n, c.marks from"
            " (select version_id, count(*) n, md5(string_agg(public_id::text, ','"
            "  order by ordinal)) marks from documents_chunk group by version_id) c"
            " join documents_policyversion v on v.id = c.version_id order by 1"
        )
        rows = cursor.fetchall()
    return hashlib.sha256(repr(rows).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Clause:
    """A labelled clause that begins in a chunk; it may go on where this reader may not read."""

    label: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Reference:
    """Words that name another clause of the same version; `section` once it is known readable."""

    start: int
    end: int
    target: int  # the ordinal of the section that is meant
    label: str | None
    section: UUID | None = None
    title: str = ""


@dataclass(frozen=True, slots=True)
class ReadableChunk:
    """One chunk as a reader sees it, with the gap before it if something is left out.

    `id` is internal and leaves no door; `text` is without what repeats the chunk before, and
    `start` is where it begins in the version's canonical text, in which all offsets count.
    `pages` holds where each page begins in it, and its number. `url` is the official text's.
    """

    id: int
    public_id: UUID
    text: str
    start: int
    page: int | None
    kind: str
    is_after_gap: bool
    is_hosted: bool  # may be sent to a hosted model
    pages: tuple[tuple[int, int], ...] = ()
    clauses: tuple[Clause, ...] = ()
    references: tuple[Reference, ...] = ()
    url: str = ""


@dataclass(frozen=True, slots=True)
class ReadableSection:
    """One section put together from the chunks that this reader may read."""

    public_id: UUID
    ordinal: int
    number: str | None
    title: str
    path: tuple[str, ...]
    policy_title: str
    policy_slug: str
    contact: str
    language: str
    version_number: int
    effective_from: date
    effective_to: date | None
    chunks: tuple[ReadableChunk, ...]

    @property
    def pages(self) -> tuple[int, ...]:
        """The pages on which the readable text stands, in order."""
        numbers = [number for chunk in self.chunks for _, number in chunk.pages]
        return tuple(dict.fromkeys(numbers))

    @property
    def source_url(self) -> str:
        """The address of the official text, where the source names one."""
        return next((chunk.url for chunk in self.chunks if chunk.url), "")


def readable_policies(reading: Reading) -> list[Policy]:
    """The policies of which this reader may read something, by title."""
    return list(Policy.objects.defer("owner").order_by("title", "slug"))


def readable_sections(reading: Reading, policy_slug: str) -> list[ReadableSection]:
    """The readable sections of the version of a policy that is in force, in order."""
    if "\x00" in policy_slug:
        return []  # out of an address; the database would not take it
    sections = Section.objects.filter(version__policy__slug=policy_slug)
    return _assemble(reading, sections)


def sections_of(reading: Reading, section_ids: Iterable[int]) -> dict[int, ReadableSection]:
    """The readable ones of these sections, by internal id."""
    found = Section.objects.filter(pk__in=list(section_ids))
    rows = dict(found.values_list("public_id", "pk"))
    return {rows[section.public_id]: section for section in _assemble(reading, found)}


def readable_section(reading: Reading, public_id: UUID) -> ReadableSection | None:
    """One section, or None when it does not exist or may not be read: both look alike."""
    found = _assemble(reading, Section.objects.filter(public_id=public_id))
    return found[0] if found else None


def with_references(reading: Reading, sections: Sequence[ReadableSection]) -> list[ReadableSection]:
    """The sections with those of their references whose target this reader may read, too.

    Others are dropped: a reference to what is hidden stays the words that it is.
    """
    wanted = {
        (section.policy_slug, section.version_number, reference.target)
        for section in sections
        for chunk in section.chunks
        for reference in chunk.references
    }
    targets: dict[tuple[str, int, int], Section] = {}
    for slug, number in {(slug, number) for slug, number, _ in wanted}:
        found = Section.objects.filter(
            version__policy__slug=slug,
            version__number=number,
            ordinal__in=[ordinal for *version, ordinal in wanted if version == [slug, number]],
        )
        targets |= {(slug, number, target.ordinal): target for target in found}
    return [_resolved(section, targets) for section in sections]


def _resolved(
    section: ReadableSection, targets: Mapping[tuple[str, int, int], Section]
) -> ReadableSection:
    chunks = []
    for chunk in section.chunks:
        references = []
        for reference in chunk.references:
            key = (section.policy_slug, section.version_number, reference.target)
            if target := targets.get(key):
                name = target.path[-1] if target.path else target.display_title
                references.append(replace(reference, section=target.public_id, title=name))
        chunks.append(replace(chunk, references=tuple(references)))
    return replace(section, chunks=tuple(chunks))


def _assemble(reading: Reading, sections: QuerySet[Section]) -> list[ReadableSection]:
    by_section: dict[int, list[Chunk]] = {}
    rows = sections.select_related("version__policy").order_by("version_id", "ordinal")
    found = list(rows.defer(*(f"version__{name}" for name in CLOSED_VERSION_FIELDS)))
    chunks = Chunk.objects.filter(section__in=[s.pk for s in found]).order_by("ordinal")
    for chunk in chunks.defer("embedding", *CLOSED_CHUNK_FIELDS):
        by_section.setdefault(chunk.section_id, []).append(chunk)
    ends = past_ends({section.version_id for section in found})
    return [
        _readable(reading, s, by_section[s.pk], ends.get(s.version_id))
        for s in found
        if s.pk in by_section
    ]


def past_ends(version_ids: Iterable[int]) -> dict[int, date]:
    """The last days of these versions as far as the reader may know them, in a reading.

    One to come tells of the version that begins after it, so only those who may read ahead
    get it (row security).
    """
    found = VersionEnd.objects.filter(version__in=list(version_ids))
    return dict(found.values_list("version_id", "last_day"))


def _readable(
    reading: Reading, section: Section, chunks: list[Chunk], last: date | None
) -> ReadableSection:
    version = section.version
    first = chunks[0].effective_from
    if first is None:
        raise AccessError("a readable passage has a first day")
    return ReadableSection(
        public_id=section.public_id,
        ordinal=section.ordinal,
        number=section.number,
        title=section.display_title,
        path=tuple(section.path),
        policy_title=version.policy.title,
        policy_slug=version.policy.slug,
        contact=version.policy.contact,
        language=version.language,
        version_number=version.number,
        effective_from=first,
        effective_to=last,
        chunks=joined_chunks(chunks, reading.hosted_classes),
    )


def joined_chunks(chunks: list[Chunk], hosted: frozenset[int]) -> tuple[ReadableChunk, ...]:
    """The chunks of one section without their overlap, each marked when one before is missing."""
    joined = []
    before: Chunk | None = None
    for chunk in chunks:
        is_next = before is not None and chunk.ordinal == before.ordinal + 1
        skip = chunk.overlap if is_next else 0
        is_after_gap = before is not None and not is_next
        joined.append(_readable_chunk(chunk, skip, is_after_gap, hosted))
        before = chunk
    return tuple(joined)


def _readable_chunk(
    chunk: Chunk, skip: int, is_after_gap: bool, hosted: frozenset[int]
) -> ReadableChunk:
    start = chunk.start + skip
    pages = tuple(zip(chunk.page_starts, chunk.pages, strict=False)) or tuple(
        (chunk.start, page) for page in chunk.pages[:1]
    )
    # What lies in the overlap belongs to the chunk before, which shows it.
    shown = [page for i, page in enumerate(pages) if i + 1 == len(pages) or pages[i + 1][0] > start]
    return ReadableChunk(
        id=chunk.pk,
        public_id=chunk.public_id,
        text=chunk.text[skip:],
        start=start,
        page=shown[0][1] if shown else None,
        kind=chunk.kind,
        is_after_gap=is_after_gap,
        is_hosted=chunk.access_class_id in hosted,
        pages=tuple((max(begin, start), page) for begin, page in shown),
        clauses=tuple(
            Clause(one["label"], one["start"], one["end"])
            for one in chunk.clauses
            if one["start"] >= start
        ),
        references=tuple(
            Reference(one["start"], one["end"], one["target"], one["label"])
            for one in chunk.references
            if one["start"] >= start
        ),
        url=chunk.source_url,
    )


def effective_days(version: PolicyVersion) -> tuple[date, date | None]:
    """The first and the last day in force; the last is None while no end is set."""
    effective: Any = version.effective
    upper = effective.upper
    return effective.lower, upper - timedelta(days=1) if upper else None


def are_readable(reading: Reading, chunk_ids: Iterable[str]) -> bool:
    """Whether every one of these chunks is readable in this reading."""
    wanted = set(chunk_ids)
    return Chunk.objects.filter(public_id__in=wanted).count() == len(wanted)
