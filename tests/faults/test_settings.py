"""How long work may rest, proved from the settings rather than by waiting (A4 of the threats)."""

from __future__ import annotations

from typing import Any

import pytest
from celery import current_app
from django.conf import settings

from documents import tasks

INGESTION = (tasks.ingest_version, tasks.index_version, tasks.embed_batch)


def test_work_goes_on_within_two_minutes_of_a_death():
    schedule: dict[str, Any] = settings.CELERY_BEAT_SCHEDULE

    assert settings.SWEEP_AFTER_SECONDS + schedule["sweep"]["schedule"] <= 120


def test_a_message_is_confirmed_after_its_work_and_comes_back_when_a_worker_is_lost():
    for task in INGESTION:
        assert task.acks_late
        assert task.reject_on_worker_lost
        assert task.ignore_result
    assert current_app.conf.worker_prefetch_multiplier == 1


def test_no_task_outlives_the_time_after_which_its_message_is_handed_out_again():
    conf = current_app.conf
    told = {
        conf.visibility_timeout,
        conf.broker_transport_options["visibility_timeout"],
        conf.result_backend_transport_options["visibility_timeout"],
    }

    assert len(told) == 1
    assert told.pop() > conf.task_time_limit > conf.task_soft_time_limit > 0
    longest_retry_seconds = max(2**retries for retries in range(INGESTION[0].max_retries or 0))
    assert longest_retry_seconds < conf.broker_transport_options["visibility_timeout"]


def test_a_sweep_waits_behind_no_upload_and_old_ones_are_dropped():
    queues = {queue.name for queue in current_app.conf.task_queues}
    schedule: dict[str, Any] = settings.CELERY_BEAT_SCHEDULE
    sweep = schedule["sweep"]

    assert queues == {"celery", "upkeep"}
    assert current_app.conf.task_routes["documents.tasks.sweep"] == {"queue": "upkeep"}
    assert sweep["options"]["expires"] <= sweep["schedule"]


@pytest.mark.parametrize("kind", ["accept_content", "task_serializer"])
def test_messages_are_json_and_nothing_else(kind):
    assert current_app.conf[kind] in ("json", ["json"])


def test_a_worker_waits_for_its_broker_without_end():
    assert current_app.conf.broker_connection_retry_on_startup
    assert current_app.conf.broker_connection_max_retries is None
