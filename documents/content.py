"""Writes what reading a file found: sections, passages, pages, warnings, findings.

Called by the pipeline inside its transaction; a file that is read again replaces all of it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

from django.conf import settings
from django.db.models import Q

from documents import access
from documents.ingestion import layout, screen, similarity
from documents.ingestion.names import title_from_name
from documents.ingestion.notices import compact, coverage_notices, unread_pages
from documents.models import (
    Chunk,
    Finding,
    PageLayout,
    PolicyVersion,
    Section,
    SectionText,
    VersionDetail,
    VersionState,
)
from documents.records import (
    ChunkRecord,
    FindingRecord,
    Notice,
    ProcessedDocument,
    SectionRecord,
    Severity,
)

PIPELINE_VERSION = "3"
NEARLY_THE_SAME = 0.7  # of the shingles; a new edition of a short policy keeps about so many
_MOST_DUPLICATES = 5
_BATCH = 500


def replace_all(
    version: PolicyVersion, detail: VersionDetail, processed: ProcessedDocument
) -> None:
    """Put what was found in the place of whatever was there."""
    version.sections.all().delete()
    version.findings.all().delete()
    version.pages.all().delete()
    parsed = processed.parsed
    _take_title(version, detail.file_name, parsed.title)
    version.media_type = parsed.media_type.value
    version.language = version.policy.language or parsed.language or "en"
    version.save(update_fields=["media_type", "language", "updated_at"])
    _fill(detail, version, processed)
    sections = _create_sections(version, parsed.text, processed.sections)
    _create_chunks(version, sections, processed)
    _create_pages(version, processed)


def _fill(detail: VersionDetail, version: PolicyVersion, processed: ProcessedDocument) -> None:
    parsed = processed.parsed
    detail.canonical_text = parsed.text
    detail.hidden_text = _stored([asdict(hidden) for hidden in parsed.hidden])
    detail.active_content = _stored([asdict(active) for active in parsed.active_content])
    title = {"title": parsed.title} if parsed.title else {}
    detail.metadata = _stored({**parsed.metadata, **title})
    detail.warnings = _stored([asdict(notice) for notice in _warnings(version, processed)])
    detail.signature = similarity.signature(parsed.text)
    detail.near_duplicates = _near_duplicates(version, detail.signature)
    detail.page_count = max((page.number for page in parsed.pages), default=0)
    detail.unread_pages = list(unread_pages(parsed))
    detail.section_count = len(processed.sections)
    detail.chunk_count = len(processed.chunks)
    detail.embedded_count = 0
    detail.failure = ""
    detail.pipeline_version = PIPELINE_VERSION
    detail.save()


def _stored(value: Any) -> Any:
    """A JSON value without the one character that the database does not take."""
    if isinstance(value, str):
        return value.replace("\x00", "")
    if isinstance(value, Mapping):
        return {_stored(key): _stored(item) for key, item in value.items()}
    return [_stored(item) for item in value] if isinstance(value, list | tuple) else value


def _warnings(version: PolicyVersion, processed: ProcessedDocument) -> tuple[Notice, ...]:
    parsed = processed.parsed
    found = (*parsed.warnings, *coverage_notices(processed), *_language_notices(version, processed))
    return compact(found)


def _language_notices(version: PolicyVersion, processed: ProcessedDocument) -> tuple[Notice, ...]:
    """A warning where the text is in another language than its policy or its earlier version."""
    detected = processed.parsed.language
    gone = [VersionState.FAILED, VersionState.REJECTED, VersionState.WITHDRAWN]
    earlier = version.policy.versions.filter(number__lt=version.number).exclude(state__in=gone)
    before = earlier.order_by("-number").values_list("language", flat=True).first()
    expected = version.policy.language or before
    if not detected or not expected or _is_same_language(detected, expected):
        return ()
    message = (
        f"The text seems to be in another language ({detected}) than the policy ({expected}). "
        "Check the file, or correct the language of the policy."
    )
    return (Notice("language_differs", message),)


def _is_same_language(one: str, other: str) -> bool:
    """Whether two codes agree as far as both go: `en` and `en-GB`, not `zh-Hant` and `zh-Hans`."""
    pairs = zip(one.lower().split("-"), other.lower().split("-"), strict=False)
    return all(a == b for a, b in pairs)


def _near_duplicates(version: PolicyVersion, signature: bytes) -> list[dict[str, Any]]:
    """The versions of other policies that say nearly the same, nearest first.

    Only their ids: whoever may not manage the other policy must not learn that it is there.
    """
    gone = [VersionState.FAILED, VersionState.REJECTED, VersionState.WITHDRAWN]
    others = VersionDetail.objects.exclude(version__policy=version.policy_id)
    # Not by exclude: a range without an end has no upper bound to compare.
    lasting = (
        Q(version__effective__isnull=True)
        | Q(version__effective__upper_inf=True)
        | Q(version__effective__endswith__gt=access.today())
    )
    current = others.filter(lasting).exclude(version__state__in=gone)
    rows = current.values_list("version_id", "signature").iterator()
    shares = ((similarity.resemblance(signature, bytes(other)), pk) for pk, other in rows)
    near = sorted((row for row in shares if row[0] >= NEARLY_THE_SAME), reverse=True)
    return [{"version": pk, "share": round(share, 2)} for share, pk in near[:_MOST_DUPLICATES]]


def _take_title(version: PolicyVersion, file_name: str, title: str | None) -> None:
    """A policy that was named after its first file takes the document's own title.

    Not one that speaks to an AI system: a title travels with every passage, and the finding
    in the heading holds only the passages below it.
    """
    policy = version.policy
    is_named_after_file = version.number == 1 and policy.title == title_from_name(file_name)
    if title and is_named_after_file and not _is_blocked(title):
        policy.title = title[:300]
        policy.save(update_fields=["title"])


def _is_blocked(text: str) -> bool:
    found = screen.screen_text(text) if settings.SCREENING else ()
    return any(finding.severity is Severity.BLOCK for finding in found)


def _create_sections(
    version: PolicyVersion, text: str, records: Sequence[SectionRecord]
) -> dict[int, Section]:
    made: dict[int, Section] = {}
    for record in records:
        made[record.ordinal] = Section(
            version=version,
            ordinal=record.ordinal,
            level=record.level,
            number=record.number,
            title=record.title,
            display_title=record.display_title,
            path=list(record.path),
            start=record.start,
            body_start=record.body_start,
            end=record.end,
            pages=list(record.pages),
        )
    Section.objects.bulk_create(made.values(), batch_size=_BATCH)
    for record in records:
        if record.parent is not None:
            made[record.ordinal].parent = made[record.parent]
    Section.objects.bulk_update(
        [made[r.ordinal] for r in records if r.parent is not None], ["parent"], batch_size=_BATCH
    )
    SectionText.objects.bulk_create(
        [SectionText(section=made[r.ordinal], text=text[r.start : r.end]) for r in records],
        batch_size=_BATCH,
    )
    return made


def _create_chunks(
    version: PolicyVersion, sections: dict[int, Section], processed: ProcessedDocument
) -> None:
    access_class = access.class_for(version.labels.all())
    held = {
        ordinal
        for finding in processed.findings
        if finding.severity is Severity.BLOCK
        for ordinal in finding.chunks
    }
    marks = _Marks(processed)
    chunks = {
        record.ordinal: Chunk(
            version=version,
            section=sections[record.section],
            ordinal=record.ordinal,
            text=record.text,
            start=record.start,
            end=record.end,
            overlap=record.overlap,
            pages=list(record.pages),
            page_starts=marks.page_starts(record),
            clauses=marks.clauses(record),
            references=marks.references(record),
            source_url=marks.source_url(record),
            kind=record.kind.value,
            state=Chunk.State.QUARANTINED if record.ordinal in held else Chunk.State.READY,
            access_class=access_class,
            token_count=record.tokens,
        )
        for record in processed.chunks
    }
    Chunk.objects.bulk_create(chunks.values(), batch_size=_BATCH)
    rows = [
        _finding(version, chunks.get(ordinal) if ordinal is not None else None, finding)
        for finding in processed.findings
        for ordinal in (finding.chunks or (None,))
    ]
    Finding.objects.bulk_create(rows, batch_size=_BATCH)


class _Marks:
    """What stands in each chunk besides its text: pages, clauses, references, a link."""

    def __init__(self, processed: ProcessedDocument) -> None:
        parsed = processed.parsed
        self._clauses = sorted(processed.clauses, key=lambda clause: clause.start)
        self._references = sorted(processed.references, key=lambda one: one.start)
        self._links = sorted(parsed.source_links, key=lambda link: link.start)
        self._page_starts = {page.number: layout.text_range(page)[0] for page in parsed.pages}
        self._targets = _first_with_text(processed)

    def page_starts(self, chunk: ChunkRecord) -> list[int]:
        """Where each of its pages begins in it."""
        starts: list[int] = []
        for page in chunk.pages:
            begin = max(self._page_starts.get(page, 0), chunk.start, *starts[-1:])
            starts.append(min(begin, chunk.end))
        return starts

    def clauses(self, chunk: ChunkRecord) -> list[dict[str, Any]]:
        """The clauses that begin in it, cut at its end: more would tell of what lies behind."""
        return [
            {
                "label": clause.label,
                "marker": clause.marker,
                "start": clause.start,
                "end": min(clause.end, chunk.end),
            }
            for clause in _beginning_in(chunk, self._clauses)
        ]

    def references(self, chunk: ChunkRecord) -> list[dict[str, Any]]:
        """The references that stand in it."""
        return [
            {
                "start": one.start,
                "end": one.end,
                "target": self._targets.get(one.target, one.target),
                "label": one.label,
            }
            for one in _beginning_in(chunk, self._references)
            if one.end <= chunk.end
        ]

    def source_url(self, chunk: ChunkRecord) -> str:
        """The official address of the text that it begins with, or else of the first in it."""
        touching = [
            link for link in self._links if link.start < chunk.end and chunk.start < link.end
        ]
        return next((link.url for link in touching if _is_web_address(link.url)), "")


class _Placed(Protocol):
    @property
    def start(self) -> int: ...


P = TypeVar("P", bound=_Placed)


def _beginning_in(chunk: ChunkRecord, records: Sequence[P]) -> Sequence[P]:
    """Those of some records, in order, that begin in a chunk."""
    first = bisect_left(records, chunk.start, key=lambda record: record.start)
    return records[first : bisect_left(records, chunk.end, key=lambda record: record.start)]


def _is_web_address(url: str) -> bool:
    return len(url) <= 500 and urlsplit(url).scheme in ("http", "https")


def _first_with_text(processed: ProcessedDocument) -> dict[int, int]:
    """For each section that has no passage of its own, the first below it that has one.

    A reference to a mere heading leads to what stands under it.
    """
    with_text = {chunk.section for chunk in processed.chunks}
    targets: dict[int, int] = {}
    parents = {section.ordinal: section.parent for section in processed.sections}
    for ordinal in sorted(with_text):
        at = parents.get(ordinal)
        while at is not None and at not in with_text and at not in targets:
            targets[at] = ordinal
            at = parents.get(at)
    return targets


def _create_pages(version: PolicyVersion, processed: ProcessedDocument) -> None:
    rows = []
    for page in processed.parsed.pages:
        start, end = layout.text_range(page)
        rows.append(
            PageLayout(
                version=version,
                number=page.number,
                label=_stored(page.label or "")[:40],
                width=page.width,
                height=page.height,
                ocr_confidence=page.ocr_confidence,
                start=start,
                end=end,
                words=layout.pack(page.words),
            )
        )
    PageLayout.objects.bulk_create(rows, batch_size=100)


def _finding(version: PolicyVersion, chunk: Chunk | None, record: FindingRecord) -> Finding:
    return Finding(
        version=version,
        chunk=chunk,
        rule=record.rule,
        severity=record.severity.value,
        where=record.where,
        start=record.start,
        end=record.end,
        text=record.text.replace("\x00", ""),
        folded=record.folded.replace("\x00", ""),
    )
