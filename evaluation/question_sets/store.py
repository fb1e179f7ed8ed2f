"""Question sets in the database: a changed import makes a new version, an equal one nothing.

Questions quote policies, so they are written and read inside `access.editing`: by staff and by
the runner, never by a reader.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db.models import Max

from documents import access
from evaluation.errors import QuestionFileError, UnknownSetError
from evaluation.models import Question, QuestionSet
from evaluation.question_sets.files import read_questions
from evaluation.records import Expected, LabelledQuestion


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import came to; `is_new` is false when the newest version holds the same."""

    name: str
    version: int
    questions: int
    is_new: bool


@dataclass(frozen=True, slots=True)
class StoredSet:
    """The newest version of a set."""

    pk: int
    name: str
    version: int
    questions: tuple[LabelledQuestion, ...]


def import_file(path: Path, *, name: str) -> Imported:
    """Take the questions of a file as the newest version of the set `name`.

    Raises:
        QuestionFileError: the file has mistakes, or the name cannot be used.
    """
    return save_set(read_questions(path), name=name)


def save_set(questions: Sequence[LabelledQuestion], *, name: str) -> Imported:
    """Keep questions as the newest version of the set `name`, unless it holds the same.

    Raises:
        QuestionFileError: the name is empty or too long.
    """
    name = name.strip()
    if not 1 <= len(name) <= 100:
        raise QuestionFileError("The name of a question set has 1 to 100 characters.")
    digest = _digest(questions)
    with access.editing():
        newest = QuestionSet.objects.select_for_update().filter(name=name).first()
        if newest is not None and newest.digest == digest:
            return Imported(name, newest.version, len(questions), is_new=False)
        last = QuestionSet.objects.filter(name=name).aggregate(last=Max("version"))["last"] or 0
        made = QuestionSet.objects.create(name=name, version=last + 1, digest=digest)
        Question.objects.bulk_create(_row(made, n, q) for n, q in enumerate(questions))
    return Imported(name, made.version, len(questions), is_new=True)


def load_set(name: str) -> StoredSet:
    """The newest version of the set `name`.

    Raises:
        UnknownSetError: there is none; the message lists those that exist.
    """
    with access.editing():
        newest = QuestionSet.objects.filter(name=name).first()
        if newest is None:
            known = sorted(set(QuestionSet.objects.values_list("name", flat=True)))
            listed = ", ".join(known) or "none yet"
            raise UnknownSetError(
                f"There is no question set {name}, and no file of that name. Sets: {listed}."
            )
        questions = tuple(_record(row) for row in newest.questions.all())
    return StoredSet(newest.pk, newest.name, newest.version, questions)


def _digest(questions: Sequence[LabelledQuestion]) -> str:
    rows = [dataclasses.asdict(question) for question in questions]
    text = json.dumps(rows, ensure_ascii=False, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _row(owner: QuestionSet, ordinal: int, question: LabelledQuestion) -> Question:
    return Question(
        question_set=owner,
        ordinal=ordinal,
        key=question.key,
        question=question.question,
        answerable=question.answerable,
        expected=[dataclasses.asdict(item) for item in question.expected],
        terms=list(question.terms),
        forbidden=list(question.forbidden),
        labels=list(question.labels),
        as_of=question.as_of,
        note=question.note,
    )


def _record(row: Question) -> LabelledQuestion:
    expected: list[dict[str, Any]] = row.expected
    return LabelledQuestion(
        key=row.key,
        question=row.question,
        answerable=row.answerable,
        expected=tuple(Expected(**item) for item in expected),
        terms=tuple(row.terms),
        labels=tuple(row.labels),
        as_of=row.as_of,
        note=row.note,
        forbidden=tuple(row.forbidden),
    )
