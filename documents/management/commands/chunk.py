"""`manage.py chunk PATH`: the sections and chunks of a file, without any database."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from documents.embedding import count_tokens
from documents.errors import ParseError
from documents.ingestion.process import process_document, title_from_name
from documents.ingestion.screen import screen_document
from documents.records import ChunkRecord, FindingRecord, ProcessedDocument, SectionRecord, Severity

# How a code of ParseError is shown as a state.
_STATES = {"empty": "empty", "encrypted": "encrypted", "needs_ocr": "needs_ocr"}


class Command(BaseCommand):
    help = "Show the sections and chunks of a file. Needs no database."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="a Markdown or plain text file")
        parser.add_argument("--title", help="the policy's title, if not the file's own")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["path"]
        try:
            data = path.read_bytes()
        except OSError as error:
            raise CommandError(f"{path}: cannot be read: {error.strerror}.") from error
        try:
            document = process_document(
                data,
                file_name=path.name,
                title=options["title"],
                count_tokens=count_tokens,
                screen=screen_document,
            )
        except ParseError as error:
            report = _refusal(path, error)
        else:
            report = _report(path, document, options["title"])
        self.stdout.write(_json(report) if options["json"] else _readable(report))
        if report["state"] not in ("ok", "ok_with_warnings", "held"):
            raise SystemExit(1)


def _refusal(path: Path, error: ParseError) -> dict[str, Any]:
    return {
        "file": str(path),
        "media_type": None,
        "title": title_from_name(path.name),
        "state": _STATES.get(error.code, "refused"),
        "warnings": [{"code": error.code, "message": error.message}],
        "text": "",
        "sections": [],
        "chunks": [],
        "findings": [],
    }


def _report(path: Path, document: ProcessedDocument, title: str | None) -> dict[str, Any]:
    parsed = document.parsed
    return {
        "file": str(path),
        "media_type": parsed.media_type.value,
        "title": title or parsed.title or title_from_name(path.name),
        "state": _state(document),
        "warnings": [{"code": note.code, "message": note.message} for note in parsed.warnings],
        "text": parsed.text,
        "sections": [_section(section) for section in document.sections],
        "chunks": [_chunk(chunk, document.sections) for chunk in document.chunks],
        "findings": [_finding(finding) for finding in document.findings],
    }


def _state(document: ProcessedDocument) -> str:
    if any(finding.severity is Severity.BLOCK for finding in document.findings):
        return "held"
    return "ok_with_warnings" if document.parsed.warnings else "ok"


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


def _chunk(chunk: ChunkRecord, sections: tuple[SectionRecord, ...]) -> dict[str, Any]:
    section = sections[chunk.section]
    return {
        "ordinal": chunk.ordinal,
        "section": section.number or section.title,
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
    }


def _json(report: dict[str, Any]) -> str:
    return json.dumps(report, ensure_ascii=False)


def _readable(report: dict[str, Any]) -> str:
    lines = [f"{report['file']}: {report['state']} ({report['title']})"]
    lines += [f"  {note['code']}: {note['message']}" for note in report["warnings"]]
    lines += [
        f"  {finding['severity']} {finding['rule']}: {finding['text']}"
        for finding in report["findings"]
    ]
    for chunk in report["chunks"]:
        path = " > ".join(chunk["path"]) or "before the first heading"
        lines.append(f"\n[{chunk['ordinal']}] {path} ({chunk['kind']}, {chunk['tokens']} tokens)")
        lines.append(chunk["text"])
    return "\n".join(lines)
