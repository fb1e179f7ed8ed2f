"""Labels, who holds them, who looks after which department, and hosts that answers may name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import URLPattern

from documents import actions
from documents.admin.base import AuditedAdmin, StaffAdmin, SuperuserOnly, staff
from documents.admin.readers import PersonPages
from documents.models import AccessLabel, AllowedDomain, LabelGrant, ManagedDepartment

if TYPE_CHECKING:
    from django.contrib.auth.models import Group

    UserByName = forms.ModelChoiceField[User]
    GrantModelForm = forms.ModelForm[LabelGrant]
    DomainModelForm = forms.ModelForm[AllowedDomain]
else:
    UserByName = forms.ModelChoiceField
    GrantModelForm = DomainModelForm = forms.ModelForm

_HOST = re.compile(
    r"(?=.{1,253}\Z)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]\Z"
)


def user_by_name(*, required: bool) -> UserByName:
    """A person by user name: a list of everybody would be long, and says who exists."""
    return UserByName(
        queryset=get_user_model().objects.filter(is_active=True),
        to_field_name="username",
        widget=forms.TextInput,
        required=required,
        help_text="User name.",
        error_messages={"invalid_choice": "There is no active user with this name."},
    )


@admin.register(AccessLabel)
class AccessLabelAdmin(AuditedAdmin[AccessLabel]):
    """Labels are never deleted, and keep slug and role: text under them would change readers."""

    list_display = ("slug", "name", "role", "hosted_model_allowed")
    list_filter = ("role",)
    search_fields = ("slug", "name")

    def get_readonly_fields(
        self, request: HttpRequest, obj: AccessLabel | None = None
    ) -> tuple[str, ...]:
        """Slug and role are set once."""
        return ("slug", "role") if obj else ()


class GrantForm(GrantModelForm):
    """A label for one user or one group."""

    actor: ClassVar[User]
    user = user_by_name(required=False)

    class Meta:
        model = LabelGrant
        fields = ("label", "group", "user")

    def clean(self) -> dict[str, Any]:
        """One holder, not the person who grants, and not twice."""
        cleaned = super().clean() or {}
        if "user" in self.errors or "label" in self.errors:
            return cleaned
        user, group = cleaned.get("user"), cleaned.get("group")
        if (user is None) == (group is None):
            self.add_error("user", "Choose either a group or a user.")
        elif not self.actor.is_superuser and self._is_to_self(user, group):
            self.add_error("user", "You cannot grant a label to yourself: ask another person.")
        elif LabelGrant.objects.filter(label=cleaned["label"], user=user, group=group).exists():
            self.add_error("user", "This label is granted already.")
        return cleaned

    def _is_to_self(self, user: User | None, group: Group | None) -> bool:
        if user is not None:
            return user.pk == self.actor.pk
        return group is not None and self.actor.groups.filter(pk=group.pk).exists()


@admin.register(LabelGrant)
class LabelGrantAdmin(PersonPages, StaffAdmin[LabelGrant]):
    """Who holds a label; in force with the next request."""

    change_list_template = "admin/documents/labelgrant/change_list.html"
    list_display = ("label", "group", "user", "granted_by", "created_at")
    list_filter = ("label",)
    list_select_related = ("label", "group", "user", "granted_by")
    search_fields = ("label__slug", "user__username", "group__name")

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        """The form, bound to whoever grants."""
        kwargs["form"] = type("GrantForm", (GrantForm,), {"actor": staff(request)})
        return super().get_form(request, obj, change=change, **kwargs)

    def get_urls(self) -> list[URLPattern]:
        """Django's pages, and ours on a person."""
        return [*self.person_urls(), *super().get_urls()]

    def has_change_permission(self, request: HttpRequest, obj: LabelGrant | None = None) -> bool:
        """A grant is made or taken back, not changed."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: LabelGrant | None = None) -> bool:
        """Taking a label back."""
        return request.user.has_perm("documents.delete_labelgrant")

    def save_model(
        self, request: HttpRequest, obj: LabelGrant, form: forms.ModelForm[LabelGrant], change: bool
    ) -> None:
        """Grant."""
        made = actions.grant_label(
            obj.label.slug, actor=staff(request), user=obj.user, group=obj.group
        )
        obj.pk = made.pk

    def delete_model(self, request: HttpRequest, obj: LabelGrant) -> None:
        """Revoke."""
        actions.revoke_label(obj, actor=staff(request))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[LabelGrant]) -> None:
        """Revoke one by one, so that each is on record."""
        for grant in queryset:
            self.delete_model(request, grant)


@admin.register(ManagedDepartment)
class ManagedDepartmentAdmin(SuperuserOnly[ManagedDepartment], AuditedAdmin[ManagedDepartment]):
    """Who looks after the policies of which department."""

    list_display = ("user", "department")
    list_select_related = ("user",)
    search_fields = ("user__username", "department")

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Only staff can look after anything."""
        if db_field.name == "user":
            people = get_user_model().objects.filter(is_active=True, is_staff=True)
            kwargs["queryset"] = people.order_by("username")
        return super().formfield_for_foreignkey(db_field, request, **kwargs)


class DomainForm(DomainModelForm):
    """An exact host: no scheme, no path, no wildcard."""

    class Meta:
        model = AllowedDomain
        fields = ("host", "reason")

    def clean_host(self) -> str:
        """The host in lower case, written in ASCII."""
        host = self.cleaned_data["host"].strip().lower().rstrip(".")
        if not _HOST.match(host):
            raise forms.ValidationError(
                "Write one exact host, for example intranet.example.com: no https://, no path, "
                "no *; a name in other letters in its xn-- form."
            )
        return str(host)


@admin.register(AllowedDomain)
class AllowedDomainAdmin(AuditedAdmin[AllowedDomain]):
    """Hosts that an answer may name though no cited passage does."""

    form = DomainForm
    list_display = ("host", "reason", "added_by", "created_at")
    list_select_related = ("added_by",)
    search_fields = ("host", "reason")

    def has_delete_permission(self, request: HttpRequest, obj: AllowedDomain | None = None) -> bool:
        """Taking a host off the list."""
        return request.user.has_perm("documents.delete_alloweddomain")

    def save_model(
        self,
        request: HttpRequest,
        obj: AllowedDomain,
        form: forms.ModelForm[AllowedDomain],
        change: bool,
    ) -> None:
        """Save, with the name of whoever added it."""
        if not change:
            obj.added_by = staff(request)
        super().save_model(request, obj, form, change)
