"""What both lists of the quarantine have in common: the filter, the page and the decision."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from documents.admin.base import M, StaffAdmin
from documents.errors import DocumentsError

REVIEW = "documents.review_findings"


class DecisionForm(forms.Form):
    """What a reviewer decides, and why."""

    decision = forms.ChoiceField(
        choices=[("release", "Release to readers"), ("reject", "Reject")], widget=forms.RadioSelect
    )
    note = forms.CharField(
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Why. Kept on record.",
        error_messages={"required": "Say in a note why you decide so."},
    )


class WaitingFilter(admin.SimpleListFilter):
    """What awaits a decision, unless another choice is made."""

    title = "decision"
    parameter_name = "decided"
    field: ClassVar[str]
    waiting: ClassVar[str]

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """The choices beside the one that holds by itself."""
        return [("released", "Released"), ("rejected", "Rejected"), ("all", "All")]

    def choices(self, changelist: Any) -> Iterator[Any]:
        """The default is named for what it shows."""
        for i, choice in enumerate(super().choices(changelist)):
            yield choice | {"display": "Awaiting decision"} if i == 0 else choice

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """The chosen rows; an unknown choice shows none."""
        if self.value() == "all":
            return queryset
        return queryset.filter(**{self.field: self.value() or self.waiting})


class ReviewAdmin(StaffAdmin[M]):
    """Rows that wait for a person: a list, and a page on which to decide with a note."""

    actions = None

    def decide(self, request: HttpRequest, obj: M, *, release: bool, note: str) -> None:
        """Carry the decision out."""
        raise NotImplementedError

    def shown(self, obj: M) -> dict[str, Any]:
        """What the page shows of it."""
        raise NotImplementedError

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Rows come from ingestion."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        """No form saves a row: a decision is the one change."""
        return False

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """The list, under the name that reviewers know."""
        titled = {"title": self.menu_name, **(extra_context or {})}
        return super().changelist_view(request, titled)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """The row in its context; a post decides."""
        obj = self.get_object(request, unquote(object_id))
        if not self.has_view_permission(request, obj):
            raise PermissionDenied
        if obj is None:
            raise Http404
        may_decide = request.user.has_perm(REVIEW)
        if request.method == "POST" and not may_decide:
            raise PermissionDenied
        form = DecisionForm(request.POST if request.method == "POST" else None)
        if request.method == "POST" and form.is_valid() and self._decide(request, obj, form):
            return HttpResponseRedirect(self._list_address())
        return self._page(request, obj, form if may_decide else None)

    def _decide(self, request: HttpRequest, obj: M, form: DecisionForm) -> bool:
        is_released = form.cleaned_data["decision"] == "release"
        try:
            with transaction.atomic():
                self.decide(request, obj, release=is_released, note=form.cleaned_data["note"])
        except DocumentsError as error:
            form.add_error(None, error.message)
            return False
        messages.success(request, "It was released." if is_released else "It was rejected.")
        return True

    def _page(self, request: HttpRequest, obj: M, form: DecisionForm | None) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "media": self.media,
            "original": obj,
            "form": form,
            "list_name": self.menu_name,
            "list_address": self._list_address(),
            **self.shown(obj),
        }
        return TemplateResponse(request, "admin/documents/chunk/detail.html", context)

    def _list_address(self) -> str:
        return reverse(f"admin:documents_{self.opts.model_name}_changelist")
