"""The shared cases about headings, Markdown, encodings and splitting, through the public API."""

from __future__ import annotations

from typing import Any

import pytest

from documents.errors import ParseError
from documents.ingestion.sentences import split_sentences
from documents.tests.ingestion.shared_cases import (
    ALL,
    CASES,
    cases_of,
    check,
    check_chunks,
    files_of,
    needs_cases,
    process,
)

KINDS = ("headings", "markdown", "encoding", "splitting", "unicode", "upload_outcome", "injection")
WITH_FILES = [case for case in cases_of(*KINDS) if files_of(case, ".md", ".txt")]


@needs_cases
@pytest.mark.parametrize("case", WITH_FILES, ids=lambda case: case["id"])
def test_case_with_text_files(case: dict[str, Any]) -> None:
    expect = case["expect"]
    for name in files_of(case, ".md", ".txt"):
        data = (CASES / name).read_bytes()
        if expect.get("outcome") == "empty":
            with pytest.raises(ParseError) as raised:
                process(data, name)
            assert raised.value.code == "empty"
            continue
        document = process(data, name)
        check(document, expect)
        check_chunks(document)


@needs_cases
@pytest.mark.timeout(120)  # several times what the case allows on a machine of its own
@pytest.mark.parametrize("case_id", ["spl-long-line"])
def test_case_with_generated_line(case_id: str) -> None:
    case = ALL[case_id]
    recipe = case["input"]["generate"]
    text = recipe["prefix"] + recipe["repeat"] * recipe["times"] + recipe["suffix"]
    document = process(text.encode(), "codes.txt")
    check(document, case["expect"])
    check_chunks(document)


@needs_cases
def test_case_with_sentences() -> None:
    case = ALL["spl-abbrev"]
    document = process((CASES / case["input"]["files"][0]).read_bytes(), "fees.txt")
    body = document.chunks[0].text
    assert [body[a:b] for a, b in split_sentences(body)] == case["expect"]["sentences"]
