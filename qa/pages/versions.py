"""The history of a policy, what changed between two versions, and days without a version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from documents import access
from documents.access import Gap, PolicyHistory, Reader, VersionDays
from documents.ingestion.comparison import ChangeKind, ComparedSection, SectionChange
from qa.pages.shown import day, days

_KINDS: dict[ChangeKind, Promise] = {
    ChangeKind.UNCHANGED: _("Unchanged"),
    ChangeKind.RENUMBERED: _("Renumbered"),
    ChangeKind.CHANGED: _("Changed"),
    ChangeKind.MOVED: _("Moved"),
    ChangeKind.MOVED_AND_CHANGED: _("Moved and changed"),
    ChangeKind.SPLIT: _("Split"),
    ChangeKind.MERGED: _("Merged"),
    ChangeKind.ADDED: _("Added"),
    ChangeKind.REMOVED: _("Removed"),
}


@dataclass(frozen=True, slots=True)
class ShownVersionRow:
    """A version in the history; `changes_url` leads to what changed since the one before."""

    number: int
    days: str
    is_in_force: bool
    is_to_come: bool
    url: str
    changes_url: str


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """A policy with its versions, the latest first; `gap` says why a day has none."""

    title: str
    slug: str
    contact: str
    versions: tuple[ShownVersionRow, ...]
    gap: str = ""


@dataclass(frozen=True, slots=True)
class ShownPiece:
    """Words of a section: `kind` is same, added or removed."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class ShownHeading:
    """A section as it is called, with where it is read and what it lies under."""

    text: str
    path: str
    url: str


@dataclass(frozen=True, slots=True)
class ShownChange:
    """What became of one section; without a kind it is a gap."""

    kind: str = ""
    label: str = ""
    old: tuple[ShownHeading, ...] = ()
    new: tuple[ShownHeading, ...] = ()
    pieces: tuple[ShownPiece, ...] = ()
    is_reworded: bool = False


@dataclass(frozen=True, slots=True)
class ChangesPage:
    """What changed between two versions of a policy."""

    title: str
    slug: str
    older: ShownVersionRow
    newer: ShownVersionRow
    language: str
    changes: tuple[ShownChange, ...]
    summary: tuple[tuple[str, int], ...]
    is_unchanged: bool


def history_page(reader: Reader, slug: str, as_of: date | None = None) -> HistoryPage | None:
    """The versions that a reader may read, and why none of them is in force on a day.

    None: this reader may read none, or there is no such policy: both look alike.
    """
    found = access.history(reader, slug)
    if found is None:
        return None
    gap = found.gap_on(as_of or found.today)
    return HistoryPage(
        title=found.title,
        slug=found.slug,
        contact=found.contact,
        versions=_rows(found),
        gap=gap_text(found.title, as_of or found.today, gap) if gap else "",
    )


def gap_text(title: str, on: date, gap: Gap) -> str:
    """Why no version of a policy is in force on a day, as far as its reader may know."""
    words = {"title": title, "day": day(on)}
    said = [gettext("No version of %(title)s that you may read was in force on %(day)s.") % words]
    if gap.ended_on:
        said.append(gettext("The one before ended on %(day)s.") % {"day": day(gap.ended_on)})
    if gap.begins_on:
        said.append(gettext("The next begins on %(day)s.") % {"day": day(gap.begins_on)})
    return " ".join(said)


def _rows(found: PolicyHistory) -> tuple[ShownVersionRow, ...]:
    before = {newer.number: older for newer, older in pairwise(found.versions)}
    return tuple(_row(found, v, before.get(v.number)) for v in found.versions)


def _row(found: PolicyHistory, version: VersionDays, before: VersionDays | None) -> ShownVersionRow:
    on = version.effective_from.isoformat()
    return ShownVersionRow(
        number=version.number,
        days=days(version.effective_from, version.effective_to),
        is_in_force=found.on(found.today) == version,
        is_to_come=version.effective_from > found.today,
        url=f"{reverse('policy', args=[found.slug])}?as_of={on}",
        changes_url=reverse("policy-changes", args=[found.slug, before.number, version.number])
        if before
        else "",
    )


def changes_page(reader: Reader, slug: str, older: int, newer: int) -> ChangesPage | None:
    """What changed between two versions, or None where one of them may not be read."""
    found = access.readable_comparison(reader, slug, older, newer)
    if found is None:
        return None
    shown = [change for change in found.changes if change is not None]
    kinds = [(kind, sum(change.kind is kind for change in shown)) for kind in ChangeKind]
    return ChangesPage(
        title=found.history.title,
        slug=found.history.slug,
        older=_row(found.history, found.older, None),
        newer=_row(found.history, found.newer, None),
        language=found.newer.language,
        changes=tuple(_change(found, change) for change in found.changes),
        summary=tuple((str(_KINDS[kind]), n) for kind, n in kinds if n),
        is_unchanged=all(change.kind is ChangeKind.UNCHANGED for change in shown),
    )


def _change(found: access.ReadableComparison, change: SectionChange | None) -> ShownChange:
    if change is None:
        return ShownChange()
    is_plain = change.kind in (ChangeKind.UNCHANGED, ChangeKind.RENUMBERED, ChangeKind.MOVED)
    return ShownChange(
        kind=change.kind.value,
        label=str(_KINDS[change.kind]),
        old=_headings(found, change.old, found.older),
        new=_headings(found, change.new, found.newer),
        pieces=tuple(ShownPiece(p.kind.value, p.text) for p in change.pieces),
        is_reworded=not is_plain,
    )


def _headings(
    found: access.ReadableComparison, sections: Sequence[ComparedSection], version: VersionDays
) -> tuple[ShownHeading, ...]:
    on = version.effective_from.isoformat()
    return tuple(
        ShownHeading(
            text=section.heading or found.history.title,
            path=" › ".join(name for name in section.path[:-1] if name != found.history.title),
            url=f"{reverse('section', args=[found.sections[section.key]])}?as_of={on}",
        )
        for section in sections
    )
