"""Give every passage a vector of the configured embedding model, beside the live ones.

Searches keep comparing vectors of the old model until all are there, then switch at once. May
be stopped and run again at any time.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError, CommandParser
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from documents import reindexing
from documents.errors import EmbeddingError
from documents.management.base import ClearErrorsCommand
from documents.vectors import Index


class Command(ClearErrorsCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--status", action="store_true", help="show how far it is")
        what.add_argument("--abandon", action="store_true", help="give up what is being built")
        what.add_argument(
            "--drop-old", action="store_true", help="delete the vectors of models not used any more"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["status"]:
            self._show(options)
            return
        with reindexing.alone():
            if options["abandon"]:
                self._abandon()
            elif options["drop_old"]:
                self._drop_old()
            else:
                self._reindex(options)
        if options["json"]:
            self._show(options)

    def _reindex(self, options: dict[str, Any]) -> None:
        index = reindexing.begin()
        self._say(f"Embedding with {index.spec.name}, {index.spec.dimension} dimensions.", options)
        self._build(index, options)
        if reindexing.needs_index(index):
            self._index(index, options)
        while not reindexing.switch(index):  # published meanwhile: what they lack is made up for
            self._build(index, options)
        self._say(f"Searches compare vectors of {index.spec.name} from now on.", options)

    def _build(self, index: Index, options: dict[str, Any]) -> None:
        with Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            disable=options["json"],
            transient=True,
        ) as bar:
            task = bar.add_task("passages", total=None)
            reindexing.build(
                index, lambda done, wanted: bar.update(task, completed=done, total=wanted)
            )

    def _index(self, index: Index, options: dict[str, Any]) -> None:
        self._say("Building the vector index.", options)
        try:
            reindexing.make_index(index)
        except EmbeddingError as error:  # searches are right without it
            self.stderr.write(error.message)

    def _abandon(self) -> None:
        name = reindexing.abandon()
        if name is None:
            raise CommandError("No index is being built: there is nothing to abandon.")
        self.stderr.write(f"The vectors of {name} are gone; searches were not touched.")

    def _drop_old(self) -> None:
        for name in reindexing.drop_retired():
            self.stderr.write(f"The vectors of {name} are gone.")

    def _say(self, text: str, options: dict[str, Any]) -> None:
        if not options["json"]:
            self.stdout.write(text)

    def _show(self, options: dict[str, Any]) -> None:
        status = reindexing.status()
        if options["json"]:
            self.print_json(asdict(status))
            return
        self.stdout.write(f"The settings name {status.configured}.")
        self.stdout.write(f"Searches compare vectors of {status.active or 'no model yet'}.")
        if status.building:
            self.stdout.write(
                f"{status.building} is being built: {status.done} of {status.wanted} passages. "
                "Run python manage.py reindex to go on."
            )
        elif status.configured != status.active and status.active:
            self.stdout.write("Run python manage.py reindex to change to the configured model.")
        elif status.done < status.wanted:
            self.stdout.write(
                f"{status.wanted - status.done} passages lack their vector: run "
                "python manage.py reindex to make them."
            )
        for name in status.retired:
            self.stdout.write(f"Vectors of {name} are kept; --drop-old deletes them.")
