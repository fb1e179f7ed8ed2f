"""Bulk uploads: many files or archives at once, and how far each of them is.

A person sees their own; a superuser sees all. The page shows what became of each file, and
links to the versions that they may manage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Count, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from documents import access, batches, lifecycle
from documents.admin.base import StaffAdmin, staff
from documents.admin.rows import shown_rows, status_of
from documents.admin.uploads import FilesField, UploadForm, field_of
from documents.errors import DocumentsError
from documents.models import BatchItem, PolicyVersion, UploadBatch, VersionState

if TYPE_CHECKING:
    from django.core.files.uploadedfile import UploadedFile

ITEMS_A_PAGE = 100


class BatchFilesField(FilesField):
    """Files and archives of any kind: each gets an outcome of its own."""

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile[Any]]:
        """The files.

        Raises:
            ValidationError: none is chosen.
        """
        given = [file for file in (data if isinstance(data, list | tuple) else [data]) if file]
        if not given:
            raise forms.ValidationError("Choose at least one file or archive.")
        return given


class BatchForm(UploadForm):
    """Files and archives, with what holds for all of them."""

    file = BatchFilesField(
        label="Files",
        help_text="Up to 100 files, or ZIP archives of a folder for more. Each file becomes a "
        "policy, named after its folder and file, or the next version of the one that it became.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("policy", "title"):
            del self.fields[name]
        self.fields["effective_from"].help_text = "Empty: the day on which each is taken."

    def receive(self) -> UploadBatch | None:
        """Keep the files; None where nothing could be taken, which is then an error of the form."""
        given = self.cleaned_data
        terms = batches.Terms(
            labels=tuple(label.slug for label in given["labels"]),
            department=given["department"],
            effective_from=given["effective_from"],
            effective_to=given["effective_to"],
            publish=given.get("publish", False),
        )
        files = [
            batches.HandedIn(file.name or "", file.file, file.size or 0) for file in given["file"]
        ]
        try:
            return batches.receive(files, terms, actor=self.user)
        except DocumentsError as error:
            name = field_of(error.code)
            self.add_error(name if name in self.fields else None, error.message)
            return None


@admin.register(UploadBatch)
class UploadBatchAdmin(StaffAdmin[UploadBatch]):
    """The bulk uploads of a person."""

    menu_name = "Bulk uploads"
    list_display = ("name", "created_by", "created_at", "progress")
    list_select_related = ("created_by",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[UploadBatch]:
        """One's own, with how many files are decided on."""
        rows = super().get_queryset(request)
        if not staff(request).is_superuser:
            rows = rows.filter(created_by=staff(request))
        waiting = Q(items__outcome=BatchItem.Outcome.WAITING)
        return rows.annotate(files=Count("items"), waiting=Count("items", filter=waiting))

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Whether the index lists it."""
        return self.has_add_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: UploadBatch | None = None) -> bool:
        """Whether it is shown."""
        return self.has_add_permission(request) and (
            obj is None or staff(request).is_superuser or obj.created_by_id == staff(request).pk
        )

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Whoever may upload a version may upload many."""
        return request.user.has_perm(batches.ADD)

    def has_change_permission(self, request: HttpRequest, obj: UploadBatch | None = None) -> bool:
        """No form changes what was handed in."""
        return False

    @admin.display(description="progress")
    def progress(self, batch: Any) -> str:
        """How many files are decided on."""
        return f"{batch.files - batch.waiting} of {batch.files} files taken"

    def get_urls(self) -> list[URLPattern]:
        """Django's pages, and where a batch stands."""
        view = self.admin_site.admin_view(self.status_view)
        name = "documents_uploadbatch_status"
        return [path("<int:object_id>/status/", view, name=name), *super().get_urls()]

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Take files and archives."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        if request.method != "POST":
            form = BatchForm(user=staff(request))
            return self._page(request, "upload.html", "Bulk upload", {"form": form})
        form = BatchForm(request.POST, request.FILES, user=staff(request))
        batch = form.receive() if form.is_valid() else None
        if batch is None:
            return self._page(request, "upload.html", "Bulk upload", {"form": form})
        messages.success(request, f"Received {batch.name}: its files are taken one by one.")
        return HttpResponseRedirect(reverse("admin:documents_uploadbatch_change", args=[batch.pk]))

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """What became of each file; read-only."""
        batch = self.get_object(request, unquote(object_id))
        if not self.has_view_permission(request, batch) or request.method == "POST":
            raise PermissionDenied
        if batch is None:
            raise Http404
        items = batch.items.order_by("ordinal")
        outcome = request.GET.get("outcome", "")
        if outcome in BatchItem.Outcome.values:
            items = items.filter(outcome=outcome)
        page = Paginator(items, ITEMS_A_PAGE).get_page(request.GET.get("files"))
        context = {
            "original": batch,
            "counts": _counts(batch),
            "outcome": outcome,
            "items": page,
            "rows": _rows(request, list(page)),
        }
        return self._page(request, "detail.html", str(batch), context)

    def status_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """How many files are decided on and how far their versions are, as JSON."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        batch = self.get_queryset(request).filter(pk=object_id).first()
        if batch is None:
            raise Http404
        return JsonResponse(_counts(batch))

    def _page(
        self, request: HttpRequest, name: str, title: str, context: dict[str, Any]
    ) -> HttpResponse:
        shared = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": title,
            "media": self.media,
            "most_files": settings.MAX_BATCH_FILES,
            "has_view_permission": self.has_view_permission(request),
        }
        template = f"admin/documents/uploadbatch/{name}"
        return TemplateResponse(request, template, shared | context)

    class Media:
        js = ("documents/progress.js", "documents/batch.js")


def _counts(batch: UploadBatch) -> dict[str, Any]:
    """How many files are where; a file that was received counts by the state of its version."""
    by_outcome = dict(batch.items.order_by().values_list("outcome").annotate(n=Count("pk")))
    taken = batch.items.filter(outcome=BatchItem.Outcome.RECEIVED).order_by()
    by_state = dict(taken.values_list("version__state").annotate(n=Count("pk")))
    moving = sum(by_state.get(state, 0) for state in lifecycle.MOVING)
    waiting = by_outcome.get(BatchItem.Outcome.WAITING, 0)
    return {
        "files": sum(by_outcome.values()),
        "waiting": waiting,
        "decided": sum(by_outcome.values()) - waiting,
        "moving": moving,
        "is_moving": bool(waiting or moving),
        "problem": batch.problem,
        "outcomes": [
            {"name": name, "label": label, "count": by_outcome[name]}
            for name, label in BatchItem.Outcome.choices
            if by_outcome.get(name)
        ],
        "states": [
            {"name": name, "label": label, "count": by_state[name]}
            for name, label in VersionState.choices
            if by_state.get(name)
        ],
    }


def _rows(request: HttpRequest, items: list[BatchItem]) -> list[dict[str, Any]]:
    """The files with their versions, as far as this person may manage those."""
    wanted = [item.version_id for item in items if item.version_id]
    managed = PolicyVersion.objects.filter(
        pk__in=wanted, policy__in=access.manageable(staff(request))
    )
    versions = {version.pk: version for version in shown_rows(managed)}
    return [
        {
            "item": item,
            "version": versions.get(item.version_id or 0),
            "status": status_of(versions[item.version_id]) if item.version_id in versions else None,
        }
        for item in items
    ]
