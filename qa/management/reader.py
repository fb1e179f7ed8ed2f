"""Who asks on the command line: `--user` or `--labels`, and what both commands take."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError, CommandParser

from documents.access import Reader
from documents.management.base import day, label_list


def add_reader_arguments(parser: CommandParser) -> None:
    """The question, its reader, its date and the number of passages."""
    parser.add_argument("question")
    who = parser.add_mutually_exclusive_group()
    who.add_argument("--user", help="name of the user who asks")
    who.add_argument("--labels", type=label_list, help="labels to read with, such as all-staff,hr")
    parser.add_argument("--as-of", type=day, help="the day whose rules are asked for")
    parser.add_argument("--k", type=_passages, default=5, help="passages to retrieve, 1 to 20")


def _passages(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 20:
        raise CommandError(f"--k is {text}; it must be a whole number from 1 to 20.")
    return int(text)


def reader_from(options: dict[str, Any]) -> Reader:
    """The reader that the options name.

    Raises:
        CommandError: neither a user nor labels, or a user who does not exist or is disabled.
        UnknownLabelError: a label that does not exist.
    """
    if options["labels"] is not None:
        return Reader.with_labels(options["labels"])
    if not options["user"]:
        raise CommandError("Say who asks: --user NAME, or --labels all-staff.")
    user = get_user_model().objects.filter(username=options["user"], is_active=True).first()
    if user is None:
        raise CommandError(
            f"There is no active user {options['user']}. Name another with --user, or read with "
            "--labels all-staff."
        )
    return Reader.for_user(user)
