"""What the commands of all apps share: JSON output, dates and labels, and clear errors."""

from __future__ import annotations

import datetime
import json
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError

from documents import audit
from documents.errors import DocumentsError


class ClearErrorsCommand(BaseCommand):
    """Turns what a person can mend into one sentence and exit status 1, never a traceback."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Every command can print JSON."""
        parser.add_argument("--json", action="store_true", help="print JSON instead of text")

    def run_from_argv(self, argv: list[str]) -> None:
        """Run from the command line; an argument that `type=` refuses is an error like others."""
        try:
            super().run_from_argv(argv)
        except CommandError as error:  # while parsing: Django handles those of `execute` alone
            self.stderr.write(f"CommandError: {error}")
            sys.exit(error.returncode)

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run the command; `DocumentsError` and a missing database become `CommandError`."""
        try:
            with audit.coming_from(audit.COMMAND_LINE):
                return super().execute(*args, **options)
        except DocumentsError as error:
            raise CommandError(error.message) from error
        except OperationalError as error:
            raise CommandError(database_down(error)) from error

    def print_json(self, value: object) -> None:
        """Write one JSON document to standard output."""
        self.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def database_down(error: OperationalError) -> str:
    """What to do about a database that does not answer."""
    return (
        f"The database cannot be reached ({str(error).splitlines()[0]}). "
        "Start it, or check DATABASE_URL; python manage.py doctor says what is wrong."
    )


def day(text: str) -> datetime.date:
    """A date argument such as 2026-07-01."""
    try:
        return datetime.date.fromisoformat(text)
    except ValueError as error:
        raise CommandError(f"{text!r} is not a date. Write it as 2026-07-01.") from error


def label_list(text: str) -> tuple[str, ...]:
    """The slugs of an argument such as `all-staff,hr`."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def translated(error_type: type[Exception]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Turn an error of another app that has a `message` into a `CommandError`."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except error_type as error:
                raise CommandError(getattr(error, "message", str(error))) from error

        return wrapper

    return decorate
