"""What a new version touches in the apps above `documents`, as its approver is told."""

from __future__ import annotations

import datetime

import pytest

from documents import access
from documents.admin.checklist import checklist_of
from documents.models import PolicyVersion
from documents.tests import factories
from documents.tests.admin.support import person
from evaluation.models import Question, QuestionSet
from qa import pipeline as questions
from qa.pipeline import Asked

pytestmark = pytest.mark.django_db
day = datetime.date

OLD = (
    "# Leave\n\n## 1 Annual leave\n\nStaff receive 27 days of annual leave each year.\n\n"
    "## 2 Sick leave\n\nA doctor's note is needed from the fourth day of sickness.\n"
)
NEW = OLD.replace("27 days", "30 days")


def _two() -> tuple[PolicyVersion, PolicyVersion]:
    first = factories.published(
        OLD, policy_slug="leave", title="Leave", department="HR", effective_from=day(2024, 1, 1)
    )
    return first, factories.parsed(NEW, policy_slug="leave", effective_from=day(2025, 1, 1))


def test_which_answers_are_touched_is_listed_for_those_alone_who_may_see_questions():
    _, second = _two()
    emp = factories.user("emp")
    asked = Asked(asker=access.Reader.for_user(emp), question="How many days of annual leave?",
                  as_of=day(2024, 6, 1), door="page")  # fmt: skip
    questions.ask(asked)
    root = factories.user("root", is_staff=True, is_superuser=True)
    reviewer = person("rev", "reviewer", "HR")

    with access.editing():
        [seen] = checklist_of(second, root).impacts
        [hidden] = checklist_of(second, reviewer).impacts

    assert seen.sentence == "1 stored answer cites sections that change or go."
    assert seen.sentence == hidden.sentence
    assert (len(seen.items), hidden.items) == (1, ())
    assert "annual" not in seen.items[0].label


def test_evaluation_questions_that_quote_changed_words_are_counted():
    _, second = _two()
    with access.editing():
        given = QuestionSet.objects.create(name="set", version=1, digest="0")
        for key, quote in (("a", "27 days of annual leave"), ("b", "from the fourth day"),
                           ("c", "annual leave each year")):  # fmt: skip
            Question.objects.create(
                question_set=given, ordinal=0, key=key, question="?", answerable=True,
                expected=[{"document": "Leave", "section": "", "quote": quote}],
            )  # fmt: skip
        found = checklist_of(second, factories.user("root", is_staff=True, is_superuser=True))

    [impact] = [one for one in found.impacts if "evaluation" in one.sentence]
    assert impact.sentence == (
        "2 evaluation questions expect words of sections that change or go; "
        "1 of them quote what stands there no more."
    )
    assert [item.label[0] for item in impact.items] == ["a", "c"]
