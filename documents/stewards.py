"""What a member of staff may add to and look after from outside the admin.

A policy that they may not manage is never told apart from one that does not exist.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING
from uuid import UUID

from documents import access, actions, differences
from documents.errors import ValidationProblem
from documents.ingestion.names import title_from_name
from documents.models import Chunk, Policy, PolicyVersion, VersionState
from documents.records import Notice

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@dataclass(frozen=True, slots=True)
class Home:
    """Where an upload belongs: the policy's slug, and the department of a new policy."""

    policy_slug: str
    department: str


@dataclass(frozen=True, slots=True)
class VersionStatus:
    """Where a version stands, for whoever may manage its policy."""

    public_id: str
    policy_slug: str
    document: str
    number: int
    state: str
    effective_from: date | None
    effective_to: date | None
    labels: tuple[str, ...]
    chunk_count: int
    embedded_count: int
    waiting_for_review: int  # quarantined passages
    warnings: tuple[Notice, ...]
    failure: str


def home_of(user: User, *, policy_slug: str, title: str, file_name: str, department: str) -> Home:
    """Where an upload by `user` goes.

    A named policy must be one that they manage (a superuser may name a new one). Without a
    name it follows from the title; where another's policy has that name, the new one gets a
    slug of its own, so the name says nothing about what exists.

    Raises:
        ValidationProblem: no such policy, or a department that is not theirs.
    """
    with access.editing():
        managed = access.manageable(user)
        if policy_slug:
            if managed.filter(slug=policy_slug).exists():
                return Home(policy_slug, "")
            if not user.is_superuser:
                raise ValidationProblem(
                    f"You manage no policy {policy_slug}. Leave `policy` out to add a new one.",
                    code="unknown_policy",
                )
            return Home(policy_slug, department)
        slug = actions.slug_for(title or title_from_name(file_name))
        if managed.filter(slug=slug).exists():
            return Home(slug, "")
        own = department_for(user, department)
        if Policy.objects.filter(slug=slug).exists():
            slug = f"{slug[:110]}-{secrets.token_hex(4)}"
        return Home(slug, own)


def department_for(user: User, wanted: str) -> str:
    """The department of a new policy: what was asked for, else the only one that is theirs.

    Raises:
        ValidationProblem: it is not theirs, they have none, or one of several has to be named.
    """
    if user.is_superuser:
        return wanted
    own = sorted(access.managed_departments(user))
    if not own:
        raise ValidationProblem(
            "You look after no department yet: ask an administrator to give you one.",
            code="no_department",
        )
    if wanted and wanted not in own:
        raise ValidationProblem(
            f"You do not look after {wanted}. Choose: {', '.join(own)}.", code="unknown_department"
        )
    if not wanted and len(own) > 1:
        raise ValidationProblem(
            f"Name the department of the new policy: {', '.join(own)}.", code="department_missing"
        )
    return wanted or own[0]


def managed_version(user: User, public_id: UUID) -> int | None:
    """The internal id of a version of a policy that `user` manages; None when there is none."""
    with access.editing():
        found = PolicyVersion.objects.filter(
            public_id=public_id, policy__in=access.manageable(user)
        )
        return found.values_list("pk", flat=True).first()


def managed_version_numbered(user: User, slug: str, number: int) -> int | None:
    """The same by the number of a version."""
    policy_id = managed_policy(user, slug)
    if policy_id is None or number >= 2**31:
        return None
    with access.editing():
        found = PolicyVersion.objects.filter(policy=policy_id, number=number)
        return found.values_list("pk", flat=True).first()


def managed_policy(user: User, slug: str) -> int | None:
    """The internal id of a policy that `user` manages; None when there is none such."""
    if "\x00" in slug:
        return None
    with access.editing():
        return access.manageable(user).filter(slug=slug).values_list("pk", flat=True).first()


def version_status(user: User, public_id: UUID) -> VersionStatus | None:
    """A version of a policy that `user` manages; None when there is none such."""
    with access.editing():
        found = PolicyVersion.objects.filter(
            public_id=public_id, policy__in=access.manageable(user)
        ).select_related("policy", "detail")
        version = found.first()
        return _status(version, warnings_of(version, user)) if version is not None else None


def warnings_of(version: PolicyVersion, user: User) -> tuple[Notice, ...]:
    """What `user` should know about a version, inside `editing`.

    A policy that it nearly repeats is named only to those who may manage that one too: to
    others nothing tells that it exists.
    """
    stored = tuple(
        Notice(w["code"], w["message"], tuple(w.get("pages", ()))) for w in version.detail.warnings
    )
    return (*_opened(version), *_duplicates(version, user), *stored)


def _opened(version: PolicyVersion) -> Iterator[Notice]:
    """A warning while a section would open that was closed in the version before."""
    if version.state != VersionState.AWAITING_APPROVAL:
        return
    if opened := differences.opened_sections(version):
        yield Notice(
            "sections_opened",
            f"Closed in the version before, and open in this one: {', '.join(opened)}. Give these "
            "sections their labels before the version is approved.",
        )


def _duplicates(version: PolicyVersion, user: User) -> Iterator[Notice]:
    shares = {one["version"]: one["share"] for one in version.detail.near_duplicates}
    if not shares:
        return
    found = PolicyVersion.objects.filter(pk__in=shares, policy__in=access.manageable(user))
    for other in found.select_related("policy").order_by("policy__title", "number"):
        yield Notice(
            "suspected_duplicate",
            f"{shares[other.pk]:.0%} of the text is also in version {other.number} of "
            f"{other.policy.title}. If it is the same policy, reject this version and upload the "
            "file there.",
        )


def _status(version: PolicyVersion, warnings: tuple[Notice, ...]) -> VersionStatus:
    detail = version.detail
    has_days = version.effective is not None
    first, last = access.effective_days(version) if has_days else (None, None)
    return VersionStatus(
        public_id=str(version.public_id),
        policy_slug=version.policy.slug,
        document=version.policy.title,
        number=version.number,
        state=version.state,
        effective_from=first,
        effective_to=last,
        labels=tuple(sorted(label.slug for label in version.labels.all())),
        chunk_count=detail.chunk_count,
        embedded_count=detail.embedded_count,
        waiting_for_review=version.chunks.filter(state=Chunk.State.QUARANTINED).count(),
        warnings=warnings,
        failure=detail.failure,
    )
