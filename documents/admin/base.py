"""What every page of the admin has in common: whose rows it shows, and the audit of changes.

A member of staff sees the policies of their departments and what belongs to them; a row of
another department looks like one that does not exist. Nothing that readers may have been
quoted is deleted here.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from documents import access, audit
from documents.admin import history

if TYPE_CHECKING:
    from django import forms
    from django.contrib.auth.models import User

    ModelAdmin = admin.ModelAdmin
else:

    class ModelAdmin(admin.ModelAdmin):
        """Django's, which knows no type argument at run time."""

        def __class_getitem__(cls, _model: object) -> type:
            return cls


M = TypeVar("M", bound=Model)
_SECRETS = frozenset({"password", "password1", "password2", "usable_password"})


def staff(request: HttpRequest) -> User:
    """Whoever works here: the admin site lets in active members of staff alone."""
    return cast("User", request.user)


class StaffAdmin(ModelAdmin[M]):
    """Shows only what belongs to a policy that the person manages; deletes nothing."""

    menu_name: ClassVar[str | None] = None  # where it differs from the model's
    policy_lookup: ClassVar[str | None] = None  # from a row to its policy; None: to none
    view_on_site = False
    show_facets = admin.ShowFacets.NEVER
    list_per_page = 50

    def get_queryset(self, request: HttpRequest) -> QuerySet[M]:
        """The rows of the policies that this person manages."""
        rows = super().get_queryset(request)
        if self.policy_lookup is None or staff(request).is_superuser:
            return rows
        return rows.filter(**{f"{self.policy_lookup}__in": access.manageable(staff(request))})

    def has_delete_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        """Nobody deletes what the record refers to."""
        return False

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: Any = None
    ) -> HttpResponse:
        """What the audit trail says of an object; of a policy, with all that hangs on it."""
        obj = self.get_object(request, unquote(object_id))
        if obj is None:
            raise Http404
        if not self.has_view_or_change_permission(request, obj):
            raise PermissionDenied
        page = history.page_of(obj, request)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": f"History: {obj}",
            "object": obj,
            "page": page,
            "lines": history.lines(page),
            "is_auditor": request.user.has_perm("documents.view_auditevent"),
        }
        return TemplateResponse(request, "admin/documents/history.html", context)


class AuditedAdmin(StaffAdmin[M]):
    """Writes an audit row with each row that is made, changed or deleted."""

    def save_model(
        self, request: HttpRequest, obj: M, form: forms.ModelForm[M], change: bool
    ) -> None:
        """Save, and record the changed fields before and after."""
        super().save_model(request, obj, form, change)
        names = form.changed_data if change else list(form.cleaned_data)
        shown = [name for name in names if name not in _SECRETS]
        before = {name: _plain(form.initial.get(name)) for name in shown}
        after = {name: _plain(form.cleaned_data.get(name)) for name in shown}
        self.record(
            request, "changed" if change else "created", obj, before if change else None, after
        )

    def delete_model(self, request: HttpRequest, obj: M) -> None:
        """Record what goes, then delete it."""
        self.record(request, "deleted", obj, {"was": str(obj)}, None)
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[M]) -> None:
        """Delete one by one, so that each is recorded."""
        for row in queryset:
            self.delete_model(request, row)

    def record(
        self,
        request: HttpRequest,
        verb: str,
        obj: M,
        before: dict[str, Any] | None,
        after: dict[str, Any] | None,
    ) -> None:
        """Write who did what from where."""
        audit.record(
            f"{obj._meta.model_name}_{verb}",
            obj,
            actor=staff(request),
            before=before,
            after=after,
        )


def _plain(value: object) -> Any:
    """A field's value as JSON holds it."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, Iterable):
        return sorted(str(item) for item in value)
    return str(value)


class SuperuserOnly(ModelAdmin[M]):
    """Rows by which a person could become more than they are: for superusers alone."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Whether the index lists it."""
        return staff(request).is_superuser

    def has_view_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        """Whether it is shown."""
        return staff(request).is_superuser

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Whether a row may be made."""
        return staff(request).is_superuser

    def has_change_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        """Whether a row may be changed."""
        return staff(request).is_superuser

    def has_delete_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        """Whether a row may be deleted."""
        return staff(request).is_superuser


class DepartmentFilter(admin.SimpleListFilter):
    """By department, offering only those of the policies that the person manages."""

    title = "department"
    parameter_name = "department"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """The departments to choose from."""
        rows = access.manageable(staff(request)).exclude(department="").order_by("department")
        names = rows.values_list("department", flat=True).distinct()
        return [(name, name) for name in names]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """The rows of the chosen department."""
        if not self.value():
            return queryset
        of_policy = access.manageable(staff(request)).filter(department=self.value())
        return queryset.filter(**{f"{self.model_lookup}__in": of_policy})

    model_lookup: ClassVar[str] = "pk"


class OfPolicy(DepartmentFilter):
    """For rows with a policy of their own."""

    model_lookup = "policy"


class OfVersion(DepartmentFilter):
    """For rows of a version."""

    model_lookup = "version__policy"
