"""Make an API key for a user and print it; it is stored hashed and cannot be shown again."""

from __future__ import annotations

import datetime
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError, CommandParser

from documents import access
from documents.management.base import ClearErrorsCommand, label_list
from qa import keys
from qa.models import ApiKey


class Command(ClearErrorsCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--user", required=True, help="name of the user it acts for")
        parser.add_argument("--name", required=True, help="what it is for, at most 100 characters")
        parser.add_argument(
            "--scopes", required=True, type=label_list, help=f"of {', '.join(ApiKey.Scope.values)}"
        )
        parser.add_argument(
            "--labels",
            type=label_list,
            help="narrow it to these labels; all of the user's if left out",
        )
        parser.add_argument("--expires-days", type=int, help="days it is valid; no end if left out")

    def handle(self, *args: Any, **options: Any) -> None:
        user = get_user_model().objects.filter(username=options["user"], is_active=True).first()
        if user is None:
            raise CommandError(f"There is no active user {options['user']}.")
        _check(options)
        key = keys.create_key(
            user,
            name=options["name"],
            scopes=options["scopes"],
            labels=options["labels"],
            expires_at=_end(options["expires_days"]),
        )
        if options["json"]:
            self.print_json({"key": key, "user": options["user"], "scopes": options["scopes"]})
        else:
            self.stdout.write(key)
            self.stderr.write("Keep it now: it cannot be shown again.")


def _check(options: dict[str, Any]) -> None:
    unknown = sorted(set(options["scopes"]) - set(ApiKey.Scope.values))
    if unknown or not options["scopes"]:
        known = ", ".join(ApiKey.Scope.values)
        raise CommandError(
            f"There is no scope {', '.join(unknown) or '(none given)'}. Known: {known}."
        )
    if not options["name"].strip() or len(options["name"]) > 100:
        raise CommandError("--name must have 1 to 100 characters.")
    if options["expires_days"] is not None and options["expires_days"] < 1:
        raise CommandError("--expires-days must be 1 or more.")
    access.require_labels(options["labels"] or ())


def _end(days: int | None) -> datetime.datetime | None:
    return datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=days) if days else None
