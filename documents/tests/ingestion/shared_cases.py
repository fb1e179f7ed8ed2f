"""The shared cases from bug reports: loading them, and checking a document against one."""

from __future__ import annotations

import json
import os
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from documents.ingestion.folding import fold_for_search
from documents.ingestion.process import process_document
from documents.records import ProcessedDocument, SectionRecord

CASES = (
    Path(os.environ.get("LEGALQA_SHARED_DATA", Path(__file__).parents[4] / "shared" / "data"))
    / "cases"
)
MAX_TOKENS = 254


def _load() -> list[dict[str, Any]]:
    path = CASES / "cases.jsonl"
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line.strip()]


ALL = {case["id"]: case for case in _load()}
needs_cases = pytest.mark.skipif(not ALL, reason="LEGALQA_SHARED_DATA has no cases folder")


def cases_of(*kinds: str) -> list[dict[str, Any]]:
    """The cases of these kinds, in the order of the file."""
    return [case for case in ALL.values() if case["kind"] in kinds]


def files_of(case: dict[str, Any], *suffixes: str) -> list[str]:
    """The files of a case that end in one of these suffixes."""
    return [name for name in case["input"].get("files", []) if name.endswith(suffixes)]


def count_tokens(text: str) -> int:
    return len(re.findall(r"[\u3400-\u9fff]|\w+|[^\w\s]", text))


def process(data: bytes, name: str) -> ProcessedDocument:
    return process_document(
        data, file_name=name, title=None, count_tokens=count_tokens, screen=lambda *_: ()
    )


def process_case_file(name: str) -> ProcessedDocument:
    return process((CASES / name).read_bytes(), Path(name).name)


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


def path_of(document: ProcessedDocument, section: SectionRecord) -> list[SectionRecord]:
    """The section with those that enclose it, from the root."""
    names = [section]
    while names[0].parent is not None:
        names.insert(0, document.sections[names[0].parent])
    return names


def check(document: ProcessedDocument, expect: dict[str, Any]) -> None:
    """All that a case expects of the text, the sections and the chunks of one file."""
    _check_headings(document, expect)
    _check_places(document, expect)
    _check_text(document, expect)
    _check_labels(document, expect)
    for key, value in expect.get("suggested_metadata", {}).items():
        held = document.parsed.title if key == "title" else None
        assert document.parsed.metadata.get(key, held) == value


def _check_headings(document: ProcessedDocument, expect: dict[str, Any]) -> None:
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


def _check_places(document: ProcessedDocument, expect: dict[str, Any]) -> None:
    for key in ("chunk_section", "section_of", "all_in_section"):
        for quoted, name in expect.get(key, []):
            sections = sections_of(document, quoted)
            assert sections, quoted
            assert all(is_section(section, name) for section in sections), (quoted, name)
    for quoted, path in expect.get("section_path", []):
        names = path_of(document, sections_of(document, quoted)[0])
        assert len(names) == len(path)
        assert all(is_section(section, name) for section, name in zip(names, path, strict=True))
    for quoted, length in expect.get("path_length", []):
        assert len(path_of(document, sections_of(document, quoted)[0])) == length
    for group in expect.get("same_chunk", []):
        assert any(all(item in squeezed(c.text) for item in group) for c in document.chunks)
    for quoted, page in expect.get("chunk_page", []):
        pages = [c.pages for c in document.chunks if quoted in squeezed(c.text)]
        assert pages, quoted
        assert all(page in found for found in pages), (quoted, pages)


def _check_text(document: ProcessedDocument, expect: dict[str, Any]) -> None:
    text = squeezed(document.parsed.text)
    for quoted in expect.get("text_contains", []):
        assert squeezed(quoted) in text
    for group in expect.get("text_contains_any", []):
        if "or_flag" in expect and _has_warning(document, expect["or_flag"]):
            continue
        assert any(squeezed(quoted) in text for quoted in group), group
    for quoted in expect.get("text_lacks", []):
        assert squeezed(quoted) not in text
    for point in expect.get("text_lacks_chars", []):
        assert chr(int(point[2:], 16)) not in document.parsed.text
    places = [text.find(squeezed(quoted)) for quoted in expect.get("text_order", [])]
    assert -1 not in places
    assert places == sorted(places)
    searched = squeezed(fold_for_search(document.parsed.text))
    for quoted in expect.get("search_text_contains", []):
        assert squeezed(fold_for_search(quoted)) in searched
    for quoted, count in expect.get("count_in_text", {}).items():
        assert text.count(quoted) == count
    for quoted, count in expect.get("count_in_index", {}).items():
        assert sum(chunk.text.count(quoted) for chunk in document.chunks) == count
    for row in expect.get("row_with_header", []):
        line = next(line for line in document.parsed.text.split("\n") if row["row"] in line)
        for header, value in row["pairs"]:
            assert f"{header}: {value}" in line
    if "admin_warning" in expect:
        assert _has_warning(document, expect["admin_warning"])


def _has_warning(document: ProcessedDocument, code: str) -> bool:
    return any(note.code == code for note in document.parsed.warnings)


def _check_labels(document: ProcessedDocument, expect: dict[str, Any]) -> None:
    """The innermost labelled clause that holds a text has the label."""
    text = document.parsed.text
    for quoted, label in expect.get("clause_label", []):
        place = text.find(quoted)
        assert place >= 0, quoted
        around = [c for c in document.clauses if c.start <= place < c.end]
        labels = [clause.label for clause in sorted(around, key=lambda c: c.start - c.end)]
        labels += [s.number or "" for s in document.sections if s.start <= place < s.end][-1:]
        innermost = min(around, key=lambda c: c.end - c.start).label if around else labels[-1]
        assert innermost == label, (quoted, labels)


def check_chunks(document: ProcessedDocument) -> None:
    """What must hold of every document: exact slices, in order, nothing lost or too long."""
    text = document.parsed.text
    covered = bytearray(len(text))
    for before, after in pairwise(document.chunks):
        assert before.start < after.start
    for chunk in document.chunks:
        section = document.sections[chunk.section]
        assert chunk.text == text[chunk.start : chunk.end]
        assert section.body_start <= chunk.start < chunk.end <= section.end
        assert chunk.tokens <= MAX_TOKENS
        covered[chunk.start : chunk.end] = b"\x01" * (chunk.end - chunk.start)
    for section in document.sections:
        for index in range(section.body_start, section.end):
            assert covered[index] or text[index].isspace()
