"""Who may see the policies as another person does, of which policies, and the record of it."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING

from documents import access, audit
from documents.models import Policy

if TYPE_CHECKING:
    from django.contrib.auth.models import User

RIGHT = "documents.change_labelgrant"  # of administrators and superusers alone


def may_preview(user: User) -> bool:
    """Whether a person may see the policies as others do."""
    return user.is_active and user.is_staff and user.has_perm(RIGHT)


def slugs_of(user: User) -> frozenset[str] | None:
    """The policies that a preview may show to this person; None: all."""
    if user.is_superuser:
        return None
    with access.editing():
        return frozenset(access.manageable(user).values_list("slug", flat=True))


def record_start(person: User, *, by: User, until: datetime.datetime) -> None:
    """Write down that somebody begins to see the policies as `person` does."""
    after = {"as": person.get_username(), "until": until.isoformat()}
    audit.record("preview_started", person, actor=by, after=after)


def record_end(person: User, *, by: User) -> None:
    """Write down that it is over."""
    audit.record("preview_ended", person, actor=by, after={"as": person.get_username()})


def record_policy(slug: str, *, seen_as: User, by: User) -> None:
    """Write down which policy was looked at as whom."""
    with access.editing():
        policy = Policy.objects.filter(slug=slug).first()
        if policy is not None:
            after = {"as": seen_as.get_username()}
            audit.record("policy_previewed", policy, actor=by, after=after)
