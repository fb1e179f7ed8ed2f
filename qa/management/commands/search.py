"""Rank the passages for a question, as a user or with given labels, with both scores."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser
from rich.console import Console
from rich.table import Table

from documents.management.base import ClearErrorsCommand, translated
from qa import pipeline
from qa.answering.present import source_json
from qa.errors import QAError
from qa.management.reader import add_reader_arguments, reader_from
from qa.records import Passage


class Command(ClearErrorsCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        add_reader_arguments(parser)

    @translated(QAError)
    def handle(self, *args: Any, **options: Any) -> None:
        result = pipeline.search_passages(
            pipeline.Asked(
                asker=reader_from(options),
                question=options["question"],
                as_of=options["as_of"],
                n_results=options["k"],
                door="cli",
            )
        )
        if options["json"]:
            self.print_json([source_json(passage) for passage in result.passages])
            return
        if not result.passages:
            self.stdout.write("No passage found that this reader may read.")
            return
        console = Console(width=120)
        with console.capture() as printed:
            console.print(_table(result.passages))
        self.stdout.write(printed.get())


def _table(passages: tuple[Passage, ...]) -> Table:
    table = Table("", "document", "section", "score", "cosine", "BM25", "matched", "text")
    for n, passage in enumerate(passages, start=1):
        table.add_row(
            str(n),
            passage.document,
            passage.section_id,
            f"{passage.score:.3f}",
            "-"
            if passage.cosine is None
            else f"{passage.cosine:.3f} (#{passage.dense_rank or '-'})",
            f"{passage.bm25:.2f} (#{passage.lexical_rank or '-'})",
            ", ".join(passage.matched_terms),
            " ".join(passage.text.split())[:80],
        )
    return table
