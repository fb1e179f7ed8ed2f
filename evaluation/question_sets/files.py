"""Question files: JSON Lines or CSV, checked line by line.

Every mistake of a file is reported at once, each with its line, so that it can be mended in
one go. Fields: `id`, `question`, `answerable`, `expected`, `terms`, `labels`, `as_of`, `note`,
`forbidden`. In CSV `expected` is a JSON list, or the columns `document`, `section` and `quote`
name one place; `terms`, `labels` and `forbidden` are parted by `|`.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final

from evaluation.errors import QuestionFileError
from evaluation.records import Expected, LabelledQuestion
from qa.answering.gates import clean_question
from qa.errors import InvalidQuestionError

_SHOWN_MISTAKES: Final = 20
_BOOLEANS: Final = {
    **dict.fromkeys(("true", "yes", "1"), True),
    **dict.fromkeys(("false", "no", "0"), False),
}
Row = Mapping[str, Any]


def read_questions(path: Path) -> tuple[LabelledQuestion, ...]:
    """The questions of a file; `.csv` is read as CSV, anything else as JSON Lines.

    Raises:
        QuestionFileError: the file can't be read, holds no question, or has mistakes.
    """
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise QuestionFileError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise QuestionFileError(f"{path} is not UTF-8 text. Save it as UTF-8.") from error
    rows = _csv_rows(text) if path.suffix.lower() == ".csv" else _json_rows(text)
    return _checked(path.name, rows)


def _checked(name: str, rows: Iterator[tuple[int, Row | str]]) -> tuple[LabelledQuestion, ...]:
    questions: dict[str, LabelledQuestion] = {}
    mistakes: list[str] = []
    for line, row in rows:
        try:
            if isinstance(row, str):
                raise QuestionFileError(row)
            question = question_from(row)
            if question.key in questions:
                raise QuestionFileError(f"the id {question.key} was used before")
            questions[question.key] = question
        except QuestionFileError as error:
            mistakes.append(f"line {line}: {error.message}")
    if mistakes:
        more = len(mistakes) - _SHOWN_MISTAKES
        tail = [f"and {more} more lines with mistakes"] if more > 0 else []
        listed = "\n  ".join(mistakes[:_SHOWN_MISTAKES] + tail)
        raise QuestionFileError(f"{name} was not taken:\n  {listed}")
    if not questions:
        raise QuestionFileError(f"{name} holds no question.")
    return tuple(questions.values())


def _json_rows(text: str) -> Iterator[tuple[int, Row | str]]:
    for line, row in enumerate(text.split("\n"), start=1):
        if not row.strip():
            continue
        try:
            value = json.loads(row)
        except (json.JSONDecodeError, RecursionError):
            yield line, "this is not JSON; write one object on each line"
            continue
        yield line, value if isinstance(value, dict) else "this is not a JSON object"


def _csv_rows(text: str) -> Iterator[tuple[int, Row | str]]:
    reader = csv.DictReader(text.splitlines(keepends=True), strict=True)
    try:
        for row in reader:
            if None in row or None in row.values():
                yield reader.line_num, "this row has not as many cells as the heading"
            else:
                yield reader.line_num, _from_cells({k.strip(): v.strip() for k, v in row.items()})
    except csv.Error as error:
        yield reader.line_num, f"this is not CSV: {error}"


def _from_cells(cells: Mapping[str, str]) -> Row | str:
    row: dict[str, Any] = {key: value for key, value in cells.items() if value}
    for name in ("terms", "labels", "forbidden"):
        row[name] = [part.strip() for part in cells.get(name, "").split("|") if part.strip()]
    if "expected" in row:
        try:
            row["expected"] = json.loads(cells["expected"])
        except json.JSONDecodeError:
            return "expected is not JSON; use the columns document, section and quote instead"
    elif "document" in row:
        row["expected"] = [{name: cells.get(name, "") for name in ("document", "section", "quote")}]
    return row


def question_from(row: Row) -> LabelledQuestion:
    """A question from the fields of a row.

    Raises:
        QuestionFileError: a field is missing or wrong; the message says which.
    """
    answerable = _boolean(row.get("answerable"))
    expected = _expected(row.get("expected"))
    terms = _texts(row, "terms")
    if answerable and not (expected or terms):
        raise QuestionFileError("an answerable question needs expected places or terms")
    if expected and not answerable:
        raise QuestionFileError("a question that is not answerable expects no place")
    return LabelledQuestion(
        key=_key(row.get("id")),
        question=_question(row.get("question")),
        answerable=answerable,
        expected=expected,
        terms=terms,
        labels=_texts(row, "labels"),
        as_of=_day(row.get("as_of")),
        note=str(row.get("note") or ""),
        forbidden=_texts(row, "forbidden"),
    )


def _key(value: object) -> str:
    key = "" if value is None or isinstance(value, bool | dict | list) else str(value).strip()
    if not 1 <= len(key) <= 100:
        raise QuestionFileError("id is missing or longer than 100 characters")
    return key


def _question(value: object) -> str:
    if not isinstance(value, str):
        raise QuestionFileError("question is missing or not text")
    try:
        return clean_question(value)
    except InvalidQuestionError as error:
        raise QuestionFileError(f"question cannot be asked: {error.message}") from error


def _boolean(value: object) -> bool:
    found = value if isinstance(value, bool) else _BOOLEANS.get(str(value).strip().lower())
    if found is None:
        raise QuestionFileError("answerable must be true or false")
    return found


def _expected(value: object) -> tuple[Expected, ...]:
    items = value or []
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise QuestionFileError("expected must be a list of objects with document and section")
    return tuple(_place(item) for item in items)


def _place(item: Row) -> Expected:
    place = Expected(*(str(item.get(n) or "").strip() for n in ("document", "section", "quote")))
    if not place.document or not (place.section or place.quote):
        raise QuestionFileError("each expected place needs a document, and a section or a quote")
    return place


def _texts(row: Row, name: str) -> tuple[str, ...]:
    items = row.get(name) or []
    if not isinstance(items, list) or not all(isinstance(i, str) and i.strip() for i in items):
        raise QuestionFileError(f"{name} must be a list of texts")
    return tuple(item.strip() for item in items)


def _day(value: object) -> date | None:
    if value in (None, ""):
        return None
    try:
        return date.fromisoformat(str(value))
    except ValueError as error:
        raise QuestionFileError(f"as_of {value!r} is not a date such as 2026-07-01") from error
