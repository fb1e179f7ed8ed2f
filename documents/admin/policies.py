"""Policies: their facts, their versions, and a form to upload the next one."""

from __future__ import annotations

import datetime
import secrets
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.conf import settings
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, reverse
from django.utils.html import format_html

from documents import access, actions
from documents.admin.base import AuditedAdmin, DepartmentFilter, staff
from documents.admin.deleting import RIGHT as DELETE
from documents.admin.deleting import DeletesPolicies
from documents.admin.rows import shown_rows, status_of
from documents.admin.uploads import UploadForm
from documents.errors import ValidationProblem
from documents.ingestion.screen import screen_text
from documents.models import Policy, PolicyVersion, ReviewReminder, VersionState
from documents.records import Severity

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    PolicyModelForm = forms.ModelForm[Policy]
else:
    PolicyModelForm = forms.ModelForm


class PolicyForm(PolicyModelForm):
    """The facts of a policy, within the departments of whoever edits it."""

    user: ClassVar[User]
    slug = forms.SlugField(
        required=False, max_length=120, help_text="Its address; empty: made from the title."
    )
    source_url = forms.URLField(required=False, assume_scheme="https")

    class Meta:
        model = Policy
        fields = (
            "title",
            "slug",
            "owner",
            "contact",
            "department",
            "category",
            "language",
            "default_labels",
            "review_by",
            "jurisdiction",
            "source_url",
            "source_licence",
            "retrieved_on",
        )
        widgets = {"default_labels": forms.CheckboxSelectMultiple}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.fields.pop("slug", None)  # declared fields outlive the admin's exclusion
        owner = self.fields.get("owner")
        if isinstance(owner, forms.ModelChoiceField):
            owner.queryset = possible_owners(self.user, self.instance)
        if not self.user.is_superuser and "department" in self.fields:
            self.fields["department"] = department_field(self.user, required=True)

    def clean_title(self) -> str:
        """A title travels with every passage to the model, so it is screened as they are."""
        return _screened(self.cleaned_data["title"])

    def clean_contact(self) -> str:
        """The contact is shown to readers: screened too."""
        return _screened(self.cleaned_data["contact"])

    def clean(self) -> dict[str, Any]:
        """Fill in the slug, with one of its own where a policy out of reach has it."""
        cleaned = super().clean() or {}
        if "slug" not in self.fields or "title" not in cleaned or "slug" not in cleaned:
            return cleaned
        try:
            slug = cleaned["slug"] or actions.slug_for(cleaned["title"])
        except ValidationProblem as error:
            self.add_error("slug", error.message)
            return cleaned
        taken = Policy.objects.filter(slug=slug).exclude(pk=self.instance.pk)
        if taken.exists() and not (taken & access.manageable(self.user)).exists():
            slug = f"{slug[:110]}-{secrets.token_hex(4)}"  # says nothing about what exists
        cleaned["slug"] = slug
        return cleaned


def _screened(text: str) -> str:
    found = screen_text(text) if settings.SCREENING else ()
    if any(finding.severity is Severity.BLOCK for finding in found):
        raise forms.ValidationError(
            "This reads like an instruction to an AI system. Write it in other words."
        )
    return text


def department_field(user: User, *, required: bool) -> forms.ChoiceField:
    """A choice among the departments that a person looks after."""
    names = sorted(access.managed_departments(user))
    choices = [(name, name) for name in names]
    return forms.ChoiceField(
        choices=choices if required else [("", "---------"), *choices],
        required=required,
        help_text="" if names else "You look after no department yet: ask an administrator.",
    )


def possible_owners(user: User, policy: Policy) -> QuerySet[User]:
    """Whom a policy may belong to: everybody for a superuser, else colleagues in charge."""
    people = get_user_model().objects.order_by("username")
    if user.is_superuser:
        return people.filter(Q(is_active=True) | Q(pk=policy.owner_id))
    shared = Q(
        is_active=True,
        is_staff=True,
        manageddepartment__department__in=access.managed_departments(user),
    )
    return people.filter(shared | Q(pk=user.pk) | Q(pk=policy.owner_id)).distinct()


