"""Erases the words of one person's questions, and of the answers that they were shown.

What is left says that somebody asked, when, how it ended and what it cost; the digests in the
audit trail stay too, but the salt that they were keyed with is erased with the words, so that
nobody can try out guesses on them. The chain over the trail is not touched.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model

from documents import access, audit
from documents.errors import ValidationProblem
from qa.models import QuestionRecord, QuestionText

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet


@dataclass(frozen=True, slots=True)
class Asker:
    """Whose questions are meant; the account may be gone."""

    user_id: int
    name: str


@dataclass(frozen=True, slots=True)
class Extent:
    """What there is of a person's questions."""

    questions: int
    with_words: int


def find_asker(name: str, *, user_id: int | None = None) -> Asker:
    """The one person of this name who has an account or has asked something.

    Args:
        name: the user name, now or when the questions were asked.
        user_id: which one, where several accounts have had the name.

    Raises:
        ValidationProblem: nobody of that name, or several and no `user_id` among them.
    """
    with access.editing():
        asked = QuestionRecord.objects.filter(asker_name=name).exclude(asker_id=None)
        ids = {pk for pk in asked.values_list("asker_id", flat=True) if pk is not None}
        own = get_user_model().objects.filter(username=name).values_list("pk", flat=True)
    found = ids | set(own)
    if user_id is not None:
        found &= {user_id}
    if not found:
        raise ValidationProblem(
            f"Nobody named {name} has an account or has asked anything. Check the name.",
            code="unknown_user",
        )
    if len(found) > 1:
        raise ValidationProblem(
            f"Several accounts have had the name {name}: "
            f"{', '.join(map(str, sorted(found)))}. Say which one is meant with --user-id.",
            code="several_users",
        )
    return Asker(found.pop(), name)


def extent(asker: Asker) -> Extent:
    """How many questions a person has asked, and of how many the words are there."""
    with access.editing():
        questions = QuestionRecord.objects.filter(asker_id=asker.user_id).count()
        return Extent(questions, _words(asker).count())


def erase(asker: Asker, *, actor: User | None) -> int:
    """Erase the words of all questions of a person.

    Returns:
        Of how many questions words were erased.
    """
    with access.editing():
        erased, _by_model = _words(asker).delete()
        audit.record(
            "questions_erased",
            None,
            actor=actor,
            after={"user_id": asker.user_id, "questions": erased},
            object_type="user",
            object_id=str(asker.user_id),
        )
    return erased


def _words(asker: Asker) -> QuerySet[QuestionText]:
    return QuestionText.objects.filter(question_record__asker_id=asker.user_id)
