"""The one way to read policies.

Every employee-facing read runs inside `reading_as`: it opens the outermost transaction, takes
the role `legalqa_reader` and sets the reader's access classes and date for that transaction
only. Row-level security does the rest: what the settings do not name, the database does not
return. `editing` is the other way in, for workers and staff. Without either, the
application's role sees no row of a protected table.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction

from documents.errors import AccessError, UnknownLabelError, ValidationProblem
from documents.models import (
    AccessClass,
    AccessLabel,
    AllowedDomain,
    Chunk,
    LabelGrant,
    ManagedDepartment,
    Policy,
    PolicyVersion,
    Section,
)

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.backends.utils import CursorWrapper
    from django.db.models import QuerySet

_KEYS = ("role", "legalqa.classes", "legalqa.as_of", "legalqa.reader", "legalqa.scope")


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads: a user, or a bare set of labels on the command line.

    `key_labels` narrows a user's labels to those of an API key; None: no narrowing.
    """

    user_id: int | None
    name: str
    labels: frozenset[str] | None = None  # given outright: no user
    key_labels: frozenset[str] | None = None
    may_read_scheduled: bool = False

    @classmethod
    def for_user(cls, user: User, *, key_labels: Iterable[str] | None = None) -> Reader:
        """The person `user`, with the rights they hold now."""
        return cls(
            user_id=user.pk,
            name=user.get_username(),
            key_labels=frozenset(key_labels) if key_labels is not None else None,
            may_read_scheduled=user.has_perm("documents.read_scheduled"),
        )

    @classmethod
    def with_labels(cls, slugs: Iterable[str]) -> Reader:
        """Nobody in particular, holding exactly these labels.

        Raises:
            UnknownLabelError: a slug that does not exist; the message lists those that do.
        """
        wanted = frozenset(slugs)
        require_labels(wanted)
        return cls(user_id=None, name="labels:" + ",".join(sorted(wanted)), labels=wanted)


@dataclass(frozen=True, slots=True)
class Reading:
    """An open transaction in which only what `reader` may read on `as_of` exists.

    Made by `reading_as` alone; retrieval takes nothing else.
    """

    reader: Reader
    as_of: date
    today: date
    classes: frozenset[int]
    hosted_classes: frozenset[int]  # those whose text may be sent to a hosted model


def require_labels(slugs: Iterable[str]) -> list[AccessLabel]:
    """The labels with these slugs.

    Raises:
        UnknownLabelError: one does not exist.
    """
    wanted = sorted(set(slugs))
    found = list(AccessLabel.objects.filter(slug__in=wanted))
    missing = sorted(set(wanted) - {label.slug for label in found})
    if missing:
        known = ", ".join(AccessLabel.objects.values_list("slug", flat=True)) or "none yet"
        raise UnknownLabelError(
            f"There is no label {', '.join(missing)}. Labels that exist: {known}."
        )
    return found


def labels_of(reader: Reader) -> frozenset[str]:
    """The slugs that `reader` holds now: own, by group, and everyone's label."""
    if reader.labels is not None:
        return reader.labels
    if reader.user_id is None:
        return frozenset()
    return _labels_of_user(reader, reader.user_id)


def _labels_of_user(reader: Reader, user_id: int) -> frozenset[str]:
    from django.contrib.auth import get_user_model

    if not get_user_model().objects.filter(pk=user_id, is_active=True).exists():
        return frozenset()  # a disabled account reads nothing, whatever its session says
    own = LabelGrant.objects.filter(user_id=user_id)
    by_group = LabelGrant.objects.filter(group__user=user_id)
    held = set((own | by_group).values_list("label__slug", flat=True).distinct())
    if settings.EVERYONE_LABEL:
        held.add(settings.EVERYONE_LABEL)
    if reader.key_labels is not None:
        held &= reader.key_labels
    return frozenset(held)


def class_for(labels: Iterable[AccessLabel]) -> AccessClass:
    """The access class of a set of labels, made if it is new."""
    key = sorted({label.pk for label in labels})
    return AccessClass.objects.get_or_create(key=key)[0]


def _readable_classes(held: frozenset[str]) -> tuple[frozenset[int], frozenset[int]]:
    """The ids of the classes that a holder of `held` may read, and the hosted ones of them.

    A class needs one held audience and no restriction that is not held; a class without an
    audience is readable by nobody.
    """
    labels = {label.pk: label for label in AccessLabel.objects.all()}
    readable, hosted = set(), set()
    for access_class in AccessClass.objects.all():
        marks = [labels.get(pk) for pk in access_class.key]
        if None in marks:
            continue  # a label was deleted under it: fail closed
        known = [mark for mark in marks if mark is not None]
        audiences = {m.slug for m in known if m.role == AccessLabel.Role.AUDIENCE}
        restrictions = {m.slug for m in known if m.role != AccessLabel.Role.AUDIENCE}
        if audiences & held and restrictions <= held:
            readable.add(access_class.pk)
            if all(mark.hosted_model_allowed for mark in known):
                hosted.add(access_class.pk)
    return frozenset(readable), frozenset(hosted)


