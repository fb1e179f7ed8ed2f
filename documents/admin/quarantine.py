"""The quarantine: passages that a rule held back, in their context, for a person to decide.

Either decision needs a note, is audited, and can be taken back by the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.safestring import SafeString

from documents import actions
from documents.admin.base import OfVersion, StaffAdmin, staff
from documents.admin.marked import Piece, pieces
from documents.errors import DocumentsError
from documents.models import Chunk, Finding

REVIEW = "documents.review_findings"
NEIGHBOURS = 2
EXCERPT = 200


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
    parameter_name = "decision"
    states: ClassVar[dict[str | None, list[str]]] = {
        None: [Chunk.State.QUARANTINED],
        "released": [Chunk.State.RELEASED],
        "rejected": [Chunk.State.REJECTED],
        "all": [Chunk.State.QUARANTINED, Chunk.State.RELEASED, Chunk.State.REJECTED],
    }

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """The choices beside the one that holds by itself."""
        return [("released", "Released"), ("rejected", "Rejected"), ("all", "All")]

    def choices(self, changelist: Any) -> Iterator[Any]:
        """The default is named for what it shows."""
        for i, choice in enumerate(super().choices(changelist)):
            yield choice | {"display": "Awaiting decision"} if i == 0 else choice

    def queryset(self, request: HttpRequest, queryset: QuerySet[Chunk]) -> QuerySet[Chunk]:
        """The passages in the chosen states; an unknown choice shows none."""
        return queryset.filter(state__in=self.states.get(self.value(), []))


@dataclass(frozen=True, slots=True)
class Shown:
    """One passage of the context, cut into pieces to draw."""

    ordinal: int
    state: str
    is_this: bool
    pieces: list[Piece]


@admin.register(Chunk)
class ChunkAdmin(StaffAdmin[Chunk]):
    """Passages that screening held, of the policies that a person manages."""

    policy_lookup = "version__policy"
    list_display = ("excerpt", "document", "version_number", "section", "rules", "state")
    list_display_links = ("excerpt",)
    list_filter = (WaitingFilter, OfVersion)
    list_select_related = ("version__policy", "section")
    search_fields = ("version__policy__title", "text")
    ordering = ("version", "ordinal")
    actions = None

    def get_queryset(self, request: HttpRequest) -> QuerySet[Chunk]:
        """The passages that a rule saw, without their vectors."""
        seen = Finding.objects.filter(chunk=OuterRef("pk"))
        held = super().get_queryset(request).filter(Exists(seen)).exclude(state=Chunk.State.READY)
        return held.defer("embedding").prefetch_related("findings")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Passages come from ingestion."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Chunk | None = None) -> bool:
        """No form saves a passage: a decision is the one change."""
        return False

    @admin.display(description="passage")
    def excerpt(self, chunk: Chunk) -> SafeString:
        """The passage's beginning, invisible characters drawn."""
        shown = pieces(chunk.text[:EXCERPT], _spans(chunk, chunk.findings.all()))
        return render_to_string("admin/documents/chunk/_pieces.html", {"pieces": shown})

    @admin.display(description="policy", ordering="version__policy__title")
    def document(self, chunk: Chunk) -> str:
        """The policy's title."""
        return chunk.version.policy.title

    @admin.display(description="version", ordering="version__number")
    def version_number(self, chunk: Chunk) -> int:
        """The number of the version."""
        return chunk.version.number

    @admin.display(description="rules")
    def rules(self, chunk: Chunk) -> str:
        """The rules that saw something in it."""
        return ", ".join(sorted({finding.rule for finding in chunk.findings.all()}))

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """The list, under the name that reviewers know."""
        titled = {"title": "Passages in quarantine", **(extra_context or {})}
        return super().changelist_view(request, titled)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """The passage in its context; a post decides."""
        chunk = self.get_object(request, unquote(object_id))
        if not self.has_view_permission(request, chunk):
            raise PermissionDenied
        if chunk is None:
            raise Http404
        may_decide = request.user.has_perm(REVIEW)
        if request.method == "POST" and not may_decide:
            raise PermissionDenied
        form = DecisionForm(request.POST if request.method == "POST" else None)
        if request.method == "POST" and form.is_valid() and self._decide(request, chunk, form):
            return HttpResponseRedirect(reverse("admin:documents_chunk_changelist"))
        return self._page(request, chunk, form if may_decide else None)

    def _decide(self, request: HttpRequest, chunk: Chunk, form: DecisionForm) -> bool:
        is_released = form.cleaned_data["decision"] == "release"
        try:
            with transaction.atomic():
                actions.decide_chunk(
                    chunk.pk,
                    release=is_released,
                    reviewer=staff(request),
                    note=form.cleaned_data["note"],
                )
        except DocumentsError as error:
            form.add_error(None, error.message)
            return False
        verb = "released to readers" if is_released else "rejected"
        messages.success(request, f"The passage of {chunk.version} was {verb}.")
        return True

    def _page(self, request: HttpRequest, chunk: Chunk, form: DecisionForm | None) -> HttpResponse:
        findings = list(chunk.findings.select_related("reviewer").order_by("start", "pk"))
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": f"Passage {chunk.ordinal} of {chunk.version}",
            "media": self.media,
            "original": chunk,
            "context": _context(chunk, findings),
            "findings": [
                (finding, pieces(finding.text), pieces(finding.folded)) for finding in findings
            ],
            "form": form,
            "is_decided": chunk.state != Chunk.State.QUARANTINED,
        }
        return TemplateResponse(request, "admin/documents/chunk/detail.html", context)


def _spans(chunk: Chunk, findings: Iterable[Finding]) -> list[tuple[int, int]]:
    """Where the findings lie in the passage; those of headings lie outside it."""
    of_text = [finding for finding in findings if finding.where in ("body", "heading")]
    return [(finding.start - chunk.start, finding.end - chunk.start) for finding in of_text]


def _context(chunk: Chunk, findings: Iterable[Finding]) -> list[Shown]:
    """The passage between its neighbours, each without what it repeats of the one before."""
    first, last = chunk.ordinal - NEIGHBOURS, chunk.ordinal + NEIGHBOURS
    around = Chunk.objects.filter(version=chunk.version_id, ordinal__range=(first, last))
    spans = _spans(chunk, findings)
    return [
        Shown(
            one.ordinal,
            one.get_state_display(),
            one.pk == chunk.pk,
            pieces(one.text, spans if one.pk == chunk.pk else ()),
        )
        for one in around.defer("embedding").order_by("ordinal")
    ]
