"""`import_questions` and `evaluate`: what they print, and how they end."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from documents import access
from evaluation.models import EvaluationRun
from evaluation.question_sets import save_set
from evaluation.tests import factories

pytestmark = pytest.mark.django_db
ROWS = [
    {
        "id": "days",
        "question": factories.DAYS.question,
        "answerable": True,
        "expected": [{"document": "leave", "section": "1"}],
        "terms": ["27 days"],
    },
    {"id": "nitrogen", "question": factories.OFF_TOPIC.question, "answerable": False},
]


@pytest.fixture
def question_file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)), "utf-8")
    return path


def call(*args: object, **options: Any) -> str:
    out = StringIO()
    call_command(*map(str, args), stdout=out, **options)
    return out.getvalue()


def failed(*args: object) -> CommandError:
    with pytest.raises(CommandError) as caught:
        call(*args)
    return caught.value


def runs() -> int:
    with access.editing():
        return EvaluationRun.objects.count()


def test_a_set_is_imported_once_and_run_by_its_name(question_file: Path) -> None:
    factories.corpus()
    assert "set1, version 1: 2 questions, imported." in call(
        "import_questions", question_file, "--name", "set1"
    )
    assert "nothing to do" in call("import_questions", question_file, "--name", "set1")
    assert json.loads(call("import_questions", question_file, "--json"))["name"] == "mine"

    text = call("evaluate", "set1", "--gate", "recall@5=0.95", "--gate", "refusal_accuracy=1")

    assert "set1, version 1, extractive, 2 questions" in text
    assert "0.95 met" in text
    for name in ("mrr", "false_refusal_rate", "latency_p95_ms"):
        assert name in text
    assert "Not as labelled" not in text


def test_a_file_is_run_as_it_is_and_printed_as_json(question_file: Path) -> None:
    factories.corpus()
    found = json.loads(call("evaluate", question_file, "--json", "--gate", "mrr=0.5", "leaks=0"))
    assert (found["set"], found["version"], found["count"]) == ("mine.jsonl", None, 2)
    assert found["metrics"]["recall@5"] == 1
    assert found["intervals"]["recall@5"] == [1, 1]
    assert found["passed"]
    assert [gate["met"] for gate in found["gates"]] == [True, True]
    assert [question["id"] for question in found["questions"]] == ["days", "nitrogen"]
    assert runs() == 1


def test_an_unmet_gate_exits_with_2_after_the_figures(question_file: Path) -> None:
    question_file.write_text(json.dumps(ROWS[0] | {"terms": ["99 days"]}))
    factories.corpus()
    out = StringIO()
    with pytest.raises(CommandError) as caught:
        call_command("evaluate", str(question_file), "--gate", "answer_accuracy=0.5", stdout=out)
    assert caught.value.returncode == 2
    assert "answer_accuracy is 0.000, the limit is 0.5" in str(caught.value)
    assert "NOT MET" in out.getvalue()
    assert "Not as labelled: days (answered; an answer was wanted)" in out.getvalue()


def test_a_gate_on_what_was_not_measured_is_unmet(question_file: Path) -> None:
    question_file.write_text(json.dumps(ROWS[0]))
    factories.corpus()
    assert failed("evaluate", question_file, "--gate", "refusal_accuracy=0").returncode == 2


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--gate", "recal@5=1"], "There is no metric recal@5. Metrics: recall@5, mrr"),
        (["--gate", "recall@9=1"], "measured at 5, and at the value of --k"),
        (["--gate", "mrr=high"], "mrr=high sets no limit"),
        (["--gate", "mrr=nan"], "sets no limit"),
        (["--gate", "mrr=1", "oops"], "There is no metric oops"),
        (["--k", "0"], "--k is 0"),
        (["--k", "21"], "--k is 21"),
        (["--limit", "0"], "--limit is 0"),
        (["--answerer", "claude"], "Set ANTHROPIC_API_KEY"),
    ],
)
def test_what_cannot_be_run_exits_with_1_and_says_why(
    question_file: Path, arguments: list[str], reason: str
) -> None:
    factories.corpus()
    error = failed("evaluate", question_file, *arguments)
    assert error.returncode == 1
    assert reason in str(error)
    assert runs() == 0


def test_a_set_may_follow_the_gates_and_recall_be_taken_at_k() -> None:
    factories.corpus()
    save_set(factories.QUESTIONS, name="small")
    text = call("evaluate", "--gate", "recall@8=1", "small", "--k", "8", "--limit", "1")
    assert "recall@8" in text
    assert "1 questions" in text


def test_unknown_sets_and_files_are_named(tmp_path: Path) -> None:
    assert "no question set nowhere" in str(failed("evaluate", "nowhere"))
    assert "There is no file" in str(failed("evaluate", tmp_path / "none.jsonl"))
    assert "Say what to run" in str(failed("evaluate"))
    assert "cannot be read" in str(failed("import_questions", tmp_path / "none.jsonl"))


def test_a_label_that_does_not_exist_is_said(question_file: Path) -> None:
    question_file.write_text(json.dumps(ROWS[1] | {"labels": ["hr", "nowhere"]}))
    factories.corpus()
    error = failed("evaluate", question_file)
    assert "There is no label nowhere" in str(error)
    assert error.returncode == 1