def today() -> date:
    """The database clock's date in the office's time zone."""
    with connection.cursor() as cursor:
        cursor.execute("select (now() at time zone %s)::date", [settings.OFFICE_TIME_ZONE])
        row = cursor.fetchone()
    return row[0]  # type: ignore[no-any-return]  # a date, by the cast in the statement


@contextmanager
def reading_as(reader: Reader, as_of: date | None = None) -> Iterator[Reading]:
    """Read as `reader`, from the versions in force on `as_of` (default: today).

    Opens the outermost transaction, so nothing set here outlives it; refuses to be nested.
    A lazy queryset evaluated after the block returns nothing: take records out of it.

    Raises:
        ValidationProblem: `as_of` lies after today and the reader may not read ahead.
        AccessError: called inside another `reading_as` or `editing`.
    """
    if _is_switched():
        raise AccessError("reading_as must open the outermost transaction")
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        now = today()
        day = as_of or now
        if day > now and not reader.may_read_scheduled:
            raise ValidationProblem(
                f"The date {day} lies in the future. Choose today ({now}) or an earlier date.",
                code="as_of_in_future",
            )
        classes, hosted = _readable_classes(labels_of(reader))
        values = {
            "role": settings.READER_ROLE,
            "legalqa.classes": ",".join(map(str, sorted(classes))),
            "legalqa.as_of": day.isoformat(),
            "legalqa.reader": str(reader.user_id or ""),
        }
        with _settings(cursor, values):
            yield Reading(reader, day, now, classes, hosted)


@contextmanager
def editing() -> Iterator[None]:
    """Work as the system or as staff: every protected row, until the block ends."""
    if _is_reading():
        raise AccessError("editing may not be opened while reading as somebody")
    with (
        transaction.atomic(),
        connection.cursor() as cursor,
        _settings(cursor, {"legalqa.scope": "all"}),
    ):
        yield


@contextmanager
def _settings(cursor: CursorWrapper, values: dict[str, str]) -> Iterator[None]:
    """Set the access settings for this block and put back what was there.

    SET LOCAL outlives the release of a savepoint, so leaving must restore by itself. After an
    error the savepoint's rollback has restored already, and the connection may be unusable.
    """
    selected = ", ".join(["current_setting(%s, true)"] * len(_KEYS))
    cursor.execute(f"select {selected}", _KEYS)
    row = cursor.fetchone() or ()
    before = {key: value or "" for key, value in zip(_KEYS, row, strict=True)}
    _set(cursor, dict.fromkeys(_KEYS, "") | values)
    yield
    _set(cursor, before)


def _set(cursor: CursorWrapper, values: dict[str, str]) -> None:
    values = values | {"role": values["role"] or "none"}
    calls = ", ".join(["set_config(%s, %s, true)"] * len(values))
    flat = [item for pair in values.items() for item in pair]
    cursor.execute(f"select {calls}", flat)


def _current(key: str) -> str:
    if not connection.in_atomic_block:
        return ""
    with connection.cursor() as cursor:
        cursor.execute("select coalesce(current_setting(%s, true), '')", [key])
        row = cursor.fetchone()
    return str(row[0]) if row else ""


def _is_reading() -> bool:
    return _current("role") == settings.READER_ROLE


def _is_switched() -> bool:
    return _is_reading() or _current("legalqa.scope") == "all"


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
class ReadableChunk:
    """One chunk as a reader sees it, with the gap before it if something is left out.

    `id` is internal and leaves no door; `text` is without what repeats the chunk before, and
    `start` is where it begins in the version's canonical text.
    """

    id: int
    public_id: UUID
    text: str
    start: int
    page: int | None
    kind: str
    is_after_gap: bool
    is_hosted: bool  # may be sent to a hosted model


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


def _assemble(reading: Reading, sections: QuerySet[Section]) -> list[ReadableSection]:
    by_section: dict[int, list[Chunk]] = {}
    rows = sections.select_related("version__policy").order_by("version_id", "ordinal")
    found = list(rows)
    chunks = Chunk.objects.filter(section__in=[s.pk for s in found]).order_by("ordinal")
    for chunk in chunks.defer("embedding"):
        by_section.setdefault(chunk.section_id, []).append(chunk)
    return [_readable(reading, s, by_section[s.pk]) for s in found if s.pk in by_section]


def _readable(reading: Reading, section: Section, chunks: list[Chunk]) -> ReadableSection:
    version = section.version
    first, last = effective_days(version)
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
        effective_to=_shown_end(reading, last),
        chunks=joined_chunks(chunks, reading.hosted_classes),
    )


def _shown_end(reading: Reading, last: date | None) -> date | None:
    """The last day, once it is past: one to come tells of the version that begins after it."""
    is_past = last is not None and last < reading.today
    return last if is_past or reading.reader.may_read_scheduled else None


