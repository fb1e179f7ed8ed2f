"""`manage.py chunk PATH`: the sections and chunks of a file, without any database."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar

from documents import pipeline
from documents.embedding import count_tokens
from documents.errors import ParseError
from documents.ingestion.parsers.progress import Progress
from documents.ingestion.process import process_document
from documents.ingestion.screen import screen_document
from documents.management import chunk_report
from documents.records import ProcessedDocument


class Command(BaseCommand):
    help = "Show the sections and chunks of a file. Needs no database."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "path", type=Path, help="a PDF, Word (.docx), HTML, Markdown, text or statute JSON file"
        )
        parser.add_argument("--title", help="the policy's title, if not the file's own")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["path"]
        try:
            report = chunk_report.of_document(path, _process(path, options["title"]), options)
        except ParseError as error:
            report = chunk_report.of_refusal(path, error)
        write = chunk_report.as_json if options["json"] else chunk_report.as_text
        for piece in write(report):
            self.stdout.write(piece, ending="")
        self.stdout.write("")
        if not report.is_usable:
            raise SystemExit(1)


def _process(path: Path, title: str | None) -> ProcessedDocument:
    data = _read(path)
    with _progress_bar() as progress:
        return process_document(
            data,
            file_name=path.name,
            title=title,
            count_tokens=count_tokens,
            screen=screen_document,
            parse=pipeline.reader(progress),
        )


def _read(path: Path) -> bytes:
    """The file, if it is one and of a size that would be taken."""
    try:
        if path.exists() and not path.is_file():
            raise CommandError(f"{path} is not a file. Name one file.")
        if path.stat().st_size > settings.MAX_UPLOAD_BYTES:
            limit = settings.MAX_UPLOAD_BYTES // (1024 * 1024)
            raise ParseError(
                f"The file is larger than {limit} MB. Split it, or raise LEGALQA_MAX_UPLOAD_BYTES."
            )
        return path.read_bytes()
    except OSError as error:
        raise CommandError(f"{path}: cannot be read: {error.strerror}.") from error


@contextmanager
def _progress_bar() -> Iterator[Progress]:
    """A bar on a terminal, for files whose parser says how far it is; nothing elsewhere."""
    bar = Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
        transient=True,
    )
    with bar:
        task = bar.add_task("reading", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total or None)
