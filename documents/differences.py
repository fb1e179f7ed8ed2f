"""What a version would change, for staff and for the system: every passage takes part.

For readers there is `access.readable_comparison`, made of what they may read. All of this runs
inside `editing`.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Q

from documents import access, labelling, readership
from documents.hooks import Touched
from documents.ingestion.comparison import ChangeKind, Comparison, SectionChange, compare
from documents.models import Chunk, PolicyVersion, VersionState

_WORDS_STAY = (ChangeKind.UNCHANGED, ChangeKind.RENUMBERED, ChangeKind.MOVED, ChangeKind.ADDED)


@dataclass(frozen=True, slots=True)
class VersionChanges:
    """A version beside the one that it follows."""

    older: PolicyVersion
    newer: PolicyVersion
    comparison: Comparison


def predecessor(version: PolicyVersion) -> PolicyVersion | None:
    """The published version that this one takes the place of, or else the last before it.

    That is the one in force on its first day; before the first of all there is none.
    """
    others = version.policy.versions.filter(state=VersionState.PUBLISHED).exclude(pk=version.pk)
    first = access.effective_days(version)[0] if version.effective else access.today()
    begun = others.filter(effective__startswith__lte=first).order_by("-effective__startswith")
    return begun.first()


def changes_between(older: PolicyVersion, newer: PolicyVersion) -> VersionChanges:
    """What changed from one version to another, held passages included."""
    sides = [_sections(version) for version in (older, newer)]
    return VersionChanges(older, newer, compare(*sides))


def changes_of(version: PolicyVersion) -> VersionChanges | None:
    """What a version changes in the one that it follows; None where it follows none."""
    older = predecessor(version)
    return changes_between(older, version) if older is not None else None


def _sections(version: PolicyVersion) -> tuple[access.ComparedSection, ...]:
    chunks = access.chunks_by_section(
        Chunk.objects.filter(version=version).defer("embedding").order_by("ordinal")
    )
    return access.compared(version.sections.order_by("ordinal"), chunks)


def touched_by(changes: VersionChanges) -> Touched:
    """The sections of the older version whose words change or go, as the apps above know them."""
    keys = [int(one.key) for change in changes.comparison.changes for one in _reworded(change)]
    of_older = changes.older.sections.filter(pk__in=keys)
    chunks = Chunk.objects.filter(section__in=keys)
    return Touched(
        version_id=changes.newer.pk,
        policy_slug=changes.older.policy.slug,
        policy_title=changes.older.policy.title,
        older_number=changes.older.number,
        sections=frozenset(map(str, of_older.values_list("public_id", flat=True))),
        chunks=frozenset(map(str, chunks.values_list("public_id", flat=True))),
        words_before=tuple(
            one.text for change in changes.comparison.changes for one in _reworded(change)
        ),
        words_after=tuple(one.text for change in changes.comparison.changes for one in change.new),
    )


def _reworded(change: SectionChange) -> Iterator[access.ComparedSection]:
    if change.kind not in _WORDS_STAY:
        yield from change.old


def opened_sections(version: PolicyVersion) -> list[str]:
    """The sections that more people could read than the ones whose place they take.

    An annex may be closed to most readers of its policy. A new file of the policy knows nothing
    of that: its annex has the labels of the version until somebody gives it its own.
    """
    older = predecessor(version)
    if older is None or not older.sections.filter(labels__isnull=False).exists():
        return []
    before, after = labelling.effective_labels(older), labelling.effective_labels(version)
    of_older, of_newer = frozenset(older.labels.all()), frozenset(version.labels.all())
    opened = []
    for change in changes_between(older, version).comparison.changes:
        were = [before[int(one.key)] for one in change.old]
        closed = [labels for labels in were if labels != of_older]
        for one in change.new:
            now = after[int(one.key)]
            if now == of_newer and any(readership.is_wider(labels, now) for labels in closed):
                opened.append(one.heading)
    return opened


def days_told(version: PolicyVersion, today: datetime.date) -> list[str]:
    """What the days of a version do: to itself, and to the versions around it."""
    if version.effective is None:
        return ["It has no first day in force: set it first."]
    first, last = access.effective_days(version)
    published = version.policy.versions.filter(state=VersionState.PUBLISHED).exclude(pk=version.pk)
    told = [f"In force from {first}" + (f" to {last}." if last else ", without an end.")]
    if first > today:
        told.append(f"Scheduled: readers see it from {first} on, not before.")
    elif first < today:
        told.append("Dated back: what is asked about days since then is answered from it.")
    earlier = published.filter(effective__contains=first).first()
    if earlier is not None:
        begun, until = access.effective_days(earlier)
        ends = first - datetime.timedelta(days=1)
        then = f"instead of {until}" if until else "until now without an end"
        told.append(f"Version {earlier.number}, in force since {begun}, ends on {ends} ({then}).")
    later = published.filter(effective__startswith__gt=first).order_by("effective__startswith")
    following = later.filter(Q(effective__isnull=False)).first()
    if following is not None:
        begins = access.effective_days(following)[0]
        if last is None or last >= begins:
            ends = begins - datetime.timedelta(days=1)
            told.append(f"It ends on {ends}: version {following.number} begins the day after.")
    return told
