"""What whoever approves a version should have looked at: the page behind *Approve*."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings

from documents import access, differences, hooks, readership, stewards
from documents.admin.readers import SEES_PEOPLE
from documents.hooks import Impact
from documents.ingestion.comparison import ChangeKind, SectionChange
from documents.models import Finding, PolicyVersion
from documents.records import Notice, Severity

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

_RULES = {
    "none": "Clean versions are published without approval; this one waits for a person.",
    "any": "Anyone with the right may approve it.",
    "four-eyes": "Another person than the uploader has to approve it.",
}


@dataclass(frozen=True, slots=True)
class Checklist:
    """All of it, for one version and whoever looks at it."""

    rule: str
    older: PolicyVersion | None
    changes: tuple[SectionChange, ...]
    counts: tuple[tuple[str, int], ...]
    days: tuple[str, ...]
    warnings: tuple[Notice, ...]
    findings: QuerySet[Finding]
    undecided: int
    readers: int  # people who could read something of it
    sees_people: bool
    opened: tuple[str, ...]
    impacts: tuple[Impact, ...]


def checklist_of(version: PolicyVersion, user: User) -> Checklist:
    """The checklist of a version; inside `editing`."""
    changes = differences.changes_of(version)
    found = changes.comparison.changes if changes else ()
    findings = version.findings.select_related("reviewer").order_by("start", "pk")
    blocking = findings.filter(severity=Severity.BLOCK.value)
    return Checklist(
        rule=_RULES[settings.APPROVAL],
        older=changes.older if changes else None,
        changes=tuple(change for change in found if change.kind is not ChangeKind.UNCHANGED),
        counts=_counts(found),
        days=tuple(differences.days_told(version, access.today())),
        warnings=stewards.warnings_of(version, user),
        findings=findings,
        undecided=blocking.filter(decision=Finding.Decision.PENDING).count(),
        readers=len(readership.readers_of(version, None, readership.holders()).readers),
        sees_people=user.has_perm(SEES_PEOPLE),
        opened=tuple(differences.opened_sections(version)),
        impacts=impacts_of(changes, user),
    )


def impacts_of(changes: differences.VersionChanges | None, user: User) -> tuple[Impact, ...]:
    """What publishing would touch in the apps above, as far as this person may see it."""
    if changes is None:
        return ()
    touched = differences.touched_by(changes)
    told = (hook(touched, user) for hook in hooks.impact_of)
    return tuple(impact for impact in told if impact is not None)


def _counts(changes: Sequence[SectionChange]) -> tuple[tuple[str, int], ...]:
    counted = [(kind, sum(change.kind is kind for change in changes)) for kind in ChangeKind]
    return tuple((kind.value.replace("_", " "), n) for kind, n in counted if n)
