"""When a reader may have a page's image or the file itself (DESIGN §5, ADR 0014).

A picture can't leave a passage out, so it is given whole or not at all. The database says,
with the reader's role, which passages of a version are readable; the system then compares them
with all that there are. What is missing and what is forbidden are both None.

A file is given where every passage of it is readable and nothing in it escaped the eyes of a
person: no comments, tracked changes or hidden text, nothing active or attached, no finding
that was not released. A page is given where the same holds for its version; or else where it
has words and each of them stands in a readable passage, or in the heading of a section of
which something is readable.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from django.db.models import Q

from documents.access.door import Reader, editing, reading_as
from documents.access.passages import CLOSED_VERSION_FIELDS
from documents.ingestion.layout import boxes_around, unpack
from documents.models import Chunk, Finding, PageLayout, PolicyVersion, Section, VersionDetail
from documents.records import Box, Severity, WordBox

if TYPE_CHECKING:
    from django.db.models import QuerySet

# Hidden text that goes with a file openly: whoever opens it sees it or expects it.
_OPEN_PLACES = frozenset({"metadata", "alt_text", "link_title", "header", "footer"})
_LARGEST = 2**31 - 1  # that the columns hold
_PRIVATE_WARNINGS = frozenset({"has_tracked_changes", "has_comments", "embedded_files"})


@dataclass(frozen=True, slots=True)
class PageView:
    """A page that the reader may see: what draws it, and boxes of the words asked for.

    `sha256` names the stored file and leaves no door. Sizes and boxes are in points.
    """

    sha256: str
    policy_title: str
    language: str
    effective_from: date
    number: int
    label: str
    width: float
    height: float
    boxes: tuple[Box, ...]


@dataclass(frozen=True, slots=True)
class Original:
    """A file that the reader may have; `sha256` names what is stored and leaves no door."""

    version_id: int
    sha256: str
    file_name: str
    media_type: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class _Readable:
    """What the database lets a reader see of one version."""

    version_id: int
    effective_from: date
    policy_title: str
    language: str
    chunks: frozenset[int]
    sections: frozenset[int]


def readable_pages(
    reader: Reader,
    slug: str,
    version_number: int,
    page_numbers: Iterable[int],
    *,
    as_of: date | None = None,
    span: tuple[int, int] | None = None,
) -> dict[int, PageView]:
    """Those of some pages, of a version in force on `as_of`, that the reader may see.

    Args:
        reader: who reads.
        slug: of the policy.
        version_number: of the version.
        page_numbers: counted from 1.
        as_of: the day whose rules are asked for; today.
        span: a cited stretch of the canonical text, to be marked.

    Raises:
        ValidationProblem: a future date without the right to read ahead.
    """
    readable = _readable(reader, slug, version_number, as_of)
    wanted = [number for number in page_numbers if 0 < number <= _LARGEST]
    with editing():
        if readable is None:
            return {}
        detail = VersionDetail.objects.only("file_sha256").get(pk=readable.version_id)
        is_open = _is_all_readable(readable)
        found = {}
        for page in PageLayout.objects.filter(version=readable.version_id, number__in=wanted):
            words = list(unpack(bytes(page.words)))
            if is_open or _is_page_readable(readable, page, words):
                found[page.number] = _view(readable, detail, page, words, span)
        return found


def readable_page(
    reader: Reader,
    slug: str,
    version_number: int,
    page_number: int,
    *,
    as_of: date | None = None,
    span: tuple[int, int] | None = None,
) -> PageView | None:
    """One page, or None: missing and forbidden look alike. See `readable_pages`."""
    found = readable_pages(reader, slug, version_number, [page_number], as_of=as_of, span=span)
    return found.get(page_number)


def readable_file(
    reader: Reader, slug: str, version_number: int, *, as_of: date | None = None
) -> Original | None:
    """The file of a version in force on `as_of`, or None: missing and forbidden look alike.

    Raises:
        ValidationProblem: a future date without the right to read ahead.
    """
    readable = _readable(reader, slug, version_number, as_of)
    with editing():
        if readable is None or not _is_all_readable(readable):
            return None
        details = VersionDetail.objects.select_related("version").defer("canonical_text")
        detail = details.get(pk=readable.version_id)
        if _holds_more(detail):
            return None
        return Original(
            version_id=readable.version_id,
            sha256=detail.file_sha256,
            file_name=detail.file_name,
            media_type=detail.version.media_type,
            size_bytes=detail.file_size_bytes,
        )


def _readable(
    reader: Reader, slug: str, version_number: int, as_of: date | None
) -> _Readable | None:
    """With the reader's own role: what row-level security returns is what they may read."""
    with reading_as(reader, as_of):
        if "\x00" in slug or version_number > _LARGEST:
            return None  # out of an address; the database would not take it
        versions = PolicyVersion.objects.select_related("policy").defer(
            "policy__owner", *CLOSED_VERSION_FIELDS
        )
        version = versions.filter(policy__slug=slug, number=version_number).first()
        if version is None:
            return None
        rows = Chunk.objects.filter(version=version)
        found = list(rows.values_list("pk", "section_id", "effective_from"))
        first = found[0][2] if found else None
        if first is None:
            return None  # nothing of it is readable any more
        return _Readable(
            version_id=version.pk,
            effective_from=first,
            policy_title=version.policy.title,
            language=version.language,
            chunks=frozenset(chunk for chunk, _, _ in found),
            sections=frozenset(section for _, section, _ in found),
        )


