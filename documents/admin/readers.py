"""Pages on who reads what: the labels of a version and its sections, its readers, and a person.

A change of labels is shown with whom it gives and takes what before it is saved; the save names
what was shown, so that nothing else is saved. Names of people are for those who see grants.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from documents import readership, relabelling
from documents.admin import acts
from documents.admin.base import StaffAdmin, staff
from documents.admin.rows import named
from documents.errors import DocumentsError
from documents.models import AccessLabel, LabelGrant, LabelProposal, PolicyVersion, Section
from documents.readership import Holder

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    LabelChoices = forms.ModelMultipleChoiceField[AccessLabel]
    PersonField = forms.ModelChoiceField[User]
else:
    LabelChoices = forms.ModelMultipleChoiceField
    PersonField = forms.ModelChoiceField

MOST_SHOWN = 200
SEES_PEOPLE = "documents.view_labelgrant"
Decision = LabelProposal.Decision
_DECIDED = {
    Decision.ACCEPTED: "The labels are in force.",
    Decision.REFUSED: "The change was turned down; nothing has changed.",
    Decision.TAKEN_BACK: "You took the change back; nothing has changed.",
    Decision.STALE: "The labels have changed since this was proposed, so nothing was changed. "
    "Propose it again.",
}


class LabelsForm(forms.Form):
    """Labels for the version or for chosen sections; `seen` names the effect that was shown."""

    sections = forms.TypedMultipleChoiceField(coerce=int, required=False)
    labels = LabelChoices(
        queryset=AccessLabel.objects.all(),
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text="An audience opens the text to its holders; a restriction closes it to all "
        "others. Sections with no label of their own have those of the section above them.",
    )
    accepts_no_reader = forms.BooleanField(
        required=False, label="Save although nobody could read some of it"
    )
    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, version: PolicyVersion, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.version = version
        rows = version.sections.values_list("pk", flat=True)
        self.fields["sections"].choices = [(pk, str(pk)) for pk in rows]  # type: ignore[attr-defined]  # a choice

    def wanted(self) -> relabelling.Wanted:
        """What a valid form asks for."""
        return relabelling.Wanted(
            version_id=self.version.pk,
            labels=tuple(sorted(label.slug for label in self.cleaned_data["labels"])),
            section_ids=tuple(sorted(self.cleaned_data["sections"])),
        )


class PersonForm(forms.Form):
    """A person, by user name."""

    user = PersonField(
        queryset=get_user_model().objects.all(),
        to_field_name="username",
        widget=forms.TextInput,
        label="User name",
        required=False,
        error_messages={"invalid_choice": "There is nobody with this name."},
    )


class ReadersPages:
    """The pages of one version about its labels and readers, beside those of its admin."""

    admin_site: admin.AdminSite
    opts: Any
    _managed: Callable[[HttpRequest, int], PolicyVersion]
    _page: Callable[[HttpRequest, str, str, dict[str, Any]], HttpResponse]

    def reader_urls(self) -> list[URLPattern]:
        """Their addresses."""
        own = (
            ("<int:object_id>/labels/", self.labels_view, "labels"),
            ("<int:object_id>/labels/<int:proposal_id>/", self.proposal_view, "proposal"),
            ("<int:object_id>/readers/", self.readers_view, "readers"),
        )
        return [
            path(route, self.admin_site.admin_view(view), name=f"documents_policyversion_{name}")
            for route, view, name in own
        ]

    def labels_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """The tree with its labels; a change is shown with its effect, then saved."""
        version = self._managed(request, object_id)
        act = acts.ACTS["labels"]
        if not act.is_allowed(staff(request), version):
            raise PermissionDenied
        if not act.is_possible(version):
            messages.error(request, f"{named(version)}: its labels can no longer be changed.")
            return HttpResponseRedirect(_version_address("change", version.pk))
        form = LabelsForm(
            request.POST if request.method == "POST" else None,
            version=version,
            initial={"labels": [label.pk for label in version.labels.all()]},
        )
        effect = None
        if request.method == "POST" and form.is_valid():
            try:
                effect = relabelling.effect_of(form.wanted())
                if form.cleaned_data["seen"] == effect.seen:
                    return self._save_labels(request, version, form)
            except DocumentsError as error:
                form.add_error(None, error.message)
        return self._labels_page(request, version, form, effect)

    def _save_labels(
        self, request: HttpRequest, version: PolicyVersion, form: LabelsForm
    ) -> HttpResponse:
        with transaction.atomic():
            waiting = relabelling.change(
                form.wanted(),
                actor=staff(request),
                accepts_no_reader=form.cleaned_data["accepts_no_reader"],
            )
        if waiting is None:
            messages.success(request, f"{named(version)} was given these labels.")
        else:
            messages.warning(
                request,
                f"{named(version)}: more people could read it, so another person has to accept "
                "this change. Nothing has changed yet.",
            )
        return HttpResponseRedirect(_version_address("labels", version.pk))

    def _labels_page(
        self,
        request: HttpRequest,
        version: PolicyVersion,
        form: LabelsForm,
        effect: relabelling.Effect | None,
    ) -> HttpResponse:
        chosen = {int(pk) for pk in request.POST.getlist("sections") if pk.isdecimal()}
        context = {
            "original": version,
            "form": form,
            "effect": effect,
            "chosen": chosen,
            "tree": relabelling.sections_to_show(version),
            "sees_people": request.user.has_perm(SEES_PEOPLE),
            "proposals": version.label_proposals.filter(decision=Decision.PENDING).select_related(
                "proposed_by"
            ),
            "may_accept": request.user.has_perm(acts.APPROVE),
        }
        return self._page(request, "labels.html", f"Labels: {version}", context)

    def proposal_view(self, request: HttpRequest, object_id: int, proposal_id: int) -> HttpResponse:
        """Accept a proposed change, or turn it down."""
        version = self._managed(request, object_id)
        proposal = version.label_proposals.filter(pk=proposal_id).first()
        if proposal is None or request.method != "POST":
            raise Http404
        is_own = proposal.proposed_by_id == staff(request).pk
        if not request.user.has_perm(acts.APPROVE) and not is_own:
            raise PermissionDenied
        try:
            with transaction.atomic():
                decision = relabelling.decide(
                    proposal.pk, accept="accept" in request.POST, actor=staff(request)
                )
            messages.info(request, _DECIDED[decision])
        except DocumentsError as error:
            messages.error(request, error.message)
        return HttpResponseRedirect(_version_address("change", version.pk))

    def readers_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Who can read a version or one of its sections, and why another person cannot."""
        version = self._managed(request, object_id)
        if not request.user.has_perm(SEES_PEOPLE):
            raise PermissionDenied
        section = _section(version, request.GET.get("section", ""))
        people = readership.holders()
        found = readership.readers_of(version, section, people)
        form = PersonForm(request.GET if request.GET.get("user") else None)
        person = None
        if form.is_bound and form.is_valid() and form.cleaned_data["user"]:
            holder = readership.holder_of(form.cleaned_data["user"])
            asked = readership.readers_of(version, section, [holder])
            person = (holder, *_told(asked))
        context = {
            "original": version,
            "section": section,
            "sections": version.sections.order_by("ordinal"),
            "readers": found.readers[:MOST_SHOWN],
            "reader_count": len(found.readers),
            "other_count": len(found.others),
            "form": form,
            "person": person,
        }
        return self._page(request, "readers.html", f"Readers: {version}", context)


