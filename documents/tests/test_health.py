"""What `doctor` and `check_files` say about work that waits, a missing sweeper and lost files."""

from __future__ import annotations

import datetime
import io
import json
import time

import pytest
from django.conf import settings as django_settings
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.db.models.functions import Now

from documents import access, health, tasks
from documents.admin import rows
from documents.ingestion import store
from documents.models import PolicyVersion
from documents.tests import factories
from legalqa.management.commands import doctor

pytestmark = pytest.mark.django_db


def _age(version: PolicyVersion, minutes: int) -> None:
    with access.editing():
        PolicyVersion.objects.filter(pk=version.pk).update(
            updated_at=Now() - datetime.timedelta(minutes=minutes)
        )


def test_an_upload_that_rests_too_long_is_an_alarm():
    assert doctor._uploads() == doctor.Part("uploads", True, "none waits")
    factories.parsed()  # rests: it awaits a person
    assert health.backlog() == health.Backlog(0, 0.0)
    waiting = factories.received()
    assert doctor._uploads().is_well

    _age(waiting, 11)

    part = doctor._uploads()
    assert not part.is_well
    assert part.seen.startswith("1 under way, the oldest untouched for 66")


def test_a_sweeper_that_does_not_run_is_an_alarm():
    assert not doctor._sweeper().is_well
    tasks.sweep()
    assert doctor._sweeper() == doctor.Part(
        "sweeper", True, "ran 0 s ago", doctor._sweeper().remedy
    )

    cache.set(health._SWEPT_AT, time.time() - 11 * 60)

    assert not doctor._sweeper().is_well


def _check(**options: object) -> dict[str, object]:
    out = io.StringIO()
    try:
        call_command("check_files", json=True, stdout=out, **options)
    finally:
        found = json.loads(out.getvalue())
    return found


def test_files_and_versions_are_compared():
    version = factories.received()
    store.save(django_settings.FILES_DIR, b"of no version")
    assert _check() == {"files": 2, "missing": [], "altered": [], "strays": 1, "removed": 0}
    path = store.path_of(django_settings.FILES_DIR, version.detail.file_sha256)
    path.write_bytes(b"other bytes")
    assert doctor._files().is_well  # it looks at names alone

    with pytest.raises(CommandError, match="Restore these files"):
        call_command("check_files", thorough=True, stdout=io.StringIO())
    path.unlink()
    with pytest.raises(CommandError, match="Restore these files"):
        call_command("check_files", stdout=io.StringIO())
    assert not doctor._files().is_well


def test_strays_are_removed_when_they_are_old():
    store.save(django_settings.FILES_DIR, b"of no version")

    assert _check(remove_strays=True)["removed"] == 0


def test_the_page_says_that_an_upload_waits_for_a_worker():
    waiting = rows.status_of(_row(factories.received()))
    read = rows.status_of(_row(factories.parsed()))

    assert waiting["label"] == "Received, waits for a worker"
    assert waiting["is_moving"]
    assert read["label"] == "Awaiting Approval"


def _row(version: PolicyVersion) -> object:
    with access.editing():
        return rows.shown_rows(PolicyVersion.objects.filter(pk=version.pk)).get()