def _is_all_readable(readable: _Readable) -> bool:
    """Whether this reader reads every passage, and no finding waits or was rejected.

    A heading with labels of its own and nothing below it is in no passage, so it closes too.
    """
    total = Chunk.objects.filter(version=readable.version_id).count()
    if total != len(readable.chunks) or _closed_findings(readable.version_id).exists():
        return False
    labelled = Section.objects.filter(version=readable.version_id, labels__isnull=False)
    return set(labelled.values_list("pk", flat=True)) <= _shown_sections(readable)


def _closed_findings(version_id: int) -> QuerySet[Finding]:
    blocking = Finding.objects.filter(version=version_id, severity=Severity.BLOCK.value)
    return blocking.exclude(decision=Finding.Decision.RELEASED)


def _holds_more(detail: VersionDetail) -> bool:
    """Whether the file holds what no passage shows and nobody may have looked at."""
    places = {hidden["where"] for hidden in detail.hidden_text}
    codes = {warning["code"] for warning in detail.warnings}
    return bool(places - _OPEN_PLACES or detail.active_content or codes & _PRIVATE_WARNINGS)


def _is_page_readable(readable: _Readable, page: PageLayout, words: list[WordBox]) -> bool:
    """Whether every word of a page is one that this reader reads as text elsewhere."""
    if not words or _touches_closed_finding(readable.version_id, page):
        return False
    touching = Q(start__lt=page.end, end__gt=page.start) | Q(pages__contains=[page.number])
    rows = Chunk.objects.filter(touching, version=readable.version_id)
    chunks = {pk: (start, end) for pk, start, end in rows.values_list("pk", "start", "end")}
    if not chunks.keys() <= readable.chunks:
        return False
    spans = [*chunks.values(), *_headings(readable, page)]
    return all(_is_covered(word, spans) for word in words)


def _touches_closed_finding(version_id: int, page: PageLayout) -> bool:
    """Whether an open finding lies on the page, or anywhere outside the text."""
    findings = _closed_findings(version_id).values_list("where", "start", "end")
    return any(
        where not in ("body", "heading") or (start < page.end and page.start < end)
        for where, start, end in findings
    )


def _headings(readable: _Readable, page: PageLayout) -> list[tuple[int, int]]:
    """The headings on a page that stand in the path of something readable."""
    headed = Section.objects.filter(
        version=readable.version_id, start__lt=page.end, body_start__gt=page.start
    )
    shown = _shown_sections(readable)
    rows = headed.values_list("pk", "start", "body_start")
    return [(start, body_start) for pk, start, body_start in rows if pk in shown]


def _shown_sections(readable: _Readable) -> set[int]:
    """The sections with something readable, and those above them, whose titles paths show."""
    rows = Section.objects.filter(version=readable.version_id).values_list("pk", "parent_id")
    parents = dict(rows)
    found: set[int] = set()
    for section in readable.sections:
        at: int | None = section
        while at is not None and at not in found:
            found.add(at)
            at = parents.get(at)
    return found


def _is_covered(word: WordBox, spans: Iterable[tuple[int, int]]) -> bool:
    return any(start <= word.start and word.end <= end for start, end in spans)


def _view(
    readable: _Readable,
    detail: VersionDetail,
    page: PageLayout,
    words: list[WordBox],
    span: tuple[int, int] | None,
) -> PageView:
    return PageView(
        sha256=detail.file_sha256,
        policy_title=readable.policy_title,
        language=readable.language,
        effective_from=readable.effective_from,
        number=page.number,
        label=page.label,
        width=page.width,
        height=page.height,
        boxes=tuple(boxes_around(words, *span)) if span else (),
    )
