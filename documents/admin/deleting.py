"""The page on which a policy is deleted with all its versions: its name is typed again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from documents import access, deletion
from documents.admin.base import staff
from documents.errors import ValidationProblem
from documents.models import Policy

if TYPE_CHECKING:
    from django.contrib import admin

    Page = admin.ModelAdmin[Policy]
else:
    Page = object

RIGHT = "documents.delete_policy"


class DeletePolicyForm(forms.Form):
    """Asks for the policy's name once more, and why."""

    typed = forms.CharField(max_length=300, label="Name of the policy, typed again")
    note = forms.CharField(
        max_length=1000, widget=forms.Textarea(attrs={"rows": 3}), help_text="Why. Kept on record."
    )


class DeletesPolicies(Page):
    """Adds the page to the admin of policies."""

    def delete_urls(self) -> list[URLPattern]:
        """Its address."""
        view = self.admin_site.admin_view(self.delete_policy_view)
        return [path("<int:object_id>/delete-all/", view, name="documents_policy_delete_all")]

    def delete_policy_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Ask for the name, then delete."""
        if not request.user.has_perm(RIGHT):
            raise PermissionDenied
        policy = access.manageable(staff(request)).filter(pk=object_id).first()
        if policy is None:
            raise Http404
        form = DeletePolicyForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            try:
                gone = deletion.delete_policy(policy.pk, actor=staff(request), **form.cleaned_data)
            except ValidationProblem as error:
                form.add_error(None, error.message)
            else:
                messages.success(request, _told(gone))
                return HttpResponseRedirect(reverse("admin:documents_policy_changelist"))
        context: dict[str, Any] = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": f"Delete {policy.title}",
            "original": policy,
            "form": form,
            "versions": policy.versions.order_by("number"),
        }
        return TemplateResponse(request, "admin/documents/policy/delete_all.html", context)


def _told(gone: deletion.Deleted) -> str:
    versions = f"{len(gone.numbers)} version{'' if len(gone.numbers) == 1 else 's'}"
    return f"{gone.title} was deleted, with {versions} and {gone.passages} passages."
