"""API keys: made here or on the command line, shown once, listed by their beginning alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from documents import access
from documents.admin.base import StaffAdmin, staff
from documents.admin.labels import user_by_name
from documents.errors import UnknownLabelError
from qa import keys
from qa.models import ApiKey

if TYPE_CHECKING:
    KeyModelForm = forms.ModelForm[ApiKey]
else:
    KeyModelForm = forms.ModelForm


class KeyForm(KeyModelForm):
    """What a key is for, whom it acts for and what narrows it."""

    actor: ClassVar[User]
    user = user_by_name(required=True)
    scopes = forms.MultipleChoiceField(
        choices=ApiKey.Scope.choices, widget=forms.CheckboxSelectMultiple
    )
    labels = forms.CharField(
        required=False, help_text="Label slugs, separated by commas; empty: all of the user's."
    )
    expires_at = forms.DateTimeField(
        label="Expires",
        required=False,
        help_text="UTC, for example 2027-01-31 00:00; empty: never.",
    )

    class Meta:
        model = ApiKey
        fields = ("name", "user", "scopes", "labels", "expires_at")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        user = self.fields["user"]
        if not self.actor.is_superuser and isinstance(user, forms.ModelChoiceField):
            user.queryset = get_user_model().objects.filter(pk=self.actor.pk)
            user.help_text = "Your own user name: only a superuser makes keys for others."
            user.initial = self.actor.get_username()

    def clean_labels(self) -> list[str] | None:
        """Labels that exist, or None for all of the user's."""
        slugs = [slug.strip() for slug in self.cleaned_data["labels"].split(",") if slug.strip()]
        try:
            access.require_labels(slugs)
        except UnknownLabelError as error:
            raise forms.ValidationError(error.message) from error
        return slugs or None


@admin.register(ApiKey)
class ApiKeyAdmin(StaffAdmin[ApiKey]):
    """A person's own keys, and for superusers those of all; digests are never shown."""

    list_display = (
        "name",
        "prefix",
        "user",
        "scopes",
        "labels",
        "created_at",
        "expires_at",
        "last_used_at",
        "revoked_at",
    )
    list_select_related = ("user",)
    search_fields = ("name", "prefix", "user__username")
    actions = ("revoke_selected",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiKey]:
        """Own keys; a superuser's list holds all."""
        rows = super().get_queryset(request).defer("digest")
        return rows if staff(request).is_superuser else rows.filter(user=staff(request))

    def get_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> tuple[str, ...]:
        """Everything but the digest."""
        shown = ("name", "user", "scopes", "labels", "expires_at")
        return (*shown, "prefix", "created_at", "last_used_at", "revoked_at") if obj else shown

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        """The form, bound to whoever makes the key."""
        if not change:
            kwargs["form"] = type("KeyForm", (KeyForm,), {"actor": staff(request)})
        return super().get_form(request, obj, change=change, **kwargs)

    def has_change_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        """A key is made and revoked, not changed."""
        return False

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        """Whether keys may be revoked here."""
        return request.user.has_perm("qa.change_apikey") or request.user.has_perm("qa.add_apikey")

    @admin.action(permissions=["revoke"], description="Revoke selected keys")
    def revoke_selected(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        """End each key at once."""
        for key in queryset:
            keys.revoke_key(key, actor=staff(request))
        messages.success(request, "The selected keys are revoked.")

    def save_model(
        self, request: HttpRequest, obj: ApiKey, form: forms.ModelForm[ApiKey], change: bool
    ) -> None:
        """Make the key; the object keeps it for the one page that shows it."""
        given = form.cleaned_data
        made = keys.create_key(
            given["user"],
            name=given["name"],
            scopes=given["scopes"],
            labels=given["labels"],
            expires_at=given["expires_at"],
            actor=staff(request),
        )
        obj.pk, obj.prefix = keys.row_of(made)
        obj.shown_once = made  # type: ignore[attr-defined]  # for response_add, never stored

    def response_add(
        self, request: HttpRequest, obj: ApiKey, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Show the key here and now: a message would leave it in a cookie."""
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": "The key was made",
            "key": obj.shown_once,  # type: ignore[attr-defined]  # set by save_model
            "original": obj,
        }
        return TemplateResponse(request, "admin/qa/apikey/made.html", context)
