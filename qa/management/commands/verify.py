"""`manage.py verify`: run the checks over answers from anywhere, without a database.

Reads JSON lines, writes JSON lines; a line that cannot be read is named on standard error,
the others are still checked, and the exit status is 1.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from qa.answering.marked import InvalidCaseError, judge_case


class Command(BaseCommand):
    help = (
        "Check answers against the passages they cite. Input: JSON lines {id, question, "
        "chunks: [{id, title, section, text}], allowed_domains, answer, stop_reason}."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", nargs="?", help="JSON lines; standard input without it")
        parser.add_argument("--json", action="store_true", help="accepted: output is always JSON")

    def handle(self, *args: object, **options: Any) -> None:
        failures = 0
        for number, line in enumerate(self._lines(options["file"]), start=1):
            if not line.strip():
                continue
            try:
                result = judge_case(_read(line))
            except InvalidCaseError as error:
                failures += 1
                self.stderr.write(f"line {number}: {error.message}")
                continue
            self.stdout.write(json.dumps(result, ensure_ascii=False))
        if failures:
            message = f"{failures} line(s) could not be read; see above."
            raise CommandError(message, returncode=1)

    def _lines(self, name: str | None) -> Iterable[str]:
        if name is None:
            return sys.stdin
        path = Path(name)
        if not path.is_file():
            message = f"There is no file {name}. Name a file of JSON lines, or pipe them in."
            raise CommandError(message)
        try:
            return path.read_text(encoding="utf-8-sig").splitlines()
        except UnicodeDecodeError as error:
            message = f"{name} is not UTF-8 text. Convert it and try again."
            raise CommandError(message) from error


def _read(line: str) -> Mapping[str, object]:
    try:
        case = json.loads(line)
    except json.JSONDecodeError as error:
        raise InvalidCaseError(f"not JSON ({error.msg})") from error
    if not isinstance(case, dict):
        raise InvalidCaseError("not a JSON object")
    return case
