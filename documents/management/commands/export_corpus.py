"""Write the whole corpus, files and audit trail included, into one archive."""

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
        parser.add_argument("--without-audit", action="store_true", help="leave the audit out")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            counts = corpus.export_corpus(
                options["file"],
                with_grants=options["grants"],
                with_audit=not options["without_audit"],
            )
        except OSError as error:
            raise CommandError(
                f"{options['file']} cannot be written ({error.strerror or error}). Choose another "
                "place, or make room."
            ) from error
        rows = {name: n for name, n in counts.items() if not name.startswith("files/")}
        files = len(counts) - len(rows)
        if options["json"]:
            self.print_json({"file": str(options["file"]), "rows": rows, "files": files})
            return
        policies = rows["tables/policy.jsonl"]
        versions = rows["tables/policyversion.jsonl"]
        self.stdout.write(
            f"{policies} policies in {versions} versions with {files} files: {options['file']}. "
            "It holds every text, whoever may read it: keep it as you keep the database."
        )
