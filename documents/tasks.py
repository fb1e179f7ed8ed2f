"""Celery's doors to the pipeline: each takes ids, and may run twice without harm."""

from __future__ import annotations

import logging
from typing import Any

from celery import Task, shared_task
from django.db import InterfaceError, OperationalError, connection

from documents import (
    access,
    health,
    pipeline,
    queue,
    reviewing,
    sealing,
    stored_files,
    sweeping,
)
from documents.errors import EmbeddingError
from documents.models import ChunkTerms, PolicyVersion, VersionState

logger = logging.getLogger(__name__)

DATABASE_AWAY = (OperationalError, InterfaceError)
_EMBEDDING = "Embedding ended with {name}: the worker's log says more."
_PUBLISHING = "Publishing ended with {name}: the worker's log says more."


@shared_task(bind=True, max_retries=5)
def ingest_version(self: Task[Any, Any], version_id: int) -> None:
    """Parse, chunk and screen a version; retry only what can heal by itself."""
    try:
        pipeline.ingest_version(version_id)
    except DATABASE_AWAY as error:
        raise self.retry(exc=error, countdown=2**self.request.retries) from error
    except PolicyVersion.DoesNotExist:
        logger.warning("Version %s is gone: nothing to do.", version_id)


@shared_task(bind=True, max_retries=5)
def index_version(self: Task[Any, Any], version_id: int) -> None:
    """Fan a version's chunks out in batches; publish at once when none lacks a vector."""
    try:
        run = pipeline.claim_indexing(version_id)
        if run is None:
            return
        batches = pipeline.batches_to_embed(version_id)
        for batch in batches:
            queue.enqueue("embed_batch", version_id, batch, run)
        if not batches:
            pipeline.note_run(version_id, run)
            pipeline.publish_version(version_id)
    except DATABASE_AWAY as error:
        raise self.retry(exc=error, countdown=2**self.request.retries) from error
    except PolicyVersion.DoesNotExist:
        logger.warning("Version %s is gone: nothing to do.", version_id)
    except Exception as error:
        pipeline.note_trouble(version_id, _PUBLISHING.format(name=type(error).__name__))
        raise


@shared_task(bind=True, max_retries=5)
def embed_batch(self: Task[Any, Any], version_id: int, chunk_ids: list[int], run: int = 0) -> None:
    """Embed one batch; whoever embeds the last one publishes the version.

    A batch that comes back from a worker that ended is left to the sweeper, which counts: given
    out again at once, a passage that ends every worker would go round without end.
    """
    if (self.request.delivery_info or {}).get("redelivered"):
        logger.warning("A worker ended while it embedded version %s: swept later.", version_id)
        return
    try:
        if pipeline.embed_chunks(version_id, chunk_ids, run=run):
            pipeline.publish_version(version_id)
    except DATABASE_AWAY as error:
        raise self.retry(exc=error, countdown=2**self.request.retries) from error
    except PolicyVersion.DoesNotExist:
        logger.warning("Version %s is gone: nothing to do.", version_id)
    except EmbeddingError as error:
        pipeline.fail_version(
            version_id, error.message, is_retryable=True, during=VersionState.INDEXING
        )
        raise
    except Exception as error:
        pipeline.note_trouble(version_id, _EMBEDDING.format(name=type(error).__name__))
        raise


@shared_task
def sweep() -> int:
    """Queue again the versions that have waited too long; returns how many.

    It needs no memory of the broker, so a flushed or restarted broker loses nothing.
    """
    queued = sweeping.requeue_due(queue.room())
    sweeping.requeue_batches()
    health.note_sweep()
    return queued


@shared_task
def sweep_files() -> int:
    """Remove the files of uploads that were never recorded; returns how many."""
    return stored_files.remove_strays() + stored_files.remove_stray_batches()


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


@shared_task
def write_reminders() -> int:
    """Write reminders of reviews that come near; returns how many."""
    return reviewing.write_reminders()


@shared_task
def send_reminders() -> int:
    """Send the reminders that were not sent yet; returns how many went out."""
    return reviewing.send_reminders()


@shared_task
def seal_audit() -> int:
    """Link the audit events that have been committed since the last time into the chain."""
    return sealing.seal()


@shared_task
def anchor_audit() -> bool:
    """Anchor the audit chain for today, unless today has an anchor."""
    return sealing.anchor(access.today()) is not None
