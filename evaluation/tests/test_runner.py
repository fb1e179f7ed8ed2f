"""A run over real policies: what it measures, keeps, and keeps apart."""

from __future__ import annotations

import datetime
from dataclasses import replace
from typing import Any

import pytest
from django.db import ProgrammingError, connection
from psycopg.sql import SQL, Composed, Identifier

from documents import access, actions
from documents.access import Reader
from documents.errors import UnknownLabelError
from documents.tests import factories as policies
from evaluation import observing
from evaluation.errors import AnswererError, QuestionFileError
from evaluation.models import EvaluationRun, Question, QuestionSet, RunResult
from evaluation.question_sets import save_set
from evaluation.records import Expected, LabelledQuestion
from evaluation.runner import RunReport, run_question_set
from evaluation.tests import factories
from qa import pipeline
from qa.models import QuestionRecord
from qa.pipeline import Asked
from qa.records import Finished, SearchResult

pytestmark = pytest.mark.django_db


def values(report: RunReport) -> dict[str, float | None]:
    return {figure.name: figure.value for figure in report.figures}


def results(run_id: str) -> dict[str, RunResult]:
    with access.editing():
        return {row.key: row for row in RunResult.objects.filter(run__public_id=run_id)}


def seen_keys(reader: Reader, as_of: datetime.date | None = None) -> set[str]:
    with access.reading_as(reader, as_of):
        return set(RunResult.objects.values_list("key", flat=True))


def test_a_run_measures_answers_and_refusals_and_is_kept() -> None:
    factories.corpus()

    report = factories.run(gates={"recall@5": 0.95, "leaks": 0})

    found = values(report)
    assert [judged.is_passed for judged in report.results] == [True] * 4
    assert [judged.status for judged in report.results] == ["answered"] * 2 + ["refused"] * 2
    for name in ("recall@5", "mrr", "answer_accuracy", "refusal_accuracy", "quote_validity"):
        assert found[name] == 1, name
    assert (found["false_refusal_rate"], found["leaks"], found["cost_per_answer_usd"]) == (0, 0, 0)
    assert [gate.is_met for gate in report.gates] == [True, True]
    with access.editing():
        run = EvaluationRun.objects.get(public_id=report.run_id)
    assert (run.set_name, run.answerer, run.questions) == ("small", "extractive", 4)
    assert run.finished_at is not None
    assert run.code_version
    assert run.corpus_revision
    assert run.metrics["recall@5"]["value"] == 1
    assert run.thresholds[0] == {"name": "recall@5", "limit": 0.95, "value": 1.0, "is_met": True}


def test_a_result_keeps_what_a_page_needs_and_neither_note_nor_passage_texts() -> None:
    factories.corpus()

    row = results(factories.run(factories.DAYS).run_id)["days"]

    assert row.outcome is not None
    assert row.outcome["claims"][0]["citations"][0]["section_id"] == "1"
    assert row.expected == [
        {"is_found": True, "document": "leave", "section": "1", "quote": "27 days of annual leave"}
    ]
    assert (row.labels, row.terms, row.status) == (["all-staff"], ["27 days"], "answered")
    assert row.retrieved[0]["is_expected"]
    assert row.retrieved[0]["rank"] == 1
    assert "sources" not in row.outcome
    assert "text" not in row.retrieved[0]
    assert "staff note" not in repr(row.__dict__)


def test_a_run_asks_as_holders_of_each_questions_labels_and_is_logged() -> None:
    factories.corpus()
    factories.run()
    with access.editing():
        askers = set(QuestionRecord.objects.values_list("asker_name", "door"))
    assert askers == {("labels:all-staff", "eval"), ("labels:all-staff,hr", "eval")}


def test_a_past_day_is_asked_for_by_the_versions_in_force_then() -> None:
    day = datetime.date(2024, 6, 1)
    policies.published(factories.LEAVE, policy_slug="leave")
    policies.published(
        factories.LEAVE.replace("27", "30"),
        policy_slug="leave",
        effective_from=datetime.date(2025, 1, 1),
    )
    then = replace(factories.DAYS, key="then", as_of=day)
    now = replace(factories.DAYS, key="now", expected=(Expected("leave", "1"),), terms=("30 days",))

    report = factories.run(then, now)

    assert [judged.is_passed for judged in report.results] == [True, True]
    assert results(report.run_id)["then"].as_of == day


def test_a_question_that_fails_is_kept_with_its_reason_and_counts() -> None:
    factories.corpus()
    too_long = replace(factories.DAYS, key="long", question="x" * 2000)

    report = factories.run(too_long, replace(factories.OFF_TOPIC, question="x" * 2000))

    assert [judged.status for judged in report.results] == ["failed", "failed"]
    assert "invalid_question" in report.results[0].error
    assert values(report)["false_refusal_rate"] == 1
    assert values(report)["refusal_accuracy"] == 0


