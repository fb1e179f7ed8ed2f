"""The questions that were asked: that they were, for auditors; their words, each look on record.

May I report my manager? must not land on that manager's list: no department sees questions,
the list shows no words, and whoever opens one is in the audit trail.
"""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from documents import access, audit
from documents.admin.base import StaffAdmin, staff
from qa import erasure
from qa.models import QuestionRecord, QuestionText

_READ = "qa.read_questions"


class HasWords(admin.SimpleListFilter):
    """Those whose words are on record, and those whose words were erased."""

    title = "words"
    parameter_name = "words"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """The two."""
        return [("kept", "On record"), ("erased", "Erased")]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[QuestionRecord]
    ) -> QuerySet[QuestionRecord]:
        """The chosen ones."""
        if self.value() in ("kept", "erased"):
            return queryset.filter(words__isnull=self.value() == "erased")
        return queryset


@admin.register(QuestionRecord)
class QuestionAdmin(StaffAdmin[QuestionRecord]):
    """Questions on record, newest first, without their words."""

    menu_name = "Questions"
    list_display = ("asked_at", "asker_name", "as_of", "door", "ended", "has_words")
    list_filter = ("door", HasWords, "asked_at")
    list_select_related = ("outcome", "words")
    search_fields = ("asker_name", "public_id")
    actions = ("erase_askers",)

    def get_fields(self, request: HttpRequest, obj: QuestionRecord | None = None) -> Any:
        """The facts; the words for those who may read them."""
        shown = ["public_id", "asked_at", "asker_name", "as_of", "door", "ended"]
        if not request.user.has_perm(_READ):
            return shown
        words = _words(obj) if obj else None
        # An answer quotes policies, and auditors look after departments: the question alone.
        is_theirs = words is None or access.manages_all(staff(request), map(str, words.chunk_ids))
        return [*shown, "question", "shown_answer" if is_theirs else "no_answer"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Asking makes them."""
        return False

    def has_change_permission(
        self, request: HttpRequest, obj: QuestionRecord | None = None
    ) -> bool:
        """Nobody rewrites the record; the database refuses, too."""
        return False

    def has_erase_permission(self, request: HttpRequest) -> bool:
        """Whether words may be erased here."""
        return request.user.has_perm("qa.erase_questions")

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """One question; that its words were read is recorded before they are shown."""
        record = self.get_object(request, object_id)
        is_allowed = self.has_view_permission(request, record) and request.user.has_perm(_READ)
        if record is not None and is_allowed and hasattr(record, "words"):
            audit.record("question_read", record, actor=staff(request))
        return super().change_view(request, object_id, form_url, extra_context)

    @admin.display(description="outcome")
    def ended(self, record: QuestionRecord) -> str:
        """How it ended."""
        return record.outcome.status if hasattr(record, "outcome") else "aborted"

    @admin.display(description="words on record", boolean=True)
    def has_words(self, record: QuestionRecord) -> bool:
        """Whether they have not been erased."""
        return hasattr(record, "words")

    @admin.display(description="question")
    def question(self, record: QuestionRecord) -> str:
        """What was asked."""
        words = _words(record)
        return words.question if words else "erased"

    @admin.display(description="answer as shown")
    def shown_answer(self, record: QuestionRecord) -> str:
        """What the asker was shown."""
        words = _words(record)
        if words is None or words.shown is None:
            return "none" if words else "erased"
        return json.dumps(words.shown, ensure_ascii=False, indent=2)

    @admin.display(description="answer as shown")
    def no_answer(self, record: QuestionRecord) -> str:
        """In the place of an answer that quotes other departments' policies."""
        return "It rests on policies that you do not look after."

    @admin.action(
        permissions=["erase"], description="Erase all words of the askers of the selected"
    )
    def erase_askers(
        self, request: HttpRequest, queryset: QuerySet[QuestionRecord]
    ) -> HttpResponse | None:
        """Say what would go; erase once that is confirmed."""
        pairs = set(queryset.values_list("asker_id", "asker_name"))
        people = [erasure.Asker(pk, name) for pk, name in pairs if pk is not None]
        askers = sorted(people, key=lambda asker: (asker.name, asker.user_id))
        if not askers:
            messages.warning(request, "These were asked by nobody in particular.")
            return None
        if request.POST.get("confirmed") == "yes":
            erased = sum(erasure.erase(asker, actor=staff(request)) for asker in askers)
            messages.success(request, f"The words of {erased} questions were erased.")
            return None
        return self._ask(request, queryset, askers)

    def _ask(
        self,
        request: HttpRequest,
        queryset: QuerySet[QuestionRecord],
        askers: list[erasure.Asker],
    ) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": "Erase the words of questions",
            "rows": [(asker, erasure.extent(asker)) for asker in askers],
            "selected": list(queryset.values_list("pk", flat=True)),
        }
        return TemplateResponse(request, "admin/qa/questionrecord/erase.html", context)


def _words(record: QuestionRecord) -> QuestionText | None:
    return getattr(record, "words", None)
