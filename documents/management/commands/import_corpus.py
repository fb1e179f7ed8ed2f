"""Bring the corpus of an archive in, everything or nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from documents import corpus
from documents.management.base import ClearErrorsCommand


class Command(ClearErrorsCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--grants", action="store_true", help="also who holds which label")
        parser.add_argument(
            "--without-vectors", action="store_true", help="reindex makes new ones afterwards"
        )
        parser.add_argument("--without-audit", action="store_true", help="leave the audit out")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            imported = corpus.import_corpus(
                options["file"],
                with_grants=options["grants"],
                with_vectors=not options["without_vectors"],
                with_audit=not options["without_audit"],
            )
        except OSError as error:
            raise CommandError(
                f"{options['file']} cannot be read, or its files cannot be stored "
                f"({error.strerror or error}). Nothing was changed."
            ) from error
        if options["json"]:
            self.print_json(
                {
                    "rows": imported.rows,
                    "files": imported.files,
                    "new_people": imported.new_people,
                }
            )
            return
        policies = imported.rows["tables/policy.jsonl"]
        versions = imported.rows["tables/policyversion.jsonl"]
        self.stdout.write(f"{policies} policies in {versions} versions, {imported.files} files.")
        if imported.new_people:
            self.stdout.write(
                f"{len(imported.new_people)} people were not known here: their accounts are not "
                f"active and have no password ({', '.join(imported.new_people[:10])}…)."
            )
        if options["without_vectors"]:
            self.stdout.write("Now run: python manage.py reindex")
