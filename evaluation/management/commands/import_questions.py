"""Take a file of labelled questions as the newest version of a question set."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from documents.management.base import ClearErrorsCommand, translated
from evaluation.errors import EvaluationError
from evaluation.question_sets import import_file


class Command(ClearErrorsCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("file", type=Path, help="JSON Lines, or CSV by its name")
        parser.add_argument("--name", help="of the set; default: the file's name without ending")

    @translated(EvaluationError)
    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        imported = import_file(path, name=options["name"] or path.stem)
        if options["json"]:
            self.print_json(asdict(imported))
            return
        what = "imported" if imported.is_new else "nothing to do, it holds these questions already"
        self.stdout.write(
            f"{imported.name}, version {imported.version}: {imported.questions} questions, {what}."
        )