def test_a_run_that_breaks_off_keeps_what_it_has() -> None:
    factories.corpus()

    def broken(judged: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_question_set(factories.plan(factories.DAYS), on_result=broken)
    with access.editing():
        run = EvaluationRun.objects.get()
        assert run.finished_at is None
        assert run.results.count() == 1


def test_what_cannot_be_asked_is_said_before_anything_is_asked(settings: Any) -> None:
    settings.ANTHROPIC_API_KEY = ""
    policies.label()
    tomorrow = access.today() + datetime.timedelta(days=1)
    with pytest.raises(QuestionFileError, match="day to come: days"):
        factories.run(replace(factories.DAYS, as_of=tomorrow))
    with pytest.raises(UnknownLabelError, match="nowhere"):
        factories.run(replace(factories.DAYS, labels=("nowhere",)))
    with pytest.raises(AnswererError, match="ANTHROPIC_API_KEY"):
        factories.run(factories.DAYS, answerer="claude")
    with pytest.raises(QuestionFileError, match="no question"):
        factories.run(questions=())
    with access.editing():
        assert not EvaluationRun.objects.exists()
        assert not QuestionRecord.objects.exists()


def _as_hr(asked: Asked) -> Asked:
    return replace(asked, asker=Reader.with_labels(["all-staff", "hr"]))


def test_a_leak_is_found_by_the_words_and_by_the_rights(monkeypatch: pytest.MonkeyPatch) -> None:
    factories.corpus()

    def leaking_search(asked: Asked) -> SearchResult:
        return pipeline.search_passages(_as_hr(asked))

    monkeypatch.setattr(observing, "pipeline", _Leaking(leaking_search, pipeline.ask))
    report = factories.run(factories.SEVERANCE, factories.SEVERANCE_FOR_ALL)
    assert values(report)["leaks"] == 1
    assert [judged.is_passed for judged in report.results] == [True, False]

    def leaking_ask(asked: Asked) -> Finished:
        return pipeline.ask(_as_hr(asked))

    monkeypatch.setattr(observing, "pipeline", _Leaking(pipeline.search_passages, leaking_ask))
    assert values(factories.run(factories.SEVERANCE_FOR_ALL))["leaks"] == 1


class _Leaking:
    """The pipeline with one door left open."""

    def __init__(self, search_passages: object, ask: object) -> None:
        self.search_passages = search_passages
        self.ask = ask


def test_a_result_is_seen_with_every_label_of_its_question_alone() -> None:
    factories.corpus()
    policies.label("legal-privileged", role="restriction")
    factories.run(*factories.QUESTIONS, replace(factories.DAYS, key="secret",
        question="How many days, then?", labels=("all-staff", "legal-privileged")))  # fmt: skip
    everyone = {"days", "nitrogen"}
    hr = {"severance", "severance-all"}

    assert seen_keys(Reader.with_labels(["all-staff"])) == everyone
    assert seen_keys(Reader.with_labels(["all-staff", "hr"])) == everyone | hr
    assert seen_keys(Reader.with_labels(["hr"])) == set()
    assert seen_keys(Reader.with_labels(["all-staff", "legal-privileged"])) == everyone | {"secret"}
    assert seen_keys(Reader.with_labels(["legal-privileged"])) == set()
    assert seen_keys(Reader.with_labels([])) == set()


def test_a_result_is_seen_on_its_own_day_alone() -> None:
    factories.corpus()
    factories.run(factories.DAYS)
    reader = Reader.with_labels(["all-staff"])
    assert seen_keys(reader) == {"days"}
    assert seen_keys(reader, datetime.date(2024, 6, 1)) == set()


def test_a_result_goes_when_what_it_rests_on_is_withdrawn() -> None:
    version = policies.published(factories.LEAVE, policy_slug="leave")
    factories.run(factories.DAYS, factories.OFF_TOPIC)
    reader = Reader.with_labels(["all-staff"])
    assert "days" in seen_keys(reader)

    actions.withdraw_version(
        version.pk, actor=policies.user(is_superuser=True), note="published in error"
    )

    assert seen_keys(reader) == set()  # the off-topic question had retrieved from it too


def test_a_label_that_quotes_what_its_asker_cannot_read_is_not_shown() -> None:
    factories.corpus()
    wrong = replace(
        factories.DAYS,
        expected=(*factories.DAYS.expected, *factories.SEVERANCE.expected),
        terms=("27 days", "61,000 euros"),
    )
    row = results(factories.run(wrong).run_id)["days"]
    assert row.expected[1] == {"is_found": False}
    assert row.terms == []
    assert "severance" not in repr((row.expected, row.retrieved, row.outcome)).lower()


def test_the_database_shows_nothing_outside_a_reading_and_no_total_inside_one() -> None:
    factories.corpus()
    save_set(factories.QUESTIONS, name="small")
    factories.run()
    for model in (QuestionSet, Question, EvaluationRun, RunResult):
        assert not model.objects.exists()
    with access.reading_as(Reader.with_labels(["all-staff", "hr"])):
        assert EvaluationRun.objects.only(*EvaluationRun.OPEN_FIELDS).count() == 1


@pytest.mark.parametrize(
    "column", ["metrics", "thresholds", "questions", "corpus_revision", "question_set_id"]
)
def test_a_readers_role_cannot_select_figures_over_all_questions(column: str) -> None:
    query = SQL("select {} from evaluation_evaluationrun").format(Identifier(column))
    with pytest.raises(ProgrammingError, match="permission denied"):
        _select_as_reader(query)


@pytest.mark.parametrize("table", ["evaluation_question", "evaluation_questionset"])
def test_a_readers_role_cannot_select_questions_of_a_set(table: str) -> None:
    with pytest.raises(ProgrammingError, match="permission denied"):
        _select_as_reader(SQL("select * from {}").format(Identifier(table)))


def _select_as_reader(query: Composed) -> None:
    with access.reading_as(Reader.with_labels(())), connection.cursor() as cursor:
        cursor.execute(query)


def test_an_empty_list_of_labels_means_the_label_of_everyone(settings: Any) -> None:
    question = LabelledQuestion("a", "Who?", answerable=False)
    assert observing.asker_labels(question) == ("all-staff",)
    settings.EVERYONE_LABEL = ""
    assert observing.asker_labels(question) == ()
