"""What staff may manage, and what the system says of versions outside any reading."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from documents.access.door import Reading, editing
from documents.models import AllowedDomain, Chunk, ManagedDepartment, Policy, PolicyVersion

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet


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


def manages_all(user: User, chunk_ids: Iterable[str]) -> bool:
    """Whether a member of staff manages every policy that these passages are of.

    A passage that is gone is of no policy: only a superuser manages that. Inside `editing`.
    """
    wanted = set(map(str, chunk_ids))
    if user.is_superuser:
        return True
    found = Chunk.objects.filter(public_id__in=wanted, version__policy__in=manageable(user))
    return found.count() == len(wanted)


def managed_departments(user: User) -> frozenset[str]:
    """The departments whose policies a member of staff may manage; a superuser needs none."""
    if not user.is_active or not user.is_staff:
        return frozenset()
    found = ManagedDepartment.objects.filter(user=user)
    return frozenset(found.values_list("department", flat=True))
