"""The shared cases and hostile files of HTML, Markdown and text, through the public API."""

from __future__ import annotations

from typing import Any

import pytest

from documents.ingestion.parsers import parse
from documents.tests.ingestion.shared_cases import CASES, cases_of

HTML_CASES = [
    case
    for case in cases_of("html", "injection")
    if any(name.endswith(".html") for name in case["input"].get("files", []))
]
SECURITY = CASES.parent / "security" / "files"


@pytest.mark.skipif(not HTML_CASES, reason="LEGALQA_SHARED_DATA has no cases folder")
@pytest.mark.parametrize("case", HTML_CASES, ids=lambda case: case["id"])
def test_html_case(case: dict[str, Any]) -> None:
    expect = case["expect"]
    name = case["input"]["files"][0]
    parsed = parse((CASES / name).read_bytes(), file_name=name)
    for quoted in expect.get("text_contains", []):
        assert quoted in parsed.text
    for quoted in (*expect.get("text_lacks", []), *expect.get("not_retrievable", [])):
        assert quoted not in parsed.text
    for quoted in expect.get("not_retrievable", []):
        assert any(quoted in hidden.text for hidden in parsed.hidden)
    for key, value in expect.get("suggested_metadata", {}).items():
        assert getattr(parsed, key) == value


@pytest.mark.skipif(not SECURITY.exists(), reason="LEGALQA_SHARED_DATA has no security folder")
def test_security_files() -> None:
    hidden = parse((SECURITY / "hidden.html").read_bytes(), file_name="hidden.html")
    assert hidden.text == "Bins are emptied at noon."
    assert [item.where for item in hidden.hidden] == ["hidden"]
    raw = parse((SECURITY / "raw.md").read_bytes(), file_name="raw.md")
    assert "Emptied at noon" in raw.text
    assert "<script" not in raw.text
    big5 = parse((SECURITY / "big5.txt").read_bytes(), file_name="big5.txt")
    assert "罰款一百元" in big5.text
