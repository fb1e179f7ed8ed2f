"""Finds the versions that wait for a worker and that no message may know of any more."""

from __future__ import annotations

from django.db.models import Exists, OuterRef
from django.db.models.functions import Now

from documents import access, lifecycle, queue
from documents.models import BatchItem, PolicyVersion, UploadBatch, VersionDetail, VersionState


def requeue_due(at_most: int) -> int:
    """Queue again the versions that have rested longest in a moving state; returns how many.

    A version that was queued lately is left alone: the workers may be busy for long. One that is
    locked is being worked on, or swept by another sweeper at this moment. Tries are counted
    where they begin (`pipeline`), not here, so that none is lost by waiting.
    """
    with access.editing():
        due = (
            PolicyVersion.objects.filter(
                lifecycle.long_ago("updated_at"),
                lifecycle.long_ago("detail__queued_at"),
                state__in=lifecycle.MOVING,
            )
            .select_for_update(of=("self",), skip_locked=True)
            .order_by("detail__queued_at", "pk")
        )
        waiting = list(due[:at_most])
        ids = [version.pk for version in waiting]
        VersionDetail.objects.filter(pk__in=ids).update(queued_at=Now())
        for version in waiting:
            is_indexing = version.state == VersionState.INDEXING
            queue.enqueue("index_version" if is_indexing else "ingest_version", version.pk)
    return len(waiting)


def requeue_batches() -> int:
    """Queue again the batches of files of which none was decided on for long; returns how many."""
    with access.editing():
        waiting = BatchItem.objects.filter(batch=OuterRef("pk"), outcome=BatchItem.Outcome.WAITING)
        due = UploadBatch.objects.filter(lifecycle.long_ago("updated_at"), Exists(waiting))
        ids = [batch.pk for batch in due.select_for_update(skip_locked=True)]
        UploadBatch.objects.filter(pk__in=ids).update(updated_at=Now())
        for batch_id in ids:
            queue.enqueue("take_batch", batch_id)
    return len(ids)
