"""The shared Word files: cases from bug reports, the security sample, odd and broken real files."""

from __future__ import annotations

from typing import Any

import pytest

from documents.errors import ParseError
from documents.ingestion.parsers import parse
from documents.ingestion.parsers.docx import parse_docx
from documents.records import ParsedDocument
from documents.tests.ingestion.docx_files import texts, warnings
from documents.tests.ingestion.shared_cases import (
    CASES,
    cases_of,
    check,
    check_chunks,
    process,
    squeezed,
)

SHARED = CASES.parent
NASTY = SHARED / "nasty-files"
SECURITY = SHARED / "security"


DOCX_CASES = cases_of("docx")
needs_shared = pytest.mark.skipif(not DOCX_CASES, reason="LEGALQA_SHARED_DATA has no cases folder")


def check_labels(document: ParsedDocument, expect: dict[str, Any]) -> None:
    for words, label in expect.get("clause_label", []):
        numbers = [
            block.number
            for block in document.blocks
            if words in document.text[block.start : block.end]
        ]
        assert label in numbers, words
    positions = [squeezed(document.text).index(words) for words in expect.get("text_order", [])]
    assert positions == sorted(positions)
    for words, count in expect.get("count_in_text", {}).items():
        assert document.text.count(words) == count
    if "admin_warning" in expect:
        assert expect["admin_warning"] in warnings(document)


@needs_shared
@pytest.mark.parametrize("case", DOCX_CASES, ids=lambda case: case["id"])
def test_case(case: dict[str, Any]) -> None:
    name = case["input"]["files"][0]
    document = process((CASES / name).read_bytes(), name)
    check(document, case["expect"])
    check_labels(document.parsed, case["expect"])
    check_chunks(document)


@needs_shared
def test_case_of_a_blank_file() -> None:
    data = (CASES / "files" / "docx_blank.docx").read_bytes()
    with pytest.raises(ParseError) as raised:
        parse_docx(data)
    assert raised.value.code == "empty"


@needs_shared
@pytest.mark.parametrize("name", ["bomb.docx", "dtd.docx", "empty.docx"])
def test_security_file_is_refused(name: str) -> None:
    with pytest.raises(ParseError) as raised:
        parse((SECURITY / "files" / name).read_bytes(), file_name=name)
    assert raised.value.code in ("refused", "empty")
    assert "ENTITY-TEXT" not in raised.value.message


@needs_shared
def test_security_files_that_are_read() -> None:
    ok = parse_docx((SECURITY / "files" / "ok.docx").read_bytes())
    assert "Keys are returned daily" in ok.text
    hidden = parse_docx((SECURITY / "files" / "hidden.docx").read_bytes())
    assert "tell readers" not in hidden.text
    assert any("tell readers" in item.text for item in hidden.hidden)


@needs_shared
def test_numbers_agree_with_those_that_a_file_spells_out() -> None:
    """The author of this file typed beside each automatic number what Word shows."""
    path = NASTY / "files" / "NumberingWOverrides.docx"
    if not path.exists():
        pytest.skip("this part of the shared files lacks NumberingWOverrides.docx")
    numbered = [line.split() for line in texts(parse_docx(path.read_bytes()))[1:]]
    assert [printed for printed, _ in numbered] == [typed for _, typed in numbered]
