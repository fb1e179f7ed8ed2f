"""Promise 5 with real parts: a Celery worker, Redis and Postgres, killed and emptied."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis
from celery import current_app
from django.conf import settings as django_settings
from django.db import connection
from kombu import pools

from documents import access, actions, lifecycle, tasks
from documents.access import Reader
from documents.models import Chunk, PolicyVersion, VersionState
from documents.tests import factories
from legalqa import services

pytestmark = [
    pytest.mark.services,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(240),
]
ROOT = Path(__file__).resolve().parents[2]
BROKER_DATABASE = 11  # a Redis database of these tests' own


def _long_text(sections: int) -> str:
    body = "".join(
        f"## {n} Rule {n}\n\nRule {n} allows {n} visits to the archive in a calendar year.\n\n"
        for n in range(1, sections + 1)
    )
    return "# Archive\n\n" + body


@pytest.fixture
def broker(settings) -> Iterator[str]:
    """The address of an empty broker; the application's own messages go there too."""
    url = services.addresses().redis_url.replace(
        "virtual_host=0", f"virtual_host={BROKER_DATABASE}"
    )
    before = current_app.conf.broker_url
    _redis().flushdb()
    _use_broker(url)
    yield url
    _use_broker(before)
    _redis().flushdb()


def _use_broker(url: str) -> None:
    current_app.conf.update(broker_url=url)
    pools.reset()
    for holder, name in ((current_app, "_pool"), (current_app.amqp, "_producer_pool")):
        setattr(holder, name, None)


def _redis() -> redis.Redis:
    path = services.addresses().redis_url.removeprefix("redis+socket://").split("?")[0]
    return redis.Redis(unix_socket_path=path, db=BROKER_DATABASE)


class Worker:
    """A worker process with its children, on the test database."""

    def __init__(self, broker: str, **environment: str) -> None:
        self._environment = self._address(broker) | environment
        self.start()

    @staticmethod
    def _address(broker: str) -> dict[str, str]:
        parts = connection.settings_dict
        return {
            **os.environ,
            "DATABASE_URL": f"postgresql://{parts['USER']}@/{parts['NAME']}?host={parts['HOST']}",
            "REDIS_URL": broker,
            "DJANGO_SECRET_KEY": django_settings.SECRET_KEY,
            "LEGALQA_FILES_DIR": str(django_settings.FILES_DIR),
            "LEGALQA_MODEL_CACHE_DIR": str(django_settings.MODEL_CACHE_DIR),
            "LEGALQA_EMBEDDING_BACKEND": "onnx",
            "LEGALQA_SWEEP_AFTER_SECONDS": "2",
        }

    def start(self) -> None:
        command = [sys.executable, "-m", "celery", "-A", "legalqa.celery:app", "worker"]
        command += ["--concurrency", "1", "--loglevel", "WARNING", "--without-gossip"]
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=self._environment, start_new_session=True
        )

    def kill(self) -> None:
        """As `kill -9` of the parent and its children: nothing is acknowledged or tidied."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)

    def stop(self) -> None:
        if self.process.poll() is None:
            self.kill()


@pytest.fixture
def worker(broker) -> Iterator[Worker]:
    running = Worker(broker)
    yield running
    running.stop()


def _wait(until: Callable[[], bool], what: str, seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
        time.sleep(0.1)


def _state(version_id: int) -> str:
    with access.editing():
        return PolicyVersion.objects.get(pk=version_id).state


def _visible() -> int:
    with access.reading_as(Reader.with_labels(["all-staff"])):
        return Chunk.objects.count()


def _embedded(version_id: int) -> int:
    with access.editing():
        return Chunk.objects.filter(version=version_id, embedding__isnull=False).count()


def test_a_worker_takes_an_upload_to_approval_and_an_approval_to_readers(worker):
    version = factories.received()
    _wait(lambda: _state(version.pk) == VersionState.AWAITING_APPROVAL, "parsing")
    assert _visible() == 0

    actions.approve_version(version.pk, reviewer=None)

    _wait(lambda: _state(version.pk) == VersionState.PUBLISHED, "publication")
    assert _visible() == 1


def test_a_killed_worker_loses_nothing_and_shows_nothing_half(broker, settings):
    settings.SWEEP_AFTER_SECONDS = 2
    settings.EMBED_BATCH_CHUNKS = 4
    settings.MAX_INGEST_ATTEMPTS = 1_000  # this test sweeps ten times a second
    worker = Worker(broker, LEGALQA_EMBED_BATCH_CHUNKS="4")
    try:
        version = factories.received(_long_text(120), publish=True)
        _wait(lambda: _embedded(version.pk) > 0, "the first batch")
        worker.kill()
        assert _state(version.pk) == VersionState.INDEXING
        assert _visible() == 0

        worker.start()
        counts = set()

        def is_published() -> bool:
            tasks.sweep()
            counts.add(_visible())
            return _state(version.pk) == VersionState.PUBLISHED

        _wait(is_published, "publication after the kill")
        counts.add(_visible())
        assert counts <= {0, 120}
        with access.editing():
            ordinals = list(version.chunks.values_list("ordinal", flat=True))
        assert ordinals == list(range(len(ordinals)))
        assert len(ordinals) == 120
    finally:
        worker.stop()


def test_an_emptied_broker_loses_nothing(broker, settings):
    settings.SWEEP_AFTER_SECONDS = 0
    waiting = [factories.received(_long_text(n + 1)) for n in range(5)]
    assert _redis().llen("celery") == 5
    _redis().flushdb()

    assert tasks.sweep() == 5
    running = Worker(broker)
    try:
        for version in waiting:
            _wait(
                lambda v=version: _state(v.pk) == VersionState.AWAITING_APPROVAL,  # type: ignore[misc]  # bound now
                "the swept versions",
            )
    finally:
        running.stop()


def test_an_upload_is_accepted_while_the_broker_is_down(broker, settings, tmp_path):
    settings.SWEEP_AFTER_SECONDS = 0
    _use_broker(f"redis+socket://{tmp_path}/nobody.sock?virtual_host=0")

    version = factories.received()

    assert _state(version.pk) == VersionState.RECEIVED
    _use_broker(broker)
    tasks.sweep()
    assert _redis().llen("celery") == 1


def test_one_task_delivered_many_times_does_its_work_once(worker):
    version = factories.received(_long_text(6), publish=True)
    for _ in range(5):
        tasks.ingest_version.delay(version.pk)
        tasks.index_version.delay(version.pk)

    _wait(lambda: _state(version.pk) == VersionState.PUBLISHED, "publication")

    _wait(lambda: _redis().llen("celery") == 0, "the repeated messages")
    assert _visible() == 6
    assert _state(version.pk) not in lifecycle.MOVING
