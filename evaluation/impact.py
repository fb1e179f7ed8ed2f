"""Which evaluation questions expect words that a new version of a policy would change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from django.db.models import Max
from django.urls import reverse

from documents.hooks import Impact, ImpactItem, Touched
from evaluation.metrics.matching import folded, holds_quote
from evaluation.models import Question, QuestionSet

if TYPE_CHECKING:
    from django.contrib.auth.models import User

_SEES_SETS = "evaluation.view_questionset"
_MOST_LISTED = 50


def questions_touched(touched: Touched, user: User) -> Impact | None:
    """The questions whose expected quotes stand in what changes or goes; inside `editing`."""
    newest = QuestionSet.objects.values("name").annotate(version=Max("version"))
    sets = [QuestionSet.objects.get(name=row["name"], version=row["version"]) for row in newest]
    rows = Question.objects.filter(question_set__in=sets).select_related("question_set")
    found = [(row, lost) for row in rows if (lost := list(_touched_quotes(row, touched)))]
    if not found:
        return None
    gone = sum(not all(_still_stands(quote, touched) for quote in lost) for _, lost in found)
    noun = "question expects" if len(found) == 1 else "questions expect"
    sentence = f"{len(found)} evaluation {noun} words of sections that change or go"
    sentence += f"; {gone} of them quote what stands there no more." if gone else "."
    items = tuple(_item(row) for row, _ in found[:_MOST_LISTED])
    return Impact(sentence, items if user.has_perm(_SEES_SETS) else ())


def _touched_quotes(question: Question, touched: Touched) -> Iterator[str]:
    """The expected quotes of a question that stand in words which change or go."""
    names = {folded(touched.policy_slug), folded(touched.policy_title)}
    for place in question.expected:
        quote = place.get("quote", "")
        is_ours = folded(place.get("document", "")) in names
        if is_ours and any(holds_quote(text, quote) for text in touched.words_before):
            yield quote


def _still_stands(quote: str, touched: Touched) -> bool:
    return any(holds_quote(text, quote) for text in touched.words_after)


def _item(question: Question) -> ImpactItem:
    return ImpactItem(
        label=f"{question.key} of {question.question_set}",
        url=reverse("admin:evaluation_questionset_change", args=[question.question_set_id]),
    )
