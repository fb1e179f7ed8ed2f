"""Who may read what, and why: the rule of `access` told in words, for those who grant labels.

Nothing is decided here. What a reading returns is decided by the database; this repeats the
rule over the same rows, and a test compares the two over random worlds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth import get_user_model

from documents import access, labelling
from documents.models import AccessLabel, Chunk, LabelGrant, PolicyVersion, Section, VersionState

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

Labels = frozenset[AccessLabel]


@dataclass(frozen=True, slots=True)
class Holder:
    """A person and where each of their labels comes from."""

    user_id: int
    username: str
    sources: Mapping[str, tuple[str, ...]]  # label slug: how it is held
    is_active: bool = True

    @property
    def held(self) -> frozenset[str]:
        """The slugs of the labels in force for this person: none, once the account is disabled."""
        return frozenset(self.sources) if self.is_active else frozenset()


@dataclass(frozen=True, slots=True)
class Lack:
    """What stands between a person and a text; nothing of it: they may read."""

    is_disabled: bool = False
    one_of: tuple[str, ...] = ()  # audiences, of which one would do
    all_of: tuple[str, ...] = ()  # restrictions that are not held
    has_no_audience: bool = False  # nobody can read it

    def __bool__(self) -> bool:
        return bool(self.is_disabled or self.one_of or self.all_of or self.has_no_audience)

    @property
    def reason(self) -> str:
        """The same in words; empty when nothing is lacking."""
        told = []
        if self.is_disabled:
            told.append("the account is disabled")
        if self.has_no_audience:
            told.append("it has no audience label, so nobody can read it")
        if self.one_of:
            told.append(f"lacks the audience {' or '.join(self.one_of)}")
        if self.all_of:
            told.append(f"lacks {' and '.join(self.all_of)}")
        return "; ".join(told)


def audiences(labels: Iterable[AccessLabel]) -> frozenset[str]:
    """The slugs of the audiences among labels."""
    return frozenset(one.slug for one in labels if one.role == AccessLabel.Role.AUDIENCE)


def restrictions(labels: Iterable[AccessLabel]) -> frozenset[str]:
    """The slugs of the restrictions among labels."""
    return frozenset(one.slug for one in labels if one.role != AccessLabel.Role.AUDIENCE)


def lack_of(holder: Holder, labels: Iterable[AccessLabel]) -> Lack:
    """What a person lacks to read a text under these labels."""
    marks = frozenset(labels)
    open_to, closed_by = audiences(marks), restrictions(marks)
    held = frozenset(holder.sources)
    return Lack(
        is_disabled=not holder.is_active,
        one_of=() if open_to & held else tuple(sorted(open_to)),
        all_of=tuple(sorted(closed_by - held)),
        has_no_audience=not open_to,
    )


def is_wider(before: Labels, after: Labels) -> bool:
    """Whether labels could admit somebody whom those before did not, whoever holds them now.

    What has everyone's label as an audience admits no more people by any other one.
    """
    is_open = bool(settings.EVERYONE_LABEL) and settings.EVERYONE_LABEL in audiences(before)
    more = frozenset() if is_open else audiences(after) - audiences(before)
    fewer = restrictions(before) - restrictions(after)
    return bool(more or fewer)


def holders(people: QuerySet[User] | None = None) -> list[Holder]:
    """People (default: everyone with an active account) with their labels, by user name."""
    if people is None:
        people = get_user_model().objects.filter(is_active=True)
    rows = list(people.order_by("username").values_list("pk", "username", "is_active"))
    ids = [pk for pk, _, _ in rows]
    sources: dict[int, dict[str, list[str]]] = {pk: {} for pk in ids}
    own = LabelGrant.objects.filter(user__in=ids).order_by("label__slug")
    for pk, slug in own.values_list("user_id", "label__slug"):
        sources[pk].setdefault(slug, []).append("granted to the person")
    by_group = LabelGrant.objects.filter(group__user__in=ids).order_by("label__slug", "group__name")
    for pk, slug, group in by_group.values_list("group__user", "label__slug", "group__name"):
        sources[pk].setdefault(slug, []).append(f"by the group {group}")
    if settings.EVERYONE_LABEL:
        for pk in ids:
            sources[pk].setdefault(settings.EVERYONE_LABEL, []).append("everyone signed in has it")
    return [
        Holder(pk, name, {slug: tuple(via) for slug, via in sorted(sources[pk].items())}, is_active)
        for pk, name, is_active in rows
    ]


def holder_of(user: User) -> Holder:
    """One person with their labels."""
    return holders(get_user_model().objects.filter(pk=user.pk))[0]


@dataclass(frozen=True, slots=True)
class PolicyReach:
    """How much of a version one person may read, and what stands in the way of the rest."""

    version_id: int
    title: str
    number: int
    first_day: date
    last_day: date | None
    is_in_force: bool
    readable: int  # sections with passages
    total: int
    held_back: int  # passages in quarantine or rejected: nobody reads them
    labels: tuple[str, ...]
    reasons: tuple[str, ...]  # of the sections that may not be read


def reach_of(holder: Holder, viewer: User) -> list[PolicyReach]:
    """What a person may read of the policies that `viewer` manages, by title; inside `editing`."""
    versions = PolicyVersion.objects.filter(
        policy__in=access.manageable(viewer), state=VersionState.PUBLISHED
    ).select_related("policy")
    today = access.today()
    found = [_reach(holder, version, today) for version in versions.prefetch_related("labels")]
    return sorted(found, key=lambda reach: (reach.title.casefold(), -reach.number))


def _reach(holder: Holder, version: PolicyVersion, today: date) -> PolicyReach:
    first, last = access.effective_days(version)
    lacks = [lack_of(holder, labels) for labels in sections_with_text(version).values()]
    shown = Chunk.State.READY, Chunk.State.RELEASED
    return PolicyReach(
        version_id=version.pk,
        title=version.policy.title,
        number=version.number,
        first_day=first,
        last_day=last,
        is_in_force=first <= today and (last is None or today <= last),
        readable=sum(not lack for lack in lacks),
        total=len(lacks),
        held_back=version.chunks.exclude(state__in=shown).count(),
        labels=tuple(sorted(label.slug for label in version.labels.all())),
        reasons=tuple(sorted({lack.reason for lack in lacks if lack})),
    )


def sections_with_text(version: PolicyVersion) -> dict[int, Labels]:
    """The effective labels of those sections of a version that hold passages, in order."""
    with_text = set(version.chunks.values_list("section_id", flat=True))
    effective = labelling.effective_labels(version)
    return {pk: labels for pk, labels in effective.items() if pk in with_text}


@dataclass(frozen=True, slots=True)
class Readership:
    """Who may read a version or one section of it, and who may not, each with the reason."""

    readers: tuple[tuple[Holder, str], ...]  # with how they come by it
    others: tuple[tuple[Holder, str], ...]  # with what they lack


def readers_of(
    version: PolicyVersion, section: Section | None, people: Iterable[Holder]
) -> Readership:
    """Who of `people` may read something of a version, or of a section; inside `editing`."""
    reached = sections_with_text(version)
    if section is not None:
        reached = {section.pk: labelling.effective_labels(version)[section.pk]}
    readers, others = [], []
    for holder in people:
        lacks = {labels: lack_of(holder, labels) for labels in set(reached.values())}
        open_ = [labels for labels, lack in lacks.items() if not lack]
        if open_:
            readers.append((holder, _how(holder, open_)))
        else:
            reasons = sorted({lack.reason for lack in lacks.values()})
            others.append((holder, "; or ".join(reasons) or "it holds no passage"))
    return Readership(tuple(readers), tuple(others))


def _how(holder: Holder, reached: Iterable[Labels]) -> str:
    """By which labels a person reads, and where these come from."""
    slugs = {one.slug for labels in reached for one in labels if one.slug in holder.sources}
    return "; ".join(f"{slug}: {', '.join(holder.sources[slug])}" for slug in sorted(slugs))
