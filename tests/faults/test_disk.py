"""R-10: a disk that is full, at each step that writes to it, and files that are lost."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.urls import reverse

from documents import access, actions, pipeline, stored_files, tasks
from documents.errors import StorageError
from documents.ingestion import store
from documents.models import Policy, VersionDetail, VersionState
from documents.tests import factories
from tests.faults import journey
from tests.faults.invariants import violations

pytestmark = pytest.mark.django_db
WRITES = {"new file": "tempfile.mkstemp", "flush": "os.fsync", "rename": "pathlib.Path.replace"}


@pytest.fixture(autouse=True)
def _here(monkeypatch, settings) -> None:
    settings.SWEEP_AFTER_SECONDS = 0
    journey.use_broker(monkeypatch)
    factories.label()


def _full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _stored() -> list[Path]:
    return [path for path in django_settings.FILES_DIR.rglob("*") if path.is_file()]


def _given(name: str) -> actions.Upload:
    return actions.Upload(
        data=journey.text_of(name), file_name=f"{name}.md", labels=("all-staff",), publish=True
    )


@pytest.mark.parametrize("write", WRITES)
def test_an_upload_to_a_full_disk_is_refused_and_leaves_nothing(monkeypatch, write):
    with monkeypatch.context() as full:
        full.setattr(WRITES[write], _full)
        with pytest.raises(StorageError, match="nothing of it was kept"):
            actions.upload(_given("lending"), actor=None)

    assert [path for path in _stored() if path.name.startswith("tmp")] == []
    with access.editing():
        assert Policy.objects.count() == 0
    received = actions.upload(_given("lending"), actor=None)  # there is room again
    pipeline.ingest_version(received.version_id)
    pipeline.index_here(received.version_id)
    assert journey.state_of(received.version_id) == VersionState.PUBLISHED
    assert violations(received=[received.version_id]) == []


def test_a_write_that_is_cut_short_leaves_nothing(monkeypatch):
    class Short:
        """A file that takes a few bytes, and then has no room."""

        def __init__(self, file: Any) -> None:
            self.file = file

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.file.close()

        def write(self, data):
            self.file.write(data[:10])
            _full()

    real = os.fdopen
    with monkeypatch.context() as full:
        full.setattr(os, "fdopen", lambda *args, **more: Short(real(*args, **more)))
        with pytest.raises(StorageError):
            actions.upload(_given("lending"), actor=None)

    assert _stored() == []


def test_a_program_and_a_person_are_told_to_try_again(client, monkeypatch):
    client.force_login(factories.user(is_superuser=True, is_staff=True))
    monkeypatch.setattr("os.fsync", _full)

    response = client.post(
        "/api/v1/ingest",
        {"document_name": "lending.md", "content": journey.text_of("lending").decode()},
        content_type="application/json",
    )
    page = client.get(reverse("ask"))

    assert response.status_code == 503
    assert response.json()["code"] == "storage_unavailable"
    assert "Retry-After" in response.headers
    assert page.status_code == 200  # reading goes on


def test_a_disk_that_is_full_while_reading_is_tried_again_and_then_named(monkeypatch):
    version = factories.received(journey.text_of("lending"))
    monkeypatch.setattr(pipeline, "read_confined", _full)

    for _ in range(django_settings.MAX_INGEST_ATTEMPTS):
        with pytest.raises(OSError, match="No space left"):
            pipeline.ingest_version(version.pk)
        assert journey.is_moving(version.pk)
    pipeline.ingest_version(version.pk)

    failed = factories.version(version.pk)
    assert failed.state == VersionState.FAILED
    assert "Given up after 3 tries" in failed.detail.failure
    assert "No space left on device" in failed.detail.failure
    assert failed.detail.is_retryable


def test_reading_goes_on_by_itself_once_there_is_room(monkeypatch):
    version = factories.received(journey.text_of("lending"))
    with monkeypatch.context() as full:
        full.setattr(pipeline, "read_confined", _full)
        with pytest.raises(OSError, match="No space left"):
            pipeline.ingest_version(version.pk)

    pipeline.ingest_version(version.pk)

    read = factories.version(version.pk)
    assert (read.state, read.detail.failure) == (VersionState.AWAITING_APPROVAL, "")


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b"other bytes")])
def test_a_stored_file_that_is_lost_or_altered_fails_its_version_with_the_reason(damage):
    version = factories.received(journey.text_of("lending"))
    damage(store.path_of(django_settings.FILES_DIR, version.detail.file_sha256))

    pipeline.ingest_version(version.pk)

    failed = factories.version(version.pk)
    assert (failed.state, failed.detail.failure) == (VersionState.FAILED, pipeline.FILE_LOST)


# Files without rows, and rows without files


def _age(path: Path, hours: float) -> None:
    then = time.time() - hours * 3600
    os.utime(path, (then, then))


def test_what_a_broken_upload_left_goes_after_a_day_and_nothing_else():
    version = factories.published(journey.text_of("lending"))
    named = store.path_of(django_settings.FILES_DIR, version.detail.file_sha256)
    folder = django_settings.FILES_DIR
    old = store.path_of(folder, store.save(folder, b"an upload that was broken off"))
    new = store.path_of(folder, store.save(folder, b"an upload of this minute"))
    half = old.with_name("tmpabc")
    half.write_bytes(b"half")
    for path in (named, old, half):
        _age(path, 25)
    _age(new, 1)

    assert tasks.sweep_files() == 2

    assert [path.exists() for path in (named, new, old, half)] == [True, True, False, False]
    assert stored_files.compare().strays == [new]


def test_a_stray_that_is_uploaded_again_is_there_whichever_comes_first():
    folder = django_settings.FILES_DIR
    data = journey.text_of("lending")
    path = store.path_of(folder, store.save(folder, data))
    _age(path, 25)
    sha256 = stored_files.keep(data)  # the upload finds its file there already
    assert stored_files.remove_unused(sha256)  # and the sweeper takes it before there is a row

    with access.editing():
        stored_files.hold(sha256, data)

    assert path.exists()


def test_files_and_rows_that_do_not_match_are_found():
    lost, altered = (factories.received(journey.text_of(name)) for name in ("lost", "altered"))
    folder = django_settings.FILES_DIR
    store.path_of(folder, lost.detail.file_sha256).unlink()
    store.path_of(folder, altered.detail.file_sha256).write_bytes(b"other bytes")

    quick, thorough = stored_files.compare(), stored_files.compare(thoroughly=True)

    assert (quick.missing, quick.altered) == ([lost.detail.file_sha256], [])
    assert thorough.altered == [altered.detail.file_sha256]
    with access.editing():
        assert VersionDetail.objects.count() == 2
