"""Load the demonstration policies and ask four questions: two answered, two refused."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError, CommandParser

from documents.access import Reader
from documents.management.base import ClearErrorsCommand
from legalqa import demonstration
from qa import pipeline
from qa.answering.present import outcome_json
from qa.management.commands.ask import as_text


class Command(ClearErrorsCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--load", action="store_true", help="only load, ask nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        quiet = options["json"] or options["verbosity"] == 0
        demonstration.load(lambda line: None if quiet else self.stdout.write(line))
        if options["load"]:
            return
        outcomes = [self._ask(row, quiet=options["json"]) for row in demonstration.showcase()]
        if options["json"]:
            self.print_json([outcome for outcome, _ in outcomes])
        unexpected = sum(not is_expected for _, is_expected in outcomes)
        if unexpected:
            raise CommandError(f"{unexpected} of {len(outcomes)} questions ended otherwise.")

    def _ask(self, row: dict[str, str], *, quiet: bool) -> tuple[dict[str, Any], bool]:
        user = get_user_model().objects.get(username=row["user"])
        asked = pipeline.Asked(Reader.for_user(user), row["question"], door="cli")
        outcome = pipeline.ask(asked).outcome
        if not quiet:
            self.stdout.write(f"\n{user.get_full_name()} asks: {row['question']}")
            self.stdout.write(as_text(outcome))
        return outcome_json(outcome), outcome.status == row["expect"]
