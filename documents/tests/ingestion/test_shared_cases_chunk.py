"""The shared cases about headings, Markdown, encodings and splitting, through the public API."""

from __future__ import annotations

import json
import os
import re
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from documents.errors import ParseError
from documents.ingestion.process import process_document
from documents.ingestion.sentences import split_sentences
from documents.records import ProcessedDocument, SectionRecord

CASES = (
    Path(os.environ.get("LEGALQA_SHARED_DATA", Path(__file__).parents[4] / "shared" / "data"))
    / "cases"
)
KINDS = {"headings", "markdown", "encoding", "splitting", "unicode", "upload_outcome", "injection"}
MAX_TOKENS = 254


def _load() -> list[dict[str, Any]]:
    path = CASES / "cases.jsonl"
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line.strip()]


def _text_files(case: dict[str, Any]) -> list[str]:
    return [name for name in case["input"].get("files", []) if name.endswith((".md", ".txt"))]


ALL = [case for case in _load() if case["kind"] in KINDS]
WITH_FILES = [case for case in ALL if _text_files(case)]
needs_cases = pytest.mark.skipif(not ALL, reason="LEGALQA_SHARED_DATA has no cases folder")


def count_tokens(text: str) -> int:
    return len(re.findall(r"[\u3400-\u9fff]|\w+|[^\w\s]", text))


def process(data: bytes, name: str) -> ProcessedDocument:
    return process_document(
        data, file_name=name, title=None, count_tokens=count_tokens, screen=lambda *_: ()
    )


def folded(text: str | None) -> str | None:
    return None if text is None else "".join(text.split()).rstrip(".").casefold()


def squeezed(text: str) -> str:
    return " ".join(text.split())


def sections_of(document: ProcessedDocument, text: str) -> list[SectionRecord]:
    """Sections of the chunks that hold `text`."""
    wanted = squeezed(text)
    return [
        document.sections[chunk.section]
        for chunk in document.chunks
        if wanted in squeezed(chunk.text)
    ]


def is_section(section: SectionRecord, name: str | None) -> bool:
    if name is None:
        return section.number is None and section.title is None
    return folded(name) in (folded(section.number), folded(section.title)) or folded(
        name
    ) == folded(f"{section.number} {section.title}")


def check(document: ProcessedDocument, expect: dict[str, Any]) -> None:
    text = document.parsed.text
    found = [(s.number, s.title) for s in document.sections if s.number or s.title]
    if "headings" in expect:
        assert [(folded(n), folded(t)) for n, t in found] == [
            (folded(n), folded(t)) for n, t in expect["headings"]
        ]
    if "heading_count" in expect:
        assert len(found) == expect["heading_count"]
    for line in expect.get("not_headings", []):
        assert all(
            not document.parsed.text[s.start : s.body_start].strip().startswith(line)
            for s in document.sections
        )
    for key in ("chunk_section", "section_of", "all_in_section"):
        for quoted, name in expect.get(key, []):
            sections = sections_of(document, quoted)
            assert sections, quoted
            assert all(is_section(section, name) for section in sections), (quoted, name)
    for quoted, path in expect.get("section_path", []):
        section = sections_of(document, quoted)[0]
        names: list[SectionRecord] = []
        walker: SectionRecord | None = section
        while walker is not None:
            names.insert(0, walker)
            walker = None if walker.parent is None else document.sections[walker.parent]
        assert len(names) == len(path)
        assert all(is_section(section, name) for section, name in zip(names, path, strict=True))
    for group in expect.get("same_chunk", []):
        assert any(all(item in squeezed(c.text) for item in group) for c in document.chunks)
    for quoted in expect.get("text_contains", []):
        assert quoted in text
    for quoted in expect.get("text_lacks", []):
        assert quoted not in text
    for point in expect.get("text_lacks_chars", []):
        assert chr(int(point[2:], 16)) not in text
    for quoted, count in expect.get("count_in_index", {}).items():
        assert sum(chunk.text.count(quoted) for chunk in document.chunks) == count
    for row in expect.get("row_with_header", []):
        line = next(line for line in text.split("\n") if row["row"] in line)
        for header, value in row["pairs"]:
            assert f"{header}: {value}" in line
    for key, value in expect.get("suggested_metadata", {}).items():
        assert document.parsed.metadata[key] == value


def check_chunks(document: ProcessedDocument) -> None:
    """What must hold of every document: exact slices, in order, nothing lost or too long."""
    text = document.parsed.text
    covered = [False] * len(text)
    for before, after in pairwise(document.chunks):
        assert before.start < after.start
    for chunk in document.chunks:
        section = document.sections[chunk.section]
        assert chunk.text == text[chunk.start : chunk.end]
        assert section.body_start <= chunk.start < chunk.end <= section.end
        assert chunk.tokens <= MAX_TOKENS
        covered[chunk.start : chunk.end] = [True] * (chunk.end - chunk.start)
    for section in document.sections:
        for index in range(section.body_start, section.end):
            assert covered[index] or text[index].isspace()


@needs_cases
@pytest.mark.parametrize("case", WITH_FILES, ids=lambda case: case["id"])
def test_case_with_text_files(case: dict[str, Any]) -> None:
    expect = case["expect"]
    for name in _text_files(case):
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
@pytest.mark.parametrize("case_id", ["spl-long-line"])
def test_case_with_generated_line(case_id: str) -> None:
    case = next(case for case in ALL if case["id"] == case_id)
    recipe = case["input"]["generate"]
    text = recipe["prefix"] + recipe["repeat"] * recipe["times"] + recipe["suffix"]
    begun = time.perf_counter()
    document = process(text.encode(), "codes.txt")
    assert time.perf_counter() - begun < case["expect"]["time_limit_s"]
    check(document, case["expect"])
    check_chunks(document)


@needs_cases
def test_case_with_sentences() -> None:
    case = next(case for case in ALL if case["id"] == "spl-abbrev")
    document = process((CASES / case["input"]["files"][0]).read_bytes(), "fees.txt")
    body = document.chunks[0].text
    assert [body[a:b] for a, b in split_sentences(body)] == case["expect"]["sentences"]


@needs_cases
@pytest.mark.parametrize(
    ("case_id", "code"),
    [("pdf-password", "encrypted"), ("pdf-truncated", "unsupported"), ("docx-blank", "unsupported"),
     ("pdf-is-html", "unsupported")],
)  # fmt: skip
def test_other_formats_are_refused_with_a_reason(case_id: str, code: str) -> None:
    case = next(case for case in ALL if case["id"] == case_id)
    name = case["input"]["files"][0]
    with pytest.raises(ParseError) as raised:
        process((CASES / name).read_bytes(), name)
    assert raised.value.code == code
    assert "Traceback" not in raised.value.message
    for word in case["expect"].get("admin_message_mentions", []):
        assert word in raised.value.message