def joined_chunks(chunks: list[Chunk], hosted: frozenset[int]) -> tuple[ReadableChunk, ...]:
    """The chunks of one section without their overlap, each marked when one before is missing."""
    joined = []
    before: Chunk | None = None
    for chunk in chunks:
        is_next = before is not None and chunk.ordinal == before.ordinal + 1
        skip = chunk.overlap if is_next else 0
        joined.append(
            ReadableChunk(
                id=chunk.pk,
                public_id=chunk.public_id,
                text=chunk.text[skip:],
                start=chunk.start + skip,
                page=chunk.pages[0] if chunk.pages else None,
                kind=chunk.kind,
                is_after_gap=before is not None and not is_next,
                is_hosted=chunk.access_class_id in hosted,
            )
        )
        before = chunk
    return tuple(joined)


def effective_days(version: PolicyVersion) -> tuple[date, date | None]:
    """The first and the last day in force; the last is None while no end is set."""
    effective: Any = version.effective
    upper = effective.upper
    return effective.lower, upper - timedelta(days=1) if upper else None


@dataclass(frozen=True, slots=True)
class Hit:
    """One candidate of the search: both scores, and its rank in each leg that listed it."""

    chunk_id: int
    section_id: int
    cosine: float | None
    bm25: float
    dense_rank: int | None
    lexical_rank: int | None
    matched: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Candidates:
    """Both legs' candidates and, per term of the question, how many readable chunks hold it."""

    is_empty: bool  # this reader can read nothing at all on this date
    hits: tuple[Hit, ...]
    document_frequency: dict[int, int]


def candidates(
    reading: Reading, vector: Sequence[float] | None, terms: Iterable[int]
) -> Candidates:
    """Both legs of the search in one statement, with this reader's rights.

    Args:
        reading: an open reading.
        vector: the question's, of length 1; None where no model reads its language.
        terms: hashed terms of the question.
    """
    text = "[" + ",".join(f"{x:.7g}" for x in vector) + "]" if vector is not None else None
    with connection.cursor() as cursor:
        cursor.execute(
            "select documents_retrieve(%s::halfvec, %s::int[], %s, %s)",
            [text, list(terms), settings.RETRIEVAL_DEPTH, settings.RETRIEVAL_EXACT_MAX_CHUNKS],
        )
        row = cursor.fetchone()
    found: dict[str, Any] = json.loads(row[0]) if isinstance(row[0], str) else row[0]
    return Candidates(
        is_empty=found["is_empty"],
        hits=tuple(_hit(hit) for hit in found["hits"]),
        document_frequency={int(term): int(df) for term, df in found["dfs"].items()},
    )


def _hit(row: dict[str, Any]) -> Hit:
    return Hit(
        chunk_id=row["chunk"],
        section_id=row["section"],
        cosine=row["cosine"],
        bm25=row["bm25"],
        dense_rank=row["dense_rank"],
        lexical_rank=row["lexical_rank"],
        matched=tuple(row["matched"]),
    )


def are_readable(reading: Reading, chunk_ids: Iterable[str]) -> bool:
    """Whether every one of these chunks is readable in this reading."""
    wanted = set(chunk_ids)
    return Chunk.objects.filter(public_id__in=wanted).count() == len(wanted)


def allowed_hosts() -> frozenset[str]:
    """The exact hosts that answers may name."""
    return frozenset(AllowedDomain.objects.values_list("host", flat=True))


def policies_awaiting_review(reading: Reading, slugs: Iterable[str]) -> frozenset[str]:
    """Which of these policies, as in force on the day of a reading, await review in part.

    Runs after the reading: the reader's role cannot see held passages. One under a label that
    the reader lacks, or of a version of another day, is not hinted at.
    """
    with editing():
        held = Chunk.objects.filter(
            state=Chunk.State.QUARANTINED,
            access_class__in=list(reading.classes),
            version__state="published",
            version__effective__contains=reading.as_of,
            version__policy__slug__in=list(slugs),
        )
        return frozenset(held.values_list("version__policy__slug", flat=True).distinct())


@dataclass(frozen=True, slots=True)
class VersionSummary:
    """Where a version stands, for staff and for the system itself."""

    state: str
    chunks: int
    held: int


def version_summary(version_id: int) -> VersionSummary:
    """Where a version stands and how many of its passages are in quarantine."""
    with editing():
        version = PolicyVersion.objects.get(pk=version_id)
        held = version.chunks.filter(state=Chunk.State.QUARANTINED).count()
        return VersionSummary(version.state, version.chunks.count(), held)


def manageable(user: User) -> QuerySet[Policy]:
    """The policies that a member of staff may manage: all for a superuser, else by department."""
    if not user.is_active or not user.is_staff:
        return Policy.objects.none()
    if user.is_superuser:
        return Policy.objects.all()
    departments = ManagedDepartment.objects.filter(user=user).values("department")
    return Policy.objects.filter(department__in=departments)


def managed_departments(user: User) -> frozenset[str]:
    """The departments whose policies a member of staff may manage; a superuser needs none."""
    if not user.is_active or not user.is_staff:
        return frozenset()
    found = ManagedDepartment.objects.filter(user=user)
    return frozenset(found.values_list("department", flat=True))
