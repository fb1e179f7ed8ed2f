"""Erase the words of one person's questions and answers; that they asked stays on record."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser

from documents.management.base import ClearErrorsCommand
from qa import erasure


class Command(ClearErrorsCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("user", help="user name of the person, whose account may be gone")
        parser.add_argument(
            "--user-id", type=int, help="which account, where several have had the name"
        )
        parser.add_argument("--yes", action="store_true", help="erase; without it only count")

    def handle(self, *args: Any, **options: Any) -> None:
        asker = erasure.find_asker(options["user"], user_id=options["user_id"])
        found = erasure.extent(asker)
        erased = erasure.erase(asker, actor=None) if options["yes"] else 0
        if options["json"]:
            self.print_json({**asdict(asker), **asdict(found), "erased": erased})
            return
        self.stdout.write(
            f"{asker.name} (account {asker.user_id}) has asked {found.questions} questions; "
            f"the words of {found.with_words} are on record."
        )
        if options["yes"]:
            self.stdout.write(f"Erased: the words of {erased} questions and their answers.")
        else:
            self.stdout.write("Nothing was erased. To erase them for good, add --yes.")
