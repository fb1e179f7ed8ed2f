"""The quarantine: what a rule held back, in its context, for a person to decide.

Passages are one list; what was found in a title, a file name or hidden text, which no passage
holds, is another. Either decision needs a note, is audited, and can be taken back by the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from documents import actions
from documents.admin.base import OfVersion, staff
from documents.admin.marked import Piece, pieces
from documents.admin.review import ReviewAdmin, WaitingFilter
from documents.models import Chunk, Finding

NEIGHBOURS = 2
EXCERPT = 200


class PassageFilter(WaitingFilter):
    """By the state of a passage."""

    field = "state"
    waiting = Chunk.State.QUARANTINED


class LooseFilter(WaitingFilter):
    """By the decision on a finding."""

    field = "decision"
    waiting = Finding.Decision.PENDING


@dataclass(frozen=True, slots=True)
class Shown:
    """One passage of the context, cut into pieces to draw."""

    ordinal: int
    state: str
    is_this: bool
    pieces: list[Piece]


@admin.register(Chunk)
class ChunkAdmin(ReviewAdmin[Chunk]):
    """Passages that screening held, of the policies that a person manages."""

    menu_name = "Passages in quarantine"
    policy_lookup = "version__policy"
    list_display = ("excerpt", "document", "version_number", "section", "rules", "state")
    list_display_links = ("excerpt",)
    list_filter = (PassageFilter, OfVersion)
    list_select_related = ("version__policy", "section")
    search_fields = ("version__policy__title", "text")
    ordering = ("version", "ordinal")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Chunk]:
        """The passages that a rule saw, without their vectors."""
        seen = Finding.objects.filter(chunk=OuterRef("pk"))
        held = super().get_queryset(request).filter(Exists(seen)).exclude(state=Chunk.State.READY)
        return held.defer("embedding").prefetch_related("findings")

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

    def decide(self, request: HttpRequest, obj: Chunk, *, release: bool, note: str) -> None:
        """Release the passage to readers, or reject it."""
        actions.decide_chunk(obj.pk, release=release, reviewer=staff(request), note=note)

    def shown(self, obj: Chunk) -> dict[str, Any]:
        """The passage between its neighbours, and what was found."""
        findings = list(obj.findings.select_related("reviewer").order_by("start", "pk"))
        return {
            "title": f"Passage {obj.ordinal} of {obj.version}",
            "place": f"section {' › '.join(obj.section.path)}",
            "version": obj.version,
            "state": obj.get_state_display(),
            "is_decided": obj.state != Chunk.State.QUARANTINED,
            "context": _context(obj, findings),
            "findings": [_drawn(finding) for finding in findings],
        }


@admin.register(Finding)
class FindingAdmin(ReviewAdmin[Finding]):
    """What was found outside passages; it holds the whole version."""

    menu_name = "Findings outside passages"
    policy_lookup = "version__policy"
    list_display = (
        "excerpt",
        "document",
        "version_number",
        "where",
        "rule",
        "severity",
        "decision",
    )
    list_display_links = ("excerpt",)
    list_filter = (LooseFilter, OfVersion)
    list_select_related = ("version__policy",)
    search_fields = ("version__policy__title", "text")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Finding]:
        """The findings that no passage holds."""
        return super().get_queryset(request).filter(chunk=None)

    @admin.display(description="text")
    def excerpt(self, finding: Finding) -> SafeString:
        """The text's beginning, invisible characters drawn."""
        shown = pieces(finding.text[:EXCERPT])
        return render_to_string("admin/documents/chunk/_pieces.html", {"pieces": shown})

    @admin.display(description="policy", ordering="version__policy__title")
    def document(self, finding: Finding) -> str:
        """The policy's title."""
        return finding.version.policy.title

    @admin.display(description="version", ordering="version__number")
    def version_number(self, finding: Finding) -> int:
        """The number of the version."""
        return finding.version.number

    def decide(self, request: HttpRequest, obj: Finding, *, release: bool, note: str) -> None:
        """Let the version go on, or reject it."""
        actions.decide_finding(obj.pk, release=release, reviewer=staff(request), note=note)

    def shown(self, obj: Finding) -> dict[str, Any]:
        """The finding, which has no neighbours."""
        return {
            "title": f"Finding in {obj.version}",
            "place": f"found in: {obj.where}",
            "version": obj.version,
            "state": obj.get_decision_display(),
            "is_decided": obj.decision != Finding.Decision.PENDING,
            "findings": [_drawn(obj)],
            "consequence": "To reject it is to reject the whole version.",
        }


def _drawn(finding: Finding) -> tuple[Finding, list[Piece], list[Piece]]:
    return finding, pieces(finding.text), pieces(finding.folded)


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
