from __future__ import annotations

import datetime
import json
from pathlib import Path

import pytest

from evaluation.errors import QuestionFileError
from evaluation.question_sets import read_questions
from evaluation.records import Expected, LabelledQuestion

FULL = {
    "id": "a1",
    "question": "How many days?",
    "answerable": True,
    "expected": [{"document": "leave", "section": 4, "quote": "27 days"}],
    "terms": ["27 days"],
    "labels": ["hr"],
    "as_of": "2026-07-01",
    "note": "amount",
    "forbidden": ["double pay"],
}
RECORD = LabelledQuestion(
    key="a1",
    question="How many days?",
    answerable=True,
    expected=(Expected("leave", "4", "27 days"),),
    terms=("27 days",),
    labels=("hr",),
    as_of=datetime.date(2026, 7, 1),
    note="amount",
    forbidden=("double pay",),
)


def write(tmp_path: Path, text: str, name: str = "set.jsonl") -> Path:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return path


def test_json_lines_give_every_field_and_skip_empty_lines(tmp_path: Path) -> None:
    other = {"id": 2, "question": "Who?", "answerable": False}
    path = write(tmp_path, f"\ufeff{json.dumps(FULL)}\n\n{json.dumps(other)}\n")
    assert read_questions(path) == (RECORD, LabelledQuestion("2", "Who?", False))


def test_a_line_separator_inside_a_question_ends_no_line(tmp_path: Path) -> None:
    row = json.dumps(FULL | {"note": "a\u2028b"}, ensure_ascii=False)
    assert read_questions(write(tmp_path, row))[0].note == "a\u2028b"


def test_csv_names_places_in_columns_or_as_json(tmp_path: Path) -> None:
    heading = "id,question,answerable,document,section,quote,terms,labels,as_of,note,forbidden\n"
    row = "a1,How many days?,yes,leave,4,27 days,27 days,hr,2026-07-01,amount,double pay\n"
    path = write(tmp_path, heading + row + 'a2,"Who, then?",0,,,,,,,,\n', "set.csv")
    assert read_questions(path) == (RECORD, LabelledQuestion("a2", "Who, then?", False))
    cell = json.dumps(FULL["expected"]).replace('"', '""')
    text = f'id,question,answerable,expected,terms\nb,Days?,true,"{cell}",27 days|leave\n'
    found = read_questions(write(tmp_path, text, "other.csv"))[0]
    assert (found.expected, found.terms) == (RECORD.expected, ("27 days", "leave"))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"id": ""}, "id is missing"),
        ({"id": None}, "id is missing"),
        ({"question": ""}, "question cannot be asked"),
        ({"question": 7}, "question is missing"),
        ({"question": "x" * 2000}, "question cannot be asked"),
        ({"answerable": "perhaps"}, "answerable must be true or false"),
        ({"answerable": None}, "answerable must be true or false"),
        ({"answerable": False}, "expects no place"),
        ({"expected": [], "terms": []}, "needs expected places or terms"),
        ({"expected": ["leave"]}, "expected must be a list of objects"),
        ({"expected": [{"section": "4"}]}, "needs a document"),
        ({"expected": [{"document": "leave"}]}, "a section or a quote"),
        ({"terms": "27 days"}, "terms must be a list"),
        ({"labels": [1]}, "labels must be a list"),
        ({"as_of": "yesterday"}, "not a date"),
    ],
)
def test_each_mistake_is_named_with_its_line(
    tmp_path: Path, change: dict[str, object], reason: str
) -> None:
    good = json.dumps(FULL | {"id": "other"})
    with pytest.raises(QuestionFileError) as caught:
        read_questions(write(tmp_path, f"{good}\n{json.dumps(FULL | change)}"))
    assert "line 2: " in caught.value.message
    assert reason in caught.value.message


def test_all_mistakes_are_reported_at_once_and_long_lists_are_cut(tmp_path: Path) -> None:
    with pytest.raises(QuestionFileError) as caught:
        read_questions(write(tmp_path, "\n".join(["{", "[1]", *["oops"] * 30])))
    message = caught.value.message
    assert "line 1: this is not JSON" in message
    assert "line 2: this is not a JSON object" in message
    assert "and 12 more lines" in message


def test_an_id_is_used_once(tmp_path: Path) -> None:
    with pytest.raises(QuestionFileError, match="line 2: the id a1 was used before"):
        read_questions(write(tmp_path, f"{json.dumps(FULL)}\n{json.dumps(FULL)}"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("id,question\na\n", "not as many cells"),
        ('id,question\n"a,b\n', "not CSV"),
        ("id,question,answerable,expected\na,Who?,true,[\n", "expected is not JSON"),
    ],
)
def test_broken_csv_is_named(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(QuestionFileError, match=reason):
        read_questions(write(tmp_path, text, "set.csv"))


def test_a_file_that_is_missing_empty_or_not_text_says_so(tmp_path: Path) -> None:
    with pytest.raises(QuestionFileError, match="cannot be read"):
        read_questions(tmp_path / "none.jsonl")
    with pytest.raises(QuestionFileError, match="holds no question"):
        read_questions(write(tmp_path, "\n"))
    (tmp_path / "binary.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(QuestionFileError, match="not UTF-8"):
        read_questions(tmp_path / "binary.jsonl")
