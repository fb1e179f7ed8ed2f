"""R-01, R-05, R-06, R-12: real workers and a real broker, killed, stopped and emptied."""

from __future__ import annotations

import datetime
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.db.models.functions import Now

from documents import access, actions, sweeping, tasks
from documents.access import Reader
from documents.models import Chunk, Policy, PolicyVersion, VersionDetail, VersionState
from documents.tests import factories
from tests.faults import services
from tests.faults.invariants import violations
from tests.faults.services import Broker, Worker, wait_until

pytestmark = [
    pytest.mark.services,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(300),
]
PASSAGES = 12


@pytest.fixture(scope="module")
def site(django_db_setup) -> Iterator[tuple[Broker, Worker, Path]]:
    """One broker and one worker for all of these tests: a worker takes long to start."""
    broker, files = Broker(), Path(tempfile.mkdtemp())
    worker = Worker(broker, LEGALQA_FILES_DIR=str(files))
    before = services.use_broker(broker.url)
    yield broker, worker, files
    services.use_broker(before)
    worker.stop()
    broker.remove()
    shutil.rmtree(files)


@pytest.fixture
def broker(site, settings) -> Broker:
    running, _, files = site
    settings.SWEEP_AFTER_SECONDS = 2
    settings.FILES_DIR = files
    shutil.rmtree(files)
    files.mkdir()
    return running


@pytest.fixture
def worker(site, broker) -> Worker:
    return site[1]


def _text(name: str, last: str = "") -> bytes:
    body = "".join(
        f"## {n} Rule {n}\n\nRule {n} of {name} allows {n} visits in a calendar year.\n\n"
        for n in range(1, PASSAGES + 1)
    )
    return f"# {name}\n\n{body}{last}".encode()


def _upload(name: str, *, last: str = "") -> int:
    factories.label()
    given = actions.Upload(
        data=_text(name, last),
        file_name=f"{name}.md",
        policy_slug=name,
        title=f"The policy {name}",  # or reading would change it, and wait for its row
        labels=("all-staff",),
        effective_from=datetime.date(2024, 1, 1),
        publish=True,
    )
    return actions.upload(given, actor=None).version_id


def _state(version_id: int) -> str:
    with access.editing():
        return PolicyVersion.objects.get(pk=version_id).state


def _tries_of_embedding(version_id: int) -> int:
    with access.editing():
        rows = VersionDetail.objects.filter(version__state=VersionState.INDEXING)
        return sum(rows.filter(pk=version_id).values_list("attempts", flat=True))


def _embedded(version_id: int) -> int:
    with access.editing():
        return VersionDetail.objects.get(pk=version_id).embedded_count


def _shown() -> dict[str, int]:
    with access.reading_as(Reader.with_labels(["all-staff"])):
        slugs = Chunk.objects.values_list("version__policy__slug", flat=True)
        counted: dict[str, int] = {}
        for slug in slugs:
            counted[slug] = counted.get(slug, 0) + 1
    return counted


def _swept_until(condition: Callable[[], bool], what: str) -> None:
    """Sweep as beat does, and see at each moment that nothing is half."""

    def swept() -> bool:
        tasks.sweep()
        assert set(_shown().values()) <= {PASSAGES}
        return condition()

    wait_until(swept, what)


def _is(version_id: int, state: VersionState) -> Callable[[], bool]:
    return lambda: _state(version_id) == state


@contextmanager
def _somebody_waits_for(rows: Callable[[], object]) -> Iterator[None]:
    """Lock these rows; the block begins once a worker waits for them."""
    with access.editing():
        rows()

        def waits() -> bool:
            with connection.cursor() as cursor:
                cursor.execute("select pg_stat_clear_snapshot()")  # one is kept in a transaction
                cursor.execute(
                    "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
                    " and datname = current_database()"
                )
                row = cursor.fetchone()
            return bool(row and row[0])

        wait_until(waits, "a worker at the lock")
        yield


