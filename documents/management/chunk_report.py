"""What `chunk` prints: the contract of DESIGN §9, written piece by piece.

A large file's report is never put together as one text: its pages' words, sections and chunks
are already in memory once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from documents.errors import ParseError
from documents.ingestion.names import title_from_name
from documents.records import (
    ChunkRecord,
    ClauseRecord,
    FindingRecord,
    Notice,
    PageRecord,
    ProcessedDocument,
    ReferenceRecord,
    SectionRecord,
    Severity,
)

USABLE = ("ok", "ok_with_warnings", "held")
# How a code of ParseError is shown as a state; the others are `refused`.
_STATES = {"empty": "empty", "encrypted": "encrypted", "needs_ocr": "needs_ocr"}


@dataclass(frozen=True, slots=True)
class Report:
    """What stands in the report, in order; lists are made while they are written."""

    state: str
    fields: Mapping[str, Any]

    @property
    def is_usable(self) -> bool:
        """Whether the file would give a version with passages."""
        return self.state in USABLE


def of_refusal(path: Path, error: ParseError) -> Report:
    """The report of a file that gives no text."""
    state = _STATES.get(error.code, "refused")
    lists = ("sections", "chunks", "findings", "clauses", "references", "pages", "hidden")
    fields: dict[str, Any] = {
        "file": str(path),
        "media_type": None,
        "title": title_from_name(path.name),
        "state": state,
        "warnings": [_notice(Notice(error.code, error.message, error.pages))],
        "text": "",
        **{name: [] for name in lists},
        "active_content": [],
        "metadata": {},
    }
    return Report(state, fields)


def of_document(path: Path, document: ProcessedDocument, options: Mapping[str, Any]) -> Report:
    """The report of a file that was read."""
    parsed, sections = document.parsed, document.sections
    state = _state(document)
    fields = {
        "file": str(path),
        "media_type": parsed.media_type.value,
        "title": options["title"] or parsed.title or title_from_name(path.name),
        "state": state,
        "warnings": map(_notice, parsed.warnings),
        "text": parsed.text,
        "sections": map(_section, sections),
        "chunks": (_chunk(chunk, sections) for chunk in document.chunks),
        "findings": map(_finding, document.findings),
        "clauses": (_clause(clause, sections) for clause in document.clauses),
        "references": (_reference(found, sections) for found in document.references),
        "pages": map(_page, parsed.pages),
        "hidden": map(asdict, parsed.hidden),
        "active_content": map(asdict, parsed.active_content),
        "metadata": dict(parsed.metadata),
    }
    return Report(state, fields)


def as_json(report: Report) -> Iterator[str]:
    """One JSON object, an item of its lists at a time."""
    separator = "{"
    for name, value in report.fields.items():
        yield f"{separator}{json.dumps(name)}: "
        separator = ", "
        if isinstance(value, str | Mapping) or value is None:
            yield json.dumps(value, ensure_ascii=False)
        else:
            yield from _json_list(value)
    yield "}"


def _json_list(items: Iterable[Any]) -> Iterator[str]:
    yield "["
    for number, item in enumerate(items):
        yield (", " if number else "") + json.dumps(item, ensure_ascii=False)
    yield "]"


def as_text(report: Report) -> Iterator[str]:
    """The report for people: state, warnings, findings and the chunks with their paths."""
    fields = report.fields
    yield f"{fields['file']}: {report.state} ({fields['title']})"
    for note in fields["warnings"]:
        yield f"\n  {note['code']}: {note['message']}{_on_pages(note['pages'])}"
    for finding in fields["findings"]:
        yield f"\n  {finding['severity']} {finding['rule']}: {finding['text']}"
    for chunk in fields["chunks"]:
        path = " > ".join(chunk["path"]) or "before the first heading"
        kind = f"{chunk['kind']}, {chunk['tokens']} tokens"
        yield f"\n\n[{chunk['ordinal']}] {path} ({kind}){_on_pages(chunk['pages'])}"
        yield f"\n{chunk['text']}"


def _on_pages(pages: Sequence[int]) -> str:
    if not pages:
        return ""
    word = "page" if len(pages) == 1 else "pages"
    return f" ({word} {', '.join(map(str, pages))})"


def _state(document: ProcessedDocument) -> str:
    if any(finding.severity is Severity.BLOCK for finding in document.findings):
        return "held"
    return "ok_with_warnings" if document.parsed.warnings else "ok"


def _notice(notice: Notice) -> dict[str, Any]:
    return {"code": notice.code, "message": notice.message, "pages": list(notice.pages)}


def _name(section: SectionRecord) -> str | None:
    return section.number or section.title


def _section(section: SectionRecord) -> dict[str, Any]:
    return {
        "number": section.number,
        "title": section.title,
        "level": section.level,
        "path": list(section.path),
        "start": section.start,
        "end": section.end,
        "pages": list(section.pages),
    }


def _chunk(chunk: ChunkRecord, sections: Sequence[SectionRecord]) -> dict[str, Any]:
    section = sections[chunk.section]
    return {
        "ordinal": chunk.ordinal,
        "section": _name(section),
        "path": list(section.path),
        "kind": chunk.kind.value,
        "text": chunk.text,
        "start": chunk.start,
        "end": chunk.end,
        "pages": list(chunk.pages),
        "tokens": chunk.tokens,
    }


def _finding(finding: FindingRecord) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "start": finding.start,
        "end": finding.end,
        "text": finding.text,
        "where": finding.where,
    }


def _clause(clause: ClauseRecord, sections: Sequence[SectionRecord]) -> dict[str, Any]:
    return {
        "label": clause.label,
        "marker": clause.marker,
        "section": _name(sections[clause.section]),
        "start": clause.start,
        "end": clause.end,
    }


def _reference(found: ReferenceRecord, sections: Sequence[SectionRecord]) -> dict[str, Any]:
    target = sections[found.target]
    return {
        "start": found.start,
        "end": found.end,
        "section": _name(target),
        "label": found.label,
        "target_start": target.start,
    }


def _page(page: PageRecord) -> dict[str, Any]:
    return {
        "number": page.number,
        "width": page.width,
        "height": page.height,
        "label": page.label,
        "ocr_confidence": page.ocr_confidence,
    }