def _told(asked: readership.Readership) -> tuple[bool, str]:
    if asked.readers:
        return True, asked.readers[0][1]
    return False, asked.others[0][1]


def _section(version: PolicyVersion, text: str) -> Section | None:
    if not text:
        return None
    found = version.sections.filter(pk=int(text)).first() if text.isdecimal() else None
    if found is None:
        raise Http404
    return found


def _version_address(page: str, version_id: int) -> str:
    return reverse(f"admin:documents_policyversion_{page}", args=[version_id])


class PersonPages:
    """The page on one person: their labels with where these come from, and what they read."""

    admin_site: admin.AdminSite
    opts: Any

    def person_urls(self) -> list[URLPattern]:
        """Its address."""
        view = self.admin_site.admin_view(self.person_view)
        return [path("person/", view, name="documents_labelgrant_person")]

    def person_view(self, request: HttpRequest) -> HttpResponse:
        """What a person can read of the policies that one manages, and why not the others."""
        if not request.user.has_perm(SEES_PEOPLE):
            raise PermissionDenied
        form = PersonForm(request.GET if request.GET.get("user") else None)
        holder: Holder | None = None
        if form.is_bound and form.is_valid() and form.cleaned_data["user"]:
            holder = readership.holder_of(form.cleaned_data["user"])
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": "What can this person read, and why?",
            "form": form,
            "holder": holder,
            "policies": readership.reach_of(holder, staff(request)) if holder else [],
            "grants": LabelGrant.objects.filter(user=holder.user_id) if holder else [],
            "may_preview": request.user.has_perm("documents.change_labelgrant"),
        }
        return TemplateResponse(request, "admin/documents/labelgrant/person.html", context)


@admin.register(LabelProposal)
class LabelProposalAdmin(StaffAdmin[LabelProposal]):
    """Changes of labels that wait for a second person, and what became of the others."""

    policy_lookup = "version__policy"
    list_display = ("document", "asked", "proposed_by", "proposed_at", "decision", "decided_by")
    list_display_links = None
    list_filter = ("decision",)
    list_select_related = ("version__policy", "proposed_by", "decided_by")

    def get_queryset(self, request: HttpRequest) -> QuerySet[LabelProposal]:
        """Of the managed policies, newest first."""
        return super().get_queryset(request).order_by("-pk")

    def has_view_permission(self, request: HttpRequest, obj: LabelProposal | None = None) -> bool:
        """For those who propose and those who accept."""
        return request.user.has_perm(acts.APPROVE) or request.user.has_perm(acts.CHANGE)

    def has_module_permission(self, request: HttpRequest) -> bool:
        """As to view it."""
        return self.has_view_permission(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """A change is proposed on the page of its version."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: LabelProposal | None = None) -> bool:
        """It is decided on there, too."""
        return False

    @admin.display(description="version")
    def document(self, proposal: LabelProposal) -> SafeString:
        """The version, linked to the page where it is decided."""
        address = _version_address("labels", proposal.version_id)
        return format_html('<a href="{}">{}</a>', address, proposal.version)

    @admin.display(description="labels")
    def asked(self, proposal: LabelProposal) -> str:
        """The labels, and for how much of the version."""
        what = f"{len(proposal.sections)} sections" if proposal.sections else "the whole version"
        return f"{', '.join(proposal.labels) or 'those of above'} for {what}"
