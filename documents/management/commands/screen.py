"""`manage.py screen`: screen JSON lines, without a database."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from documents.ingestion.screen import screen_text
from documents.records import Severity


class Command(BaseCommand):
    help = (
        "Screen texts for instructions to an AI system. Reads JSON lines {id, text} from FILE or "
        "standard input and writes {id, flagged, findings} for each; exit status 1 if a line "
        "could not be read (the others are still screened)."
    )
    requires_system_checks = ()
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", nargs="?", help="JSON lines; standard input if left out")
        parser.add_argument(
            "--json", action="store_true", help="accepted for uniformity: the output is always JSON"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        bad = self._screen_lines(_lines(options["file"]))
        if bad:
            sys.exit(1)

    def _screen_lines(self, lines: Iterable[str]) -> int:
        bad = 0
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                identifier, text = _record(line)
            except ValueError as error:
                bad += 1
                self.stderr.write(f"line {number}: {error}")
            else:
                self.stdout.write(json.dumps(_result(identifier, text), ensure_ascii=False))
        return bad


def _lines(file: str | None) -> Iterable[str]:
    """The lines of a file or of standard input, split at newlines alone."""
    try:
        raw = sys.stdin.buffer.read() if file is None else Path(file).read_bytes()
    except OSError as error:
        raise CommandError(f"cannot read {file}: {error.strerror}") from error
    return raw.decode("utf-8-sig", errors="replace").split("\n")


def _record(line: str) -> tuple[Any, str]:
    """The id and text of one line.

    Raises:
        ValueError: with a sentence that says what the line should look like.
    """
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f'not JSON ({error}); expected {{"id": …, "text": "…"}}') from error
    if not isinstance(record, dict) or not isinstance(record.get("text"), str):
        raise ValueError('expected an object with a string "text", and an "id"')
    return record.get("id"), record["text"]


def _result(identifier: Any, text: str) -> dict[str, Any]:
    findings = screen_text(text)
    return {
        "id": identifier,
        "flagged": any(finding.severity is Severity.BLOCK for finding in findings),
        "findings": [
            {
                "rule": finding.rule,
                "severity": finding.severity.value,
                "start": finding.start,
                "end": finding.end,
                "text": finding.text,
            }
            for finding in findings
        ],
    }
