"""Question sets and runs for staff: to look at, never to change.

Questions come from files (`import_questions`) and runs from `evaluate`, so that a figure always
belongs to questions that nobody touched. What a run's results quote is shown on the evaluation
page alone, with the rights of whoever looks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from evaluation.models import EvaluationRun, Question, QuestionSet

if TYPE_CHECKING:
    _SetAdmin = admin.ModelAdmin[QuestionSet]
    _RunAdmin = admin.ModelAdmin[EvaluationRun]
    _Inline = admin.TabularInline[Question, QuestionSet]
else:  # Django's own classes take no type argument at run time
    _SetAdmin = _RunAdmin = admin.ModelAdmin
    _Inline = admin.TabularInline


class _ReadOnly:
    """Nothing can be added, changed or deleted here."""

    def has_add_permission(self, request: HttpRequest, *args: object) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


class QuestionInline(_ReadOnly, _Inline):
    """The questions of a set."""

    model = Question
    fields = ("key", "question", "answerable", "labels", "as_of", "expected", "terms", "note")


@admin.register(QuestionSet)
class QuestionSetAdmin(_ReadOnly, _SetAdmin):
    """Every version of every set."""

    list_display = ("name", "version", "question_count", "created_at")
    list_filter = ("name",)
    inlines = (QuestionInline,)

    @admin.display(description="questions")
    def question_count(self, obj: QuestionSet) -> int:
        """How many questions this version has."""
        return obj.questions.count()


@admin.register(EvaluationRun)
class EvaluationRunAdmin(_ReadOnly, _RunAdmin):
    """Runs with their figures over all questions."""

    list_display = ("set_name", "set_version", "answerer", "started_at", "finished_at", "page")
    list_filter = ("set_name", "answerer")
    fields = (
        "page",
        "set_name",
        "set_version",
        "answerer",
        "settings",
        "code_version",
        "corpus_revision",
        "started_at",
        "finished_at",
        "questions",
        "metrics",
        "thresholds",
    )
    readonly_fields = fields

    @admin.display(description="questions and answers")
    def page(self, obj: EvaluationRun) -> str:
        """A link to the page that shows results with the viewer's own rights."""
        address = reverse("evaluation-run", args=[obj.public_id])
        return format_html('<a href="{}">Open</a>', address)
