"""Which stored answers cite what a new version of a policy would change: for its approver.

Everybody who approves learns how many; which ones, only who may see the questions of others.
Their words are in the admin's list of questions, where each look is recorded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from django.urls import reverse

from documents.hooks import Impact, ImpactItem, Touched
from qa.models import QuestionText

if TYPE_CHECKING:
    from django.contrib.auth.models import User

_SEES_QUESTIONS = "qa.read_questions"
_MOST_LISTED = 50


def answers_touched(touched: Touched, user: User) -> Impact | None:
    """The answers on record that cite a section which changes or goes; inside `editing`."""
    if not touched.chunks:
        return None
    rows = QuestionText.objects.filter(chunk_ids__overlap=list(touched.chunks))
    citing = [row for row in rows.select_related("question_record") if _cites(row.shown, touched)]
    if not citing:
        return Impact("No stored answer cites what changes.")
    noun = "stored answer cites" if len(citing) == 1 else "stored answers cite"
    sentence = f"{len(citing)} {noun} sections that change or go."
    may_see = user.has_perm(_SEES_QUESTIONS)
    return Impact(sentence, tuple(map(_item, citing[:_MOST_LISTED])) if may_see else ())


def _cites(shown: dict[str, Any] | None, touched: Touched) -> bool:
    return any(section in touched.sections for section in _cited(shown))


def _cited(shown: dict[str, Any] | None) -> Iterator[str]:
    for claim in (shown or {}).get("claims", []):
        for citation in claim["citations"]:
            yield citation["section_public_id"]


def _item(row: QuestionText) -> ImpactItem:
    record = row.question_record
    return ImpactItem(
        label=f"Question {record.public_id}, asked on {record.asked_at:%Y-%m-%d}",
        url=reverse("admin:qa_questionrecord_change", args=[record.pk]),
    )
