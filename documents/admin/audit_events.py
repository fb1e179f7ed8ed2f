"""The record of who did what: to read and to export, for nobody to change.

What was done to a policy is shown to those who manage it; a type of object that is not named
here is shown to superusers alone.
"""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Max, Q, QuerySet
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect, StreamingHttpResponse
from django.urls import URLPattern, path

from documents import access, audit
from documents.admin import audit_export, history
from documents.admin.audit_filters import (
    ActionFilter,
    DayFilter,
    ObjectFilter,
    PersonFilter,
    TypeFilter,
)
from documents.admin.base import StaffAdmin, staff
from documents.models import AuditEvent

_OF_NO_POLICY = (
    "accesslabel",
    "labelgrant",
    "alloweddomain",
    "manageddepartment",
    "user",
    "group",
    "apikey",
    "auditevent",
)
_SHOWN_CHANGES = 160  # characters in the list


@admin.register(AuditEvent)
class AuditEventAdmin(StaffAdmin[AuditEvent]):
    """Acts on record, newest first."""

    change_list_template = "admin/documents/auditevent/change_list.html"
    list_display = (
        "at",
        "actor_name",
        "action",
        "object_type",
        "object_id",
        "short_changes",
        "address",
    )
    list_filter = (DayFilter, PersonFilter, ObjectFilter, ActionFilter, TypeFilter)
    list_select_related = ("seal",)
    search_fields = ("actor_name", "action", "object_id")
    fields = readonly_fields = (
        "at",
        "actor_name",
        "action",
        "object_type",
        "object_id",
        "shown_changes",
        "shown_before",
        "shown_after",
        "address",
        "sealed",
    )
    actions = None
    show_full_result_count = False  # a second count of the whole record for every narrowed list

    def get_queryset(self, request: HttpRequest) -> QuerySet[AuditEvent]:
        """What concerns no policy, and what concerns a managed one."""
        events = super().get_queryset(request)
        if staff(request).is_superuser:
            return events
        may_read = request.user.has_perm("qa.read_questions")
        types = (*_OF_NO_POLICY, *(["questionrecord"] if may_read else []))
        managed = history.about(access.manageable(staff(request)))
        return events.filter(Q(object_type__in=types) | managed)

    def get_urls(self) -> list[URLPattern]:
        """Django's pages, and the export."""
        view = self.admin_site.admin_view(self.export_view)
        return [path("export/", view, name="documents_auditevent_export"), *super().get_urls()]

    def export_view(self, request: HttpRequest) -> HttpResponseBase:
        """The list as it is narrowed now, as CSV; that it was taken is on record first."""
        if request.method != "POST":
            return HttpResponseRedirect("..")
        if not self.has_view_permission(request):
            raise PermissionDenied
        events = self.get_changelist_instance(request).get_queryset(request).order_by()
        newest = events.aggregate(newest=Max("pk"))["newest"] or 0
        audit.record(
            "audit_exported",
            None,
            actor=staff(request),
            after={"filters": request.GET.dict(), "up_to_event": newest},
            object_type="auditevent",
        )
        return StreamingHttpResponse(
            audit_export.rows(events, up_to=newest),
            content_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": 'attachment; filename="audit.csv"'},
        )

    def has_add_permission(self, request: HttpRequest) -> bool:
        """The system alone writes."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: AuditEvent | None = None) -> bool:
        """Nobody rewrites the record; the database refuses, too."""
        return False

    @admin.display(description="changes")
    def short_changes(self, event: AuditEvent) -> str:
        """What changed, as far as a row has room."""
        text = "; ".join(history.changes(event))
        return text if len(text) <= _SHOWN_CHANGES else f"{text[:_SHOWN_CHANGES]}…"

    @admin.display(description="changes")
    def shown_changes(self, event: AuditEvent) -> str:
        """What changed, a field a line."""
        return "\n".join(history.changes(event)) or "-"

    @admin.display(description="before, as recorded")
    def shown_before(self, event: AuditEvent) -> str:
        """What the changed fields held."""
        return _json(event.before)

    @admin.display(description="after, as recorded")
    def shown_after(self, event: AuditEvent) -> str:
        """What they hold now."""
        return _json(event.after)

    @admin.display(description="place in the chain")
    def sealed(self, event: AuditEvent) -> str:
        """Its ordinal and hash, or that the sealer has not come by yet."""
        seal: Any = getattr(event, "seal", None)
        return f"{seal.ordinal}, {seal.chain_hash}" if seal else "not sealed yet"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True) if value else "-"
