"""Versions: how far each is, what it holds, and what may be done with it.

Pages only show; every change is an act (`acts.py`) or an upload, so a forged form has nothing
to save into.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.http import content_disposition_header
from django.utils.safestring import SafeString

from documents import audit, differences, stewards
from documents.admin import acts
from documents.admin.base import OfPolicy, StaffAdmin, staff
from documents.admin.checklist import checklist_of, impacts_of
from documents.admin.readers import SEES_PEOPLE, ReadersPages
from documents.admin.rows import days_shown, named, shown_rows, status_of, suggestions_of
from documents.admin.uploads import UploadForm, message_of
from documents.errors import DocumentsError
from documents.ingestion import store
from documents.models import Finding, PolicyVersion

CHUNKS_A_PAGE = 50
MAX_POLLED = 100


@admin.register(PolicyVersion)
class PolicyVersionAdmin(ReadersPages, StaffAdmin[PolicyVersion]):
    """The versions of the policies that a person manages."""

    policy_lookup = "policy"
    list_display = (
        "document",
        "number",
        "progress",
        "in_force",
        "label_list",
        "warnings",
        "in_quarantine",
        "created_at",
    )
    list_display_links = ("document", "number")
    list_filter = (OfPolicy, "state")
    ordering = ("-created_at",)
    search_fields = ("policy__title", "policy__slug")
    actions = ("approve_selected", "retry_selected")

    def get_queryset(self, request: HttpRequest) -> QuerySet[PolicyVersion]:
        """The managed versions, with what a row shows."""
        return shown_rows(super().get_queryset(request))

    def has_change_permission(self, request: HttpRequest, obj: PolicyVersion | None = None) -> bool:
        """No form saves a version."""
        return False

    def has_approve_permission(self, request: HttpRequest) -> bool:
        """Whether the bulk action is offered."""
        return request.user.has_perm(acts.APPROVE)

    def has_retry_permission(self, request: HttpRequest) -> bool:
        """Whether the bulk action is offered."""
        return request.user.has_perm(acts.CHANGE)

    @admin.display(description="policy", ordering="policy__title")
    def document(self, version: PolicyVersion) -> str:
        """The policy's title."""
        return version.policy.title

    @admin.display(description="state", ordering="state")
    def progress(self, version: PolicyVersion) -> SafeString:
        """State, bar and failure, which the script keeps up to date."""
        return render_to_string(
            "admin/documents/policyversion/_progress.html", {"status": status_of(version)}
        )

    @admin.display(description="in force", ordering="effective")
    def in_force(self, version: PolicyVersion) -> str:
        """The days in force."""
        return days_shown(version)

    @admin.display(description="labels")
    def label_list(self, version: PolicyVersion) -> str:
        """The labels of the version."""
        return ", ".join(label.slug for label in version.labels.all()) or "none"

    @admin.display(description="warnings")
    def warnings(self, version: PolicyVersion) -> int:
        """How many warnings reading it gave."""
        return len(version.detail.warnings)

    @admin.display(description="in quarantine", ordering="waiting")
    def in_quarantine(self, version: Any) -> int:
        """How many passages await a decision."""
        return int(version.waiting)

    @admin.action(permissions=["approve"], description="Approve selected versions")
    def approve_selected(self, request: HttpRequest, queryset: QuerySet[PolicyVersion]) -> None:
        """Approve each; what cannot be is named with its reason."""
        self._act_on_each(request, queryset, acts.ACTS["approve"])

    @admin.action(permissions=["retry"], description="Try selected versions again")
    def retry_selected(self, request: HttpRequest, queryset: QuerySet[PolicyVersion]) -> None:
        """Retry each; what cannot be is named with its reason."""
        self._act_on_each(request, queryset, acts.ACTS["retry"])

    def _act_on_each(
        self, request: HttpRequest, versions: QuerySet[PolicyVersion], act: acts.Act
    ) -> None:
        for version in versions:
            if act.is_allowed(staff(request), version):
                self._act(request, version, act, {})
            else:
                messages.error(request, f"{named(version)}: you may not do this.")

    def _act(
        self, request: HttpRequest, version: PolicyVersion, act: acts.Act, given: dict[str, Any]
    ) -> DocumentsError | None:
        try:
            with transaction.atomic():
                act.run(version, given, staff(request))
        except DocumentsError as error:
            messages.error(request, f"{named(version)}: {error.message}")
            return error
        messages.success(request, f"{named(version)} was {act.done}.")
        return None

    def get_urls(self) -> list[URLPattern]:
        """Django's pages, and ours for acts, files and status."""
        own: list[tuple[str, Callable[..., HttpResponse], str]] = [
            ("status/", self.status_view, "status"),
            ("<int:object_id>/file/", self.file_view, "file"),
            ("<int:object_id>/do/<slug:name>/", self.act_view, "act"),
            ("<int:object_id>/changes/<int:older>/", self.changes_view, "changes"),
        ]
        return [
            path(route, self.admin_site.admin_view(view), name=f"documents_policyversion_{name}")
            for route, view, name in own
        ] + [*self.reader_urls(), *super().get_urls()]

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Take files as versions."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        if request.method == "POST":
            form = UploadForm(request.POST, request.FILES, user=staff(request))
            received = form.take() if form.is_valid() else []
            if received:
                for one in received:
                    level = messages.WARNING if one.is_duplicate else messages.SUCCESS
                    messages.add_message(request, level, message_of(one))
                return self._after_upload(request, [one.version_id for one in received])
        else:
            policy = request.GET.get("policy", "")
            form = UploadForm(
                user=staff(request), initial={"policy": policy} if policy.isdecimal() else {}
            )
        return self._page(request, "upload.html", "Upload", {"form": form})

    def _after_upload(self, request: HttpRequest, version_ids: list[int]) -> HttpResponse:
        if not self.has_view_permission(request):
            return HttpResponseRedirect(reverse("admin:documents_policyversion_add"))
        if len(version_ids) == 1:
            return HttpResponseRedirect(_address("change", version_ids[0]))
        return HttpResponseRedirect(reverse("admin:documents_policyversion_changelist"))

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """All that a version holds; read-only."""
        version = self.get_object(request, unquote(object_id))
        if not self.has_view_permission(request, version) or request.method == "POST":
            raise PermissionDenied
        if version is None:
            raise Http404
        chunks = version.chunks.defer("embedding").select_related("section").order_by("ordinal")
        return self._page(
            request,
            "detail.html",
            str(version),
            {
                "original": version,
                "status": status_of(version),
                "days": days_shown(version),
                "sees_people": request.user.has_perm(SEES_PEOPLE),
                "acts": acts.open_to(staff(request), version),
                "sections": version.sections.prefetch_related("labels").order_by("ordinal"),
                "chunks": Paginator(chunks, CHUNKS_A_PAGE).get_page(request.GET.get("chunks")),
                "findings": _findings(version),
                "warnings": stewards.warnings_of(version, staff(request)),
                "suggestions": suggestions_of(version),
                "pages": version.pages.filter(ocr_confidence__isnull=False),
                "others": version.policy.versions.exclude(pk=version.pk).order_by("-number"),
            },
        )

    def act_view(self, request: HttpRequest, object_id: int, name: str) -> HttpResponse:
        """Ask for what an act needs, then do it."""
        version, act = self._managed(request, object_id), acts.ACTS.get(name)
        if act is None:
            raise Http404
        if not act.is_allowed(staff(request), version):
            raise PermissionDenied
        if act.page != "act":
            return HttpResponseRedirect(_address(act.page, version.pk))
        given = (request.POST, request.FILES) if request.method == "POST" else (None, None)
        form = act.form(*given, version=version)
        if request.method == "POST" and form.is_valid():
            error = self._act(request, version, act, form.cleaned_data)
            if error is None and act.is_last:
                return HttpResponseRedirect(reverse("admin:documents_policyversion_changelist"))
            if error is None or not form.fields:
                return HttpResponseRedirect(_address("change", version.pk))
            form.add_error(None, error.message)
        return self._page(
            request,
            "act.html",
            f"{act.label}: {version}",
            {
                "original": version,
                "act": act,
                "form": form,
                "days": days_shown(version),
                "checklist": checklist_of(version, staff(request)) if act.has_checklist else None,
            },
        )

    def changes_view(self, request: HttpRequest, object_id: int, older: int) -> HttpResponse:
        """What changed in a version from another of the same policy, held passages included."""
        version = self._managed(request, object_id)
        other = version.policy.versions.filter(number=older).first() if older < 2**31 else None
        if other is None:
            raise Http404
        found = differences.changes_between(other, version)
        return self._page(
            request,
            "changes.html",
            f"Changes from version {other.number} to {version.number}",
            {
                "original": version,
                "older": other,
                "changes": found.comparison.changes,
                "is_unchanged": found.comparison.is_empty,
                "impacts": impacts_of(found, staff(request)),
            },
        )

    def file_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """The original file, as an attachment that no browser interprets."""
        version = self._managed(request, object_id)
        try:
            data = store.load(settings.FILES_DIR, version.detail.file_sha256)
        except FileNotFoundError:
            messages.error(request, "The original file is missing or was altered on disk.")
            return HttpResponseRedirect(_address("change", version.pk))
        audit.record("file_downloaded", version, actor=staff(request))
        disposition = content_disposition_header(True, version.detail.file_name) or "attachment"
        return HttpResponse(
            data,
            content_type="application/octet-stream",
            headers={"Content-Disposition": disposition, "X-Content-Type-Options": "nosniff"},
        )

    def status_view(self, request: HttpRequest) -> HttpResponse:
        """Where the named versions stand, as JSON; what one may not see is left out."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        wanted = [one for one in map(_uuid, request.GET.getlist("version")[:MAX_POLLED]) if one]
        rows = self.get_queryset(request).filter(public_id__in=wanted)
        return JsonResponse({"versions": [status_of(row) for row in rows]})

    def _managed(self, request: HttpRequest, object_id: int) -> PolicyVersion:
        if not self.has_view_permission(request):
            raise PermissionDenied
        version = self.get_queryset(request).filter(pk=object_id).first()
        if version is None:
            raise Http404
        return version

    def _page(
        self, request: HttpRequest, name: str, title: str, context: dict[str, Any]
    ) -> HttpResponse:
        shared = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": title,
            "media": self.media,
            "has_view_permission": self.has_view_permission(request),
        }
        template = f"admin/documents/policyversion/{name}"
        return TemplateResponse(request, template, shared | context)

    class Media:
        js = ("documents/progress.js",)


def _address(page: str, version_id: int) -> str:
    return reverse(f"admin:documents_policyversion_{page}", args=[version_id])


def _findings(version: PolicyVersion) -> QuerySet[Finding]:
    pending = Q(decision=Finding.Decision.PENDING)
    return (
        version.findings.select_related("chunk", "reviewer")
        .order_by("start", "pk")
        .annotate(is_pending=pending)
    )


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
