"""The record of who did what: to read, for nobody to change.

What was done to a policy is shown to those who manage it; a type of object that is not named
here is shown to superusers alone.
"""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin
from django.db.models import CharField, Q, QuerySet
from django.db.models.functions import Cast
from django.http import HttpRequest

from documents import access
from documents.admin.base import StaffAdmin, staff
from documents.models import AuditEvent, Chunk, Finding, Policy, PolicyVersion, Section

_OF_NO_POLICY = (
    "accesslabel",
    "labelgrant",
    "alloweddomain",
    "manageddepartment",
    "user",
    "group",
    "apikey",
)
_OF_A_POLICY = (
    (Policy, "pk", "public_id"),
    (PolicyVersion, "policy", "public_id"),
    (Section, "version__policy", "public_id"),
    (Chunk, "version__policy", "public_id"),
    (Finding, "version__policy", "pk"),
)


class ActionFilter(admin.SimpleListFilter):
    """By what was done, offering what the person may see."""

    title = "action"
    parameter_name = "action"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """The kinds of acts on record."""
        rows = model_admin.get_queryset(request).order_by("action")
        return [(name, name) for name in rows.values_list("action", flat=True).distinct()]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[AuditEvent]
    ) -> QuerySet[AuditEvent]:
        """The acts of that kind."""
        return queryset.filter(action=self.value()) if self.value() else queryset


@admin.register(AuditEvent)
class AuditEventAdmin(StaffAdmin[AuditEvent]):
    """Acts on record, newest first."""

    list_display = ("at", "actor_name", "action", "object_type", "object_id", "address")
    list_filter = (ActionFilter, "at")
    search_fields = ("actor_name", "action", "object_id")
    fields = readonly_fields = (
        "at",
        "actor_name",
        "action",
        "object_type",
        "object_id",
        "shown_before",
        "shown_after",
        "address",
    )
    actions = None

    def get_queryset(self, request: HttpRequest) -> QuerySet[AuditEvent]:
        """What concerns no policy, and what concerns a managed one."""
        events = super().get_queryset(request)
        if staff(request).is_superuser:
            return events
        seen = Q(object_type__in=_OF_NO_POLICY)
        managed = access.manageable(staff(request))
        for model, lookup, name in _OF_A_POLICY:
            ids = model._default_manager.filter(**{f"{lookup}__in": managed})
            texts = ids.annotate(shown_id=Cast(name, CharField())).values("shown_id")
            seen |= Q(object_type=model._meta.model_name, object_id__in=texts)
        return events.filter(seen)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """The system alone writes."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: AuditEvent | None = None) -> bool:
        """Nobody rewrites the record; the database refuses, too."""
        return False

    @admin.display(description="before")
    def shown_before(self, event: AuditEvent) -> str:
        """What the changed fields held."""
        return _json(event.before)

    @admin.display(description="after")
    def shown_after(self, event: AuditEvent) -> str:
        """What they hold now."""
        return _json(event.after)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True) if value else "-"