def test_a_child_killed_while_it_reads_embeds_or_publishes_loses_nothing(worker):
    reading = _upload("slow")
    wait_until(_is(reading, VersionState.PARSING), "reading")
    with access.editing():  # its name was all that was slow about it: the next run is not
        VersionDetail.objects.filter(pk=reading).update(file_name="quick.md")
    worker.kill_children()

    hold = django_settings.FILES_DIR / "hold"
    hold.touch()
    embedding = _upload("embedding")
    wait_until(lambda: _tries_of_embedding(embedding) > 0, "the first batch")
    worker.kill_children()
    hold.unlink()
    assert (_state(embedding), _embedded(embedding)) == (VersionState.INDEXING, 0)

    for version_id in (reading, embedding):
        _swept_until(_is(version_id, VersionState.PUBLISHED), "publication after the deaths")

    hold.touch()
    publishing = _upload("publishing")
    wait_until(lambda: _tries_of_embedding(publishing) > 0, "the first batch of the third")

    def take_the_policy() -> None:  # publishing it needs its row
        Policy.objects.select_for_update().get(slug="publishing")
        hold.unlink()

    with _somebody_waits_for(take_the_policy):
        worker.kill_children()
        assert _state(publishing) == VersionState.INDEXING
    _swept_until(_is(publishing, VersionState.PUBLISHED), "publication after the last death")
    assert violations(received=[reading, embedding, publishing]) == []


def test_a_parent_killed_while_its_child_works_on_loses_nothing(worker):
    version_id = _upload("orphaned")
    _swept_until(lambda: _embedded(version_id) > 0, "the first batch")
    orphans = worker.kill_parent()
    worker.start()

    _swept_until(_is(version_id, VersionState.PUBLISHED), "publication after the death")

    psutil.wait_procs(orphans, timeout=30)
    assert violations(received=[version_id]) == []


def test_files_that_kill_their_worker_end_failed_and_hold_nobody_up(worker):
    deadly = [_upload("deadly-to-read"), _upload("embeds", last="A deadly passage.\n")]
    good = [_upload(f"good-{n}") for n in range(4)]

    for version_id in good:
        _swept_until(_is(version_id, VersionState.PUBLISHED), "the good ones")
    for version_id in deadly:
        _swept_until(_is(version_id, VersionState.FAILED), "the end of the deadly ones")

    for version_id in deadly:
        detail = factories.version(version_id).detail
        assert detail.failure.startswith("Given up after 3 tries.")
        assert detail.is_retryable
    assert violations(received=[*deadly, *good]) == []


def test_a_broker_that_is_paused_killed_and_emptied_loses_nothing(broker, worker):
    broker.send(signal.SIGSTOP)
    paused = _upload("paused")  # accepted all the same
    assert _state(paused) == VersionState.RECEIVED
    broker.send(signal.SIGCONT)
    _swept_until(_is(paused, VersionState.PUBLISHED), "the one of the pause")

    broker.send(signal.SIGKILL)
    gone = _upload("gone")
    assert sweeping.requeue_due(0) == 0
    tasks.sweep()  # it says so, and does no harm
    broker.start()
    emptied = [_upload(f"emptied-{n}") for n in range(3)]
    broker.empty()

    for version_id in (gone, *emptied):
        _swept_until(_is(version_id, VersionState.PUBLISHED), "those of the restart")
    assert violations(received=[paused, gone, *emptied]) == []


def test_five_hundred_waiting_uploads_survive_an_emptied_broker(settings):
    """Each is queued again, none twice, and never more than a hundred at a time."""
    settings.SWEEP_AFTER_SECONDS = 60
    broker = Broker()  # at which no worker listens
    before = services.use_broker(broker.url)
    try:
        _sweep_five_hundred(broker)
    finally:
        services.use_broker(before)
        broker.remove()


def _sweep_five_hundred(broker: Broker) -> None:
    factories.label()
    with access.editing():
        policy = Policy.objects.create(slug="many", title="Many")
        made = [PolicyVersion(policy=policy, number=n) for n in range(1, 501)]
        PolicyVersion.objects.bulk_create(made)
        VersionDetail.objects.bulk_create(
            VersionDetail(version=v, file_sha256="0" * 64, file_name="x", file_size_bytes=1)
            for v in made
        )
        then = Now() - datetime.timedelta(hours=1)
        PolicyVersion.objects.update(updated_at=then)
        VersionDetail.objects.update(queued_at=then)
    broker.empty()

    swept: list[int] = []
    while not swept or swept[-1]:
        swept.append(tasks.sweep())
        assert broker.waiting() <= 100
        broker.empty()  # a worker that took them all

    assert sum(swept) == 500
    assert swept[0] == 100
