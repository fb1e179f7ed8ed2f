"""Serve the policies to a program over the Model Context Protocol, on standard input and output."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError, CommandParser

from documents.management.base import ClearErrorsCommand
from qa.mcp.server import build_server


class Command(ClearErrorsCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--user", required=True, help="name of the person to read as")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["user"]
        if not get_user_model().objects.filter(username=name, is_active=True).exists():
            raise CommandError(
                f"There is no active user {name}. Name one with --user; "
                "python manage.py createsuperuser makes the first."
            )
        build_server(name).run("stdio")
