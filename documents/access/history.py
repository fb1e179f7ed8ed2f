"""The versions of a policy that a reader may read, each on its own days.

A version is there when something of it is readable. One that begins after today is there for
those alone who may read ahead, so the gaps that a reader is told of are those between versions
that they may read: what lies in a gap is not hinted at.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from uuid import UUID

from django.db.models import Exists, OuterRef

from documents.access.door import Reader, Reading, editing, on_day, reading_as
from documents.access.passages import effective_days, past_ends
from documents.models import Chunk, Policy, PolicyVersion, VersionState


@dataclass(frozen=True, slots=True)
class VersionDays:
    """A readable version; `effective_to` is None while its reader may not know of an end.

    `id` is internal and leaves no door.
    """

    id: int
    public_id: UUID
    number: int
    language: str
    effective_from: date
    effective_to: date | None


@dataclass(frozen=True, slots=True)
class Gap:
    """A day without a version: the last day before it and the first after it, where known."""

    ended_on: date | None
    begins_on: date | None


@dataclass(frozen=True, slots=True)
class PolicyHistory:
    """A policy with its readable versions, the latest first."""

    slug: str
    title: str
    contact: str
    today: date
    versions: tuple[VersionDays, ...]

    def on(self, day: date) -> VersionDays | None:
        """The readable version in force on a day."""
        for version in self.versions:
            if version.effective_from <= day:
                last = version.effective_to
                return version if last is None or day <= last else None
        return None

    def gap_on(self, day: date) -> Gap | None:
        """What lies around a day on which no readable version is in force."""
        if self.on(day) is not None:
            return None
        ends = [v.effective_to for v in self.versions if v.effective_to and v.effective_to < day]
        begins = [v.effective_from for v in self.versions if v.effective_from > day]
        return Gap(max(ends, default=None), min(begins, default=None))


def history(reader: Reader, slug: str) -> PolicyHistory | None:
    """A policy with all versions of it that `reader` may read, on whatever day; None: nothing.

    A policy that is missing and one of which nothing may be read look alike.
    """
    with reading_as(reader) as reading:
        classes = reading.classes
    begun = _published(slug, classes)
    with reading_as(reader) as reading:
        found = [
            version
            for pk, first in begun
            if first <= reading.today or reader.may_read_scheduled
            for version in _readable_on(reading, pk, first)
        ]
        if not found:
            return None
        policy, _ = found[0]
        versions = sorted((days for _, days in found), key=lambda v: v.effective_from, reverse=True)
    return PolicyHistory(
        slug=policy.slug,
        title=policy.title,
        contact=policy.contact,
        today=reading.today,
        versions=tuple(versions),
    )


def _published(slug: str, classes: frozenset[int]) -> list[tuple[int, date]]:
    """The versions to be looked at with the reader's rights, and the day to do so.

    Those without a passage in one of their classes are left out here, so that a forbidden policy
    takes no more statements, and so no more time, than one that is not there.
    """
    if "\x00" in slug:
        return []  # out of an address; the database would not take it
    shown = Chunk.objects.filter(
        version=OuterRef("pk"), access_class__in=list(classes), effective_from__isnull=False
    )
    with editing():
        versions = PolicyVersion.objects.filter(
            Exists(shown), policy__slug=slug, state=VersionState.PUBLISHED
        )
        return [(version.pk, effective_days(version)[0]) for version in versions]


def _readable_on(reading: Reading, version_id: int, day: date) -> list[tuple[Policy, VersionDays]]:
    """The version, if row security shows it to this reader on that day."""
    with on_day(reading, day):
        found = Chunk.objects.filter(version=version_id).values_list(
            "version__public_id", "version__number", "version__language", "version__policy"
        )
        row = found.first()
        if row is None:
            return []
        policy = Policy.objects.defer("owner").get(pk=row[3])
        last = past_ends([version_id]).get(version_id)
        return [(policy, VersionDays(version_id, row[0], row[1], row[2], day, last))]
