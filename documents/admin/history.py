"""What the audit trail says of one object, or of a policy and all that hangs on it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import CharField, Model, Q, QuerySet
from django.db.models.functions import Cast
from django.http import HttpRequest

from documents.models import AuditEvent, Chunk, Finding, Policy, PolicyVersion, Section

_OF_A_POLICY = (
    (Policy, "pk", "public_id"),
    (PolicyVersion, "policy", "public_id"),
    (Section, "version__policy", "public_id"),
    (Chunk, "version__policy", "public_id"),
    (Finding, "version__policy", "pk"),
)
# That somebody read something is for auditors; who manages a policy sees what was changed.
_READING = Q(action="file_downloaded") | Q(action__contains="preview") | Q(action__endswith="_read")
_PER_PAGE = 50


def about(policies: QuerySet[Policy]) -> Q:
    """The events on these policies, their versions, sections, passages and findings."""
    found = Q(pk__in=[])
    for model, lookup, name in _OF_A_POLICY:
        ids = model._default_manager.filter(**{f"{lookup}__in": policies})
        texts = ids.annotate(shown_id=Cast(name, CharField())).values("shown_id")
        found |= Q(object_type=model._meta.model_name, object_id__in=texts)
    return found


def _about_one(obj: Model) -> Q:
    if isinstance(obj, Policy):
        return about(Policy.objects.filter(pk=obj.pk))
    own_id = str(getattr(obj, "public_id", obj.pk))
    return Q(object_type=obj._meta.model_name, object_id=own_id)


@dataclass(frozen=True, slots=True)
class Line:
    """An event as the history shows it."""

    event: AuditEvent
    changes: list[str]


def page_of(obj: Model, request: HttpRequest) -> Page[AuditEvent]:
    """A page of an object's history, newest first, as far as this person may see it."""
    events = AuditEvent.objects.filter(_about_one(obj)).order_by("-pk")
    if not request.user.has_perm("documents.view_auditevent"):
        events = events.exclude(_READING)
    return Paginator(events, _PER_PAGE).get_page(request.GET.get("p"))


def lines(page: Page[AuditEvent]) -> list[Line]:
    """The rows of a page."""
    return [Line(event, changes(event)) for event in page]


def changes(event: AuditEvent) -> list[str]:
    """What an event says of each field: before and after, or the one that there is."""
    before, after = event.before or {}, event.after or {}
    if not isinstance(before, dict) or not isinstance(after, dict):
        return [f"{_plain(event.before)} → {_plain(event.after)}"]
    return [_change(name, before, after) for name in {**before, **after}]


def _change(name: str, before: dict[str, Any], after: dict[str, Any]) -> str:
    shown = name.replace("_", " ")
    if name in before and name in after:
        return f"{shown}: {_plain(before[name])} → {_plain(after[name])}"
    if name in before:
        return f"{shown}: was {_plain(before[name])}"
    return f"{shown}: {_plain(after[name])}"


def _plain(value: object) -> str:
    if value is None or value in ("", []):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and all(isinstance(item, str | int) for item in value):
        return ", ".join(map(str, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