class StateFilter(admin.SimpleListFilter):
    """By the state of the newest version."""

    title = "newest version"
    parameter_name = "newest"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Every state, and none."""
        return [*VersionState.choices, ("none", "No version")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """The policies whose newest version is in that state."""
        if self.value() == "none":
            return queryset.filter(newest_state=None)
        return queryset.filter(newest_state=self.value()) if self.value() else queryset


class ReviewFilter(admin.SimpleListFilter):
    """Those whose review is overdue, or due soon."""

    title = "review"
    parameter_name = "review"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Two choices beside all."""
        days = settings.REVIEW_REMINDER_DAYS
        return [("overdue", "Overdue"), ("due", f"Due within {days} days")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Policy]) -> QuerySet[Policy]:
        """The policies that should have been looked at by now."""
        today = access.today()
        if self.value() == "overdue":
            return queryset.filter(review_by__lt=today)
        if self.value() == "due":
            until = today + datetime.timedelta(days=settings.REVIEW_REMINDER_DAYS)
            return queryset.filter(review_by__gte=today, review_by__lte=until)
        return queryset


@admin.register(Policy)
class PolicyAdmin(DeletesPolicies, AuditedAdmin[Policy]):
    """The policies that a person manages."""

    policy_lookup = "pk"
    form = PolicyForm
    change_form_template = "admin/documents/policy/change_form.html"
    list_display = (
        "title",
        "department",
        "owner",
        "review_by",
        "reminder",
        "newest_version",
    )
    list_filter = (DepartmentFilter, StateFilter, ReviewFilter)
    list_select_related = ("owner",)
    search_fields = ("title", "slug")
    fieldsets = (
        (None, {"fields": ("title", "slug", "department", "owner", "contact", "review_by")}),
        ("Readers", {"fields": ("default_labels",)}),
        ("About the text", {"fields": ("category", "language", "jurisdiction")}),
        ("Source", {"fields": ("source_url", "source_licence", "retrieved_on")}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Policy]:
        """The managed policies with the state of their newest version."""
        newest = PolicyVersion.objects.filter(policy=OuterRef("pk")).order_by("-number")
        reminders = ReviewReminder.objects.filter(
            policy=OuterRef("pk"), review_by=OuterRef("review_by")
        ).order_by("-pk")
        return (
            super()
            .get_queryset(request)
            .annotate(
                newest_pk=Subquery(newest.values("pk")[:1]),
                newest_number=Subquery(newest.values("number")[:1]),
                newest_state=Subquery(newest.values("state")[:1]),
                reminded_on=Subquery(reminders.values("sent_at")[:1]),
                reminder_problem=Subquery(reminders.values("problem")[:1]),
            )
        )

    def get_urls(self) -> list[URLPattern]:
        """Django's pages, and ours for deletion."""
        return [*self.delete_urls(), *super().get_urls()]

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        """The form, bound to the rights of whoever edits."""
        kwargs["form"] = type("PolicyForm", (PolicyForm,), {"user": staff(request)})
        return super().get_form(request, obj, change=change, **kwargs)

    def get_readonly_fields(
        self, request: HttpRequest, obj: Policy | None = None
    ) -> tuple[str, ...]:
        """A slug is in links and citations: it stays."""
        return ("slug",) if obj else ()

    def get_prepopulated_fields(
        self, request: HttpRequest, obj: Policy | None = None
    ) -> dict[str, Any]:
        """The slug follows the title while a policy is made."""
        return {} if obj or not self.has_add_permission(request) else {"slug": ("title",)}

    @admin.display(description="reminder of the review")
    def reminder(self, policy: Any) -> str:
        """What became of the reminder for the date that is set."""
        if policy.reminded_on is not None:
            return f"sent on {policy.reminded_on:%Y-%m-%d}"
        return policy.reminder_problem or ""

    @admin.display(description="newest version")
    def newest_version(self, policy: Any) -> str:
        """Number and state of the newest version, linked to its page."""
        if policy.newest_pk is None:
            return "none"
        return format_html(
            '<a href="{}">{}: {}</a>',
            reverse("admin:documents_policyversion_change", args=[policy.newest_pk]),
            policy.newest_number,
            VersionState(policy.newest_state).label,
        )

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """The policy with its versions and the form for the next one."""
        policy = self.get_object(request, object_id)
        more: dict[str, Any] = {}
        if policy is not None:
            rows = shown_rows(policy.versions.order_by("-number"))
            more["versions"] = [{"row": row, "status": status_of(row)} for row in rows]
            more["may_delete"] = request.user.has_perm(DELETE)
            if request.user.has_perm("documents.add_policyversion"):
                more["upload_form"] = UploadForm.for_policy(policy, staff(request))
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), **more})

    class Media:
        js = ("documents/progress.js",)
