"""Changing who may read a version or sections of it: what it would do, then doing it.

Narrowing works at once. Under four-eyes approval, what could let more people read a text that
was approved is proposed by one person and takes effect when another accepts it (ADR 0018).
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings

from documents import access, audit, labelling, lifecycle, readership
from documents.errors import ValidationProblem
from documents.models import (
    AccessLabel,
    AuditEvent,
    LabelProposal,
    PolicyVersion,
    Section,
    VersionState,
)

if TYPE_CHECKING:
    from django.contrib.auth.models import User

_APPROVED = (VersionState.INDEXING, VersionState.PUBLISHED)
D = LabelProposal.Decision


@dataclass(frozen=True, slots=True)
class Wanted:
    """Labels for a version, or for some of its sections; none for these: those of above."""

    version_id: int
    labels: tuple[str, ...]
    section_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class SectionEffect:
    """A section whose effective labels would change."""

    section_id: int  # 0: the version, which has no sections yet
    title: str
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Effect:
    """What a change would do. `seen` stands for all of it: a save names what was shown."""

    sections: tuple[SectionEffect, ...]
    gains: tuple[str, ...]  # user names
    losses: tuple[str, ...]
    unread: tuple[str, ...]  # titles of sections with text that nobody could read any more
    needs_second: bool  # another person has to accept it
    seen: str


def effect_of(wanted: Wanted) -> Effect:
    """What a change would do to whom, inside `editing`.

    Raises:
        UnknownLabelError: a label that does not exist.
        ValidationProblem: no audience label for the version, or a section of another version.
    """
    version = PolicyVersion.objects.select_related("policy", "detail").get(pk=wanted.version_id)
    before, after = _before_and_after(version, wanted)
    with_text = set(version.chunks.values_list("section_id", flat=True)) or before.keys()
    gains, losses, unread = _people(before, after, with_text)
    titles = _titles(version)
    changed = tuple(
        SectionEffect(pk, titles[pk], _slugs(before[pk]), _slugs(after[pk]))
        for pk in before
        if before[pk] != after[pk]
    )
    seen = repr((wanted, _snapshot(before), _snapshot(after), gains, losses, unread))
    return Effect(
        sections=changed,
        gains=gains,
        losses=losses,
        unread=tuple(titles[pk] for pk in unread),
        needs_second=_needs_second(version, before, after),
        seen=hashlib.sha256(seen.encode()).hexdigest(),
    )


def change(
    wanted: Wanted, *, actor: User | None, accepts_no_reader: bool = False
) -> LabelProposal | None:
    """Change labels at once, or propose it where another person has to accept.

    Args:
        wanted: the labels.
        actor: who changes them; None: the system, which needs no second person.
        accepts_no_reader: go on though nobody could read some of it any more.

    Returns:
        The proposal that waits; None when the change is in force.

    Raises:
        UnknownLabelError: a label that does not exist.
        ValidationProblem: no audience label, a section of another version, or nobody left who
            could read it.
    """
    with access.editing():
        version = lifecycle.lock(wanted.version_id)
        before, after = _before_and_after(version, wanted)
        if not accepts_no_reader:
            _require_reader(version, before, after)
        if actor is not None and _needs_second(version, before, after):
            return _propose(version, wanted, before, actor)
        _apply(version, wanted, actor=actor)
        return None


def _before_and_after(
    version: PolicyVersion, wanted: Wanted
) -> tuple[dict[int, readership.Labels], dict[int, readership.Labels]]:
    labels = access.require_labels(wanted.labels)
    before = labelling.effective_labels(version)
    if not wanted.section_ids:
        if not readership.audiences(labels):
            raise ValidationProblem(
                "Choose at least one audience label, or nobody could read it.", code="no_label"
            )
        after = labelling.effective_labels(version, of_version=labels)
        if not before:  # not read yet
            return {0: frozenset(version.labels.all())}, {0: frozenset(labels)}
        return before, after
    if not set(wanted.section_ids) <= before.keys():
        raise ValidationProblem(
            "A chosen section is not of this version: it was read again meanwhile. Choose anew.",
            code="unknown_section",
        )
    own = dict.fromkeys(wanted.section_ids, labels)
    return before, labelling.effective_labels(version, own=own)


def _people(
    before: dict[int, readership.Labels],
    after: dict[int, readership.Labels],
    with_text: Iterable[int],
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[int, ...]]:
    """Who gains and who loses something, by name, and the sections left without a reader."""
    gains, losses, read = [], [], set()
    pairs = {pk: (before[pk], after[pk]) for pk in with_text}
    for holder in readership.holders():
        admits = {
            labels: not readership.lack_of(holder, labels)
            for pair in set(pairs.values())
            for labels in pair
        }
        moves = {(admits[old], admits[new]) for old, new in pairs.values()}
        if (False, True) in moves:
            gains.append(holder.username)
        if (True, False) in moves:
            losses.append(holder.username)
        read |= {pk for pk, (_, new) in pairs.items() if admits[new]}
    unread = [pk for pk in after if pk in pairs and pk not in read and before[pk] != after[pk]]
    return tuple(gains), tuple(losses), tuple(unread)


def _require_reader(
    version: PolicyVersion,
    before: dict[int, readership.Labels],
    after: dict[int, readership.Labels],
) -> None:
    with_text = set(version.chunks.values_list("section_id", flat=True)) or before.keys()
    *_, unread = _people(before, after, with_text)
    if not unread:
        return
    titles = _titles(version)
    some = ", ".join(titles[pk] for pk in unread[:5])
    more = f" and {len(unread) - 5} more" if len(unread) > 5 else ""
    raise ValidationProblem(
        f"Nobody could read this any more: {some}{more}. Grant the labels to somebody first, or "
        "confirm that nobody is to read it.",
        code="no_reader",
    )


def _needs_second(
    version: PolicyVersion,
    before: dict[int, readership.Labels],
    after: dict[int, readership.Labels],
) -> bool:
    if settings.APPROVAL != "four-eyes" or version.state not in _APPROVED:
        return False
    return any(readership.is_wider(before[pk], after[pk]) for pk in before)


def _titles(version: PolicyVersion) -> dict[int, str]:
    rows = version.sections.values_list("pk", "number", "display_title")
    return {0: "the whole version"} | {
        pk: title if not number or title.startswith(number) else f"{number} {title}"
        for pk, number, title in rows
    }


def _slugs(labels: Iterable[AccessLabel]) -> tuple[str, ...]:
    return tuple(sorted(label.slug for label in labels))


def _snapshot(effective: dict[int, readership.Labels]) -> list[str]:
    return [f"{pk}:{','.join(_slugs(labels))}" for pk, labels in effective.items()]


def _apply(version: PolicyVersion, wanted: Wanted, *, actor: User | None) -> None:
    labels = access.require_labels(wanted.labels)
    targets = version.sections.filter(pk__in=wanted.section_ids) if wanted.section_ids else None
    for target in [version] if targets is None else targets:
        before = _slugs(target.labels.all())
        target.labels.set(labels)
        audit.record(
            "version_labels_changed" if targets is None else "section_labels_changed",
            target,
            actor=actor,
            before={"labels": list(before)},
            after={"labels": sorted(wanted.labels)},
        )
    labelling.relabel(version)


def _propose(
    version: PolicyVersion,
    wanted: Wanted,
    before: dict[int, readership.Labels],
    actor: User,
) -> LabelProposal:
    proposal = LabelProposal.objects.create(
        version=version,
        sections=list(wanted.section_ids),
        labels=sorted(wanted.labels),
        before=_snapshot(before),
        proposed_by=actor,
    )
    audit.record(
        "label_change_proposed", version, actor=actor, after=_as_recorded(proposal, wanted)
    )
    return proposal


def _as_recorded(proposal: LabelProposal, wanted: Wanted) -> dict[str, object]:
    sections = Section.objects.filter(pk__in=wanted.section_ids)
    return {
        "proposal": proposal.pk,
        "labels": sorted(wanted.labels),
        "sections": [str(public_id) for public_id in sections.values_list("public_id", flat=True)],
    }


def decide(proposal_id: int, *, accept: bool, actor: User) -> LabelProposal.Decision:
    """Accept a proposed change, which is then in force, or turn it down.

    The proposer may take it back, and nobody accepts their own. Where the labels have changed
    since, nothing is changed and it counts as stale.

    Raises:
        ValidationProblem: it is decided already, or the actor proposed it.
    """
    with access.editing():
        version_id = LabelProposal.objects.values_list("version_id", flat=True).get(pk=proposal_id)
        version = lifecycle.lock(version_id)
        proposal = LabelProposal.objects.select_for_update(of=("self",)).get(pk=proposal_id)
        if proposal.decision != D.PENDING:
            raise ValidationProblem("This change was decided already.", code="already_decided")
        is_own = proposal.proposed_by_id == actor.pk
        if accept and is_own:
            raise ValidationProblem(
                "You proposed this change: another person must accept it.", code="four_eyes"
            )
        wanted = Wanted(version_id, tuple(proposal.labels), tuple(proposal.sections))
        decision = D.TAKEN_BACK if is_own else D.REFUSED
        if accept:
            decision = _accept(version, proposal, wanted, actor)
        proposal.decision, proposal.decided_by = decision, actor
        proposal.decided_at = datetime.datetime.now(datetime.UTC)
        proposal.save(update_fields=["decision", "decided_by", "decided_at"])
        audit.record(
            f"label_change_{decision.value}",
            version,
            actor=actor,
            before={"proposed_by": str(proposal.proposed_by)},
            after=_as_recorded(proposal, wanted),
        )
        return decision


def _accept(
    version: PolicyVersion, proposal: LabelProposal, wanted: Wanted, actor: User
) -> LabelProposal.Decision:
    if proposal.before != _snapshot(labelling.effective_labels(version)):
        return D.STALE
    if version.state not in _APPROVED:
        return D.STALE
    _apply(version, wanted, actor=actor)
    return D.ACCEPTED


def last_labeller(version: PolicyVersion) -> int | None:
    """Who last changed the labels of a version or of a section of it; None: nobody yet."""
    sections = version.sections.values_list("public_id", flat=True)
    changes = AuditEvent.objects.filter(
        action__in=["version_labels_changed", "section_labels_changed"],
        object_id__in=[str(version.public_id), *map(str, sections)],
    )
    return changes.order_by("-pk").values_list("actor_id", flat=True).first()


def set_labels(wanted: Wanted, *, actor: User | None) -> None:
    """Change labels for the system's own steps: at once, whoever is left to read it."""
    with access.editing():
        version = lifecycle.lock(wanted.version_id)
        _before_and_after(version, wanted)
        _apply(version, wanted, actor=actor)


def sections_to_show(version: PolicyVersion) -> Sequence[tuple[Section, tuple[str, ...], bool]]:
    """The tree of a version: each section, its effective labels, and whether some are its own."""
    effective = labelling.effective_labels(version)
    rows = version.sections.prefetch_related("labels").order_by("ordinal")
    return [(row, _slugs(effective[row.pk]), bool(row.labels.all())) for row in rows]
