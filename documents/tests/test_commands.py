"""What all commands share: a mistake is one sentence and an exit status, never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command

from documents import access
from documents.management.base import ClearErrorsCommand, day
from documents.management.commands import ingest
from documents.models import PolicyVersion
from documents.tests.factories import label

ROOT = Path(__file__).resolve().parents[2]


class _Dated(ClearErrorsCommand):
    """A command with an argument that may be refused while parsing."""

    requires_system_checks = ()

    def add_arguments(self, parser):
        parser.add_argument("--on", type=day)


def test_argument_refused_while_parsing_is_a_sentence(capsys):
    with pytest.raises(SystemExit) as ended:
        _Dated().run_from_argv(["manage.py", "dated", "--on", "2026-13-01"])

    assert ended.value.code == 1
    assert capsys.readouterr().err == (
        "CommandError: '2026-13-01' is not a date. Write it as 2026-07-01.\n"
    )


@pytest.mark.django_db(transaction=True)
def test_file_that_is_published_already_waits_for_no_worker(tmp_path, monkeypatch):
    everyone = label("all-staff").slug
    file = tmp_path / "parking.md"
    file.write_text("# Parking\n\n## 1 Permits\n\nA permit costs 15 euros a month.\n")
    arguments = ("ingest", str(file), "--labels", everyone, "--publish", "--json")
    call_command(*arguments, "--inline")
    monkeypatch.setattr(ingest, "has_worker", lambda: False)

    call_command(*arguments)  # raises nothing

    with access.editing():
        assert PolicyVersion.objects.count() == 1


def test_empty_label_of_everyone_turns_it_off():
    done = subprocess.run(
        [sys.executable, "-c", "from legalqa import settings; print([settings.EVERYONE_LABEL])"],
        env={**os.environ, "LEGALQA_EVERYONE_LABEL": ""},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "['']\n"
