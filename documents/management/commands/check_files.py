"""`manage.py check_files`: compare the stored files with the versions that name them."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from documents import stored_files
from documents.management.base import ClearErrorsCommand


class Command(ClearErrorsCommand):
    help = (
        "Compare stored files and versions: files that are missing or altered, and files that no "
        "version names. Exit status 1 if a file is missing or altered."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--thorough", action="store_true", help="read every file and check its bytes"
        )
        parser.add_argument(
            "--remove-strays",
            action="store_true",
            help="remove files older than a day that no version names",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        removed = stored_files.remove_strays() if options["remove_strays"] else 0
        report = stored_files.compare(thoroughly=options["thorough"])
        if options["json"]:
            self.print_json(
                {
                    "files": report.files,
                    "missing": report.missing,
                    "altered": report.altered,
                    "strays": len(report.strays),
                    "removed": removed,
                }
            )
        else:
            self._say(report, removed)
        if report.missing or report.altered:
            raise CommandError(
                "Versions lack their files. Restore these files from a backup, or upload them "
                "again: the same bytes mend what is stored."
            )

    def _say(self, report: stored_files.Report, removed: int) -> None:
        self.stdout.write(f"{report.files} files stored.")
        for word, hashes in (("missing", report.missing), ("altered", report.altered)):
            for sha256 in hashes:
                self.stdout.write(f"{word}: {sha256}")
        if removed:
            self.stdout.write(f"{removed} files without a version removed.")
        if report.strays:
            self.stdout.write(
                f"{len(report.strays)} files without a version; those older than a day are removed "
                "every night."
            )
