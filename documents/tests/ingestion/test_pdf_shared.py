"""The shared PDF cases, and contracts whose text is known beside their PDF."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from reportlab.pdfgen.canvas import Canvas

from documents.errors import ParseError
from documents.ingestion.parsers.pdf import parse_pdf
from documents.tests.ingestion.pdf_files import pdf, text
from documents.tests.ingestion.shared_cases import (
    ALL,
    CASES,
    check,
    check_chunks,
    files_of,
    needs_cases,
    process,
    process_case_file,
)

READ = [
    case
    for case in ALL.values()
    if case["kind"] in {"headings", "pdf_layout", "unicode"} and files_of(case, ".pdf")
]
CONTRACTS = CASES.parent / "cuad"
PDFS = sorted((CONTRACTS / "pdf").glob("*.pdf"))
needs_contracts = pytest.mark.skipif(not PDFS, reason="LEGALQA_SHARED_DATA has no cuad folder")


@needs_cases
@pytest.mark.parametrize("case", READ, ids=lambda case: case["id"])
def test_case(case: dict[str, Any]) -> None:
    (name,) = files_of(case, ".pdf")
    document = process_case_file(name)
    check(document, case["expect"])
    check_chunks(document)


@needs_cases
@pytest.mark.parametrize(
    ("case_id", "codes"),
    [
        ("pdf-scanned", {"needs_ocr"}),
        ("pdf-password", {"encrypted"}),
        ("pdf-truncated", {"refused"}),
    ],
)
def test_case_that_gives_no_text(case_id: str, codes: set[str]) -> None:
    (name,) = files_of(ALL[case_id], ".pdf")
    with pytest.raises(ParseError) as raised:
        process_case_file(name)
    assert raised.value.code in codes
    for word in ALL[case_id]["expect"].get("admin_message_mentions", []):
        assert word in raised.value.message
    assert "Traceback" not in raised.value.message


@needs_cases
def test_case_with_generated_pages() -> None:
    case = ALL["spl-pages"]
    recipe = case["input"]["generate_pdf"]

    def page(number: int):
        def draw(canvas: Canvas) -> None:
            text(canvas, 60, 80, recipe["text"].replace("{n}", str(number)))

        return draw

    document = process(pdf(*map(page, range(1, recipe["pages"] + 1))), "limits.pdf")
    check(document, case["expect"])
    check_chunks(document)


@needs_contracts
@pytest.mark.parametrize("path", PDFS, ids=lambda path: path.name[:24])
def test_contract_holds_the_words_of_its_text(path: Path) -> None:
    known = CONTRACTS / "contracts" / f"{path.stem}.txt"
    if not known.exists():
        pytest.skip(f"{path.name} has no text beside it")
    found = _words(parse_pdf(path.read_bytes()).text)
    wanted = _words(known.read_text(encoding="utf-8"))
    shared = sum((Counter(found) & Counter(wanted)).values())
    # Running feet are in the text beside the PDF, and not in ours.
    assert 2 * shared / (len(found) + len(wanted)) >= 0.97


def _words(body: str) -> list[str]:
    return re.findall(r"[^\W_]+", body.casefold())
