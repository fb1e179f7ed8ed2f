#!/usr/bin/env python
"""Django's command line."""

from __future__ import annotations

import os
import sys

# Commands that touch no database or broker: they must work on a machine with nothing running.
_OFFLINE_COMMANDS = frozenset(
    {
        "chunk",
        "screen",
        "verify",
        "export_model",
        "makemigrations",
        "collectstatic",
        "compilemessages",
        "makemessages",
        "spectacular",
        "help",
        "version",
    }
)


def main() -> None:
    """Run a management command, starting the embedded services where it needs them."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "legalqa.settings")
    command = sys.argv[1] if len(sys.argv) > 1 else "help"
    if command not in _OFFLINE_COMMANDS and not {"-h", "--help"} & set(sys.argv[2:]):
        from legalqa.services import ensure_running

        ensure_running()
    from django.core.management import execute_from_command_line
    from django.db import OperationalError

    try:
        execute_from_command_line(sys.argv)
    except OperationalError as error:  # Django's own commands, such as migrate
        from documents.management.base import database_down

        sys.exit(f"CommandError: {database_down(error)}")


if __name__ == "__main__":
    main()
