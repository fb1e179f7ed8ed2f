"""Celery's doors to the pipeline: each takes ids, and may run twice without harm."""

from __future__ import annotations

import datetime
import logging
from typing import Any

from celery import Task, shared_task
from django.conf import settings
from django.db import OperationalError, connection

from documents import access, lifecycle, pipeline, queue
from documents.errors import EmbeddingError
from documents.models import ChunkTerms, PolicyVersion, VersionDetail, VersionState

logger = logging.getLogger(__name__)


@shared_task(bind=True, max_retries=5)
def ingest_version(self: Task[Any, Any], version_id: int) -> None:
    """Parse, chunk and screen a version; retry only what can heal by itself."""
    try:
        pipeline.ingest_version(version_id)
    except OperationalError as error:
        raise self.retry(exc=error, countdown=2**self.request.retries) from error
    except PolicyVersion.DoesNotExist:
        logger.warning("Version %s is gone: nothing to do.", version_id)


@shared_task(bind=True, max_retries=5)
def index_version(self: Task[Any, Any], version_id: int) -> None:
    """Fan a version's chunks out in batches; publish at once when none lacks a vector."""
    try:
        batches = pipeline.batches_to_embed(version_id)
        for batch in batches:
            queue.enqueue("embed_batch", version_id, batch)
        if not batches:
            pipeline.publish_version(version_id)
    except OperationalError as error:
        raise self.retry(exc=error, countdown=2**self.request.retries) from error


@shared_task(bind=True, max_retries=5)
def embed_batch(self: Task[Any, Any], version_id: int, chunk_ids: list[int]) -> None:
    """Embed one batch; whoever embeds the last one publishes the version."""
    try:
        if pipeline.embed_chunks(version_id, chunk_ids):
            pipeline.publish_version(version_id)
    except OperationalError as error:
        raise self.retry(exc=error, countdown=2**self.request.retries) from error
    except EmbeddingError as error:
        pipeline.fail_version(version_id, error.message, is_retryable=True)
        raise


@shared_task
def sweep() -> int:
    """Queue again every version that has waited too long; returns how many.

    It needs no memory of the broker, so a flushed or restarted broker loses nothing.
    """
    limit = datetime.datetime.now(datetime.UTC) - datetime.timedelta(
        seconds=settings.SWEEP_AFTER_SECONDS
    )
    with access.editing():
        due = PolicyVersion.objects.filter(
            state__in=lifecycle.MOVING, updated_at__lt=limit, detail__queued_at__lt=limit
        )
        waiting = list(due.values_list("pk", "state", "detail__attempts"))
    for version_id, state, attempts in waiting:
        _sweep_one(version_id, state, attempts)
    return len(waiting)


def _sweep_one(version_id: int, state: str, attempts: int) -> None:
    if attempts >= settings.MAX_INGEST_ATTEMPTS:
        pipeline.fail_version(
            version_id, f"Given up after {attempts} tries: see the worker's log.", is_retryable=True
        )
        return
    is_indexing = state == VersionState.INDEXING
    with access.editing():  # not due again at once: the workers may be down for long
        VersionDetail.objects.filter(pk=version_id).update(
            queued_at=datetime.datetime.now(datetime.UTC),
            attempts=attempts + is_indexing,  # reading counts its own
        )
    queue.enqueue("index_version" if is_indexing else "ingest_version", version_id)


@shared_task
def compact_term_statistics() -> int:
    """Fold the append-only changes of term statistics into their totals."""
    with access.editing(), connection.cursor() as cursor:
        cursor.execute("select documents_compact_term_stats()")
        row = cursor.fetchone()
    return int(row[0]) if row else 0


@shared_task
def count_versions_that_begin() -> int:
    """Count, from their first day on, the chunks that were published ahead of it."""
    with access.editing():
        begun = ChunkTerms.objects.filter(is_counted=False, effective_from__lte=access.today())
        return begun.update(is_counted=True)
