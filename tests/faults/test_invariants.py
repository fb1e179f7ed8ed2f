"""The checker and the watching reader see what is broken by hand."""

from __future__ import annotations

import pytest
from django.conf import settings as django_settings
from django.db import connection

from documents import access, actions, pipeline
from documents.ingestion import store
from documents.models import Chunk, ChunkTerms, PolicyVersion, VersionDetail, VersionState
from documents.tests import factories
from tests.faults import journey
from tests.faults.invariants import of_stream, violations
from tests.faults.watcher import watching

pytestmark = pytest.mark.django_db


@pytest.fixture
def version(monkeypatch) -> PolicyVersion:
    journey.use_broker(monkeypatch)
    made = factories.received(journey.text_of("lending"), publish=True)
    pipeline.ingest_version(made.pk)
    pipeline.index_here(made.pk)
    assert violations(received=[made.pk]) == []
    return factories.version(made.pk)


def _first(version: PolicyVersion) -> Chunk:
    return version.chunks.order_by("ordinal")[0]


def _lose_file(version):
    store.path_of(django_settings.FILES_DIR, version.detail.file_sha256).unlink()


def _leave_file(version):
    store.save(django_settings.FILES_DIR, b"of no version")


def _lose_passage(version):
    _first(version).delete()


def _lose_terms(version):
    ChunkTerms.objects.filter(chunk=_first(version)).delete()


def _lose_vector(version):
    Chunk.objects.filter(pk=_first(version).pk).update(embedding=None, live=False)


def _mix_vectors(version):
    Chunk.objects.filter(pk=_first(version).pk).update(embedding_model="another")


def _move_text(version):
    Chunk.objects.filter(pk=_first(version).pk).update(text="something else")


def _forget_approval(version):
    VersionDetail.objects.filter(pk=version.pk).update(approved_at=None)


def _take_back_the_state(version):
    PolicyVersion.objects.filter(pk=version.pk).update(state=VersionState.AWAITING_APPROVAL)


def _stay_under_way(version):
    PolicyVersion.objects.filter(pk=version.pk).update(state=VersionState.INDEXING)


def _count_wrong(version):
    with connection.cursor() as cursor:
        cursor.execute(
            "insert into documents_termdelta (term, access_class, df) values (7, %s, 1)",
            [_first(version).access_class_id],
        )


@pytest.mark.parametrize(
    ("break_it", "name"),
    [
        (_lose_file, "I1"),
        (_leave_file, "I6"),
        (_lose_passage, "I2"),
        (_lose_terms, "I2"),
        (_lose_vector, "I2"),
        (_mix_vectors, "I2"),
        (_move_text, "I3"),
        (_forget_approval, "I2"),
        (_take_back_the_state, "I2"),
        (_stay_under_way, "I1"),
        (_count_wrong, "I2"),
    ],
)
def test_what_is_broken_is_named(version, break_it, name):
    with access.editing():
        break_it(version)

    found = violations(received=[version.pk])

    assert any(line.startswith(name) for line in found), found


def test_a_version_that_is_gone_is_missed(version):
    with access.editing():
        version.policy.delete()

    assert f"I1: version {version.pk} was received and is gone" in violations(received=[version.pk])


@pytest.mark.parametrize(
    ("events", "is_right"),
    [
        (["step", "sources", "claim", "answer"], True),
        (["step", "sources", "refused"], True),
        (["step", "claim", "sources", "answer"], False),
        (["step", "sources", "claim"], False),
        (["step", "sources", "answer", "error"], False),
    ],
)
def test_a_stream_ends_once_and_names_its_sources_first(events, is_right):
    assert (of_stream(events) == []) is is_right


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_the_watching_reader_sees_half_a_version(version, tmp_path):
    with access.editing():
        held = _first(version)
        ChunkTerms.objects.filter(chunk=held).delete()
        Chunk.objects.filter(pk=held.pk).update(effective_from=None, live=False)

    with pytest.raises(AssertionError, match="2 of 3 passages of"), watching(tmp_path / "seen"):
        _wait_for(tmp_path / "seen")


def _wait_for(notes) -> None:
    import time

    deadline = time.monotonic() + 60
    while notes.read_text().count("looked") < 3:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_an_upload_twice_at_the_door_is_one_version(version):
    again = actions.upload(
        actions.Upload(
            data=journey.text_of("lending"), file_name="x.md", policy_slug=version.policy.slug
        ),
        actor=None,
    )

    assert again.is_duplicate
