"""Many files at once: received whole, then taken one by one, each with an outcome of its own.

What a person hands in is on disk and its rows are committed before the page says *received*; a
worker then takes file after file, each in one transaction with its outcome, so a batch that is
broken off goes on where it stopped, and no file is lost or taken twice. The handed-in files go
once the last of theirs is decided on.
"""

from __future__ import annotations

import datetime
import hashlib
import logging
import os
import shutil
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING
from zipfile import ZipFile

from celery import shared_task
from django.conf import settings

from documents import access, actions, audit, queue, stewards, stored_files
from documents.errors import DocumentsError, ParseError, StorageError, ValidationProblem
from documents.ingestion import archive, store
from documents.ingestion.archive import ArchiveLimits, Member
from documents.ingestion.names import shown_name
from documents.models import BatchItem, UploadBatch

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = logging.getLogger(__name__)

ADD = "documents.add_policyversion"
APPROVE = "documents.approve_version"
MAX_TRIES = 3  # of a file at which the worker itself ended each time
_RUN_SECONDS = 60.0  # after which a long batch goes back to the end of the queue
_BLOCK = 1024 * 1024
Outcome = BatchItem.Outcome


@dataclass(frozen=True, slots=True)
class HandedIn:
    """A file as a door gets it, read once from its beginning."""

    name: str
    file: IO[bytes]
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for every file of a batch; empty fields as in `actions.Upload`."""

    labels: tuple[str, ...] = ()
    department: str = ""
    effective_from: datetime.date | None = None
    effective_to: datetime.date | None = None
    publish: bool = False


def limits() -> ArchiveLimits:
    """How much one archive may hold, by the settings."""
    return ArchiveLimits(
        files=settings.MAX_BATCH_FILES,
        total_bytes=settings.MAX_BATCH_BYTES,
        member_bytes=settings.MAX_UPLOAD_BYTES,
    )


def receive(files: Sequence[HandedIn], terms: Terms, *, actor: User) -> UploadBatch:
    """Keep what was handed in, and have a worker take it file by file.

    Raises:
        ValidationProblem: no file, too much at once, or terms under which none could be taken.
        UnknownLabelError: a label that does not exist.
        StorageError: the disk is full or cannot be written; nothing is kept.
    """
    _check(files, terms, actor)
    public_id = uuid.uuid4()
    folder = stored_files.incoming(public_id)
    try:
        paths = _keep(files, folder)
        entries = [entry for n, path in enumerate(paths) for entry in _entries(n, path, files[n])]
        with access.editing():
            return _create(public_id, files, entries, terms, actor)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _check(files: Sequence[HandedIn], terms: Terms, actor: User) -> None:
    if not files:
        raise ValidationProblem("Choose at least one file or archive.", code="empty")
    if sum(file.size_bytes for file in files) > settings.MAX_BATCH_BYTES:
        raise ValidationProblem(
            f"That is more than {settings.MAX_BATCH_BYTES // _BLOCK} MB at once. Hand it in in "
            "parts, or raise LEGALQA_MAX_BATCH_BYTES.",
            code="too_large",
        )
    labels = access.require_labels(terms.labels)
    actions.check_terms(terms.publish, terms.effective_from, terms.effective_to)
    if terms.publish and labels:
        actions.require_audience(labels)
    stewards.department_for(actor, terms.department)


def _keep(files: Sequence[HandedIn], folder: Path) -> list[Path]:
    """Write the files durably, under numbers: no name that a client sent becomes a path."""
    paths = [folder / str(number) for number in range(len(files))]
    try:
        folder.mkdir(parents=True)
        for handed_in, path in zip(files, paths, strict=True):
            with path.open("xb") as target:
                shutil.copyfileobj(handed_in.file, target, _BLOCK)
                target.flush()
                os.fsync(target.fileno())
        for parent in (folder, folder.parent, folder.parent.parent):
            store.flush_folder(parent)
    except OSError as error:
        logger.exception("A batch could not be stored in %s.", folder)
        raise StorageError(
            "The files could not be stored, and nothing of them was kept. Try again later; if "
            "that fails too, tell whoever runs this site that the disk may be full."
        ) from error
    return paths


def _entries(source: int, path: Path, handed_in: HandedIn) -> Iterator[BatchItem]:
    """The rows of one file that was handed in: itself, or the members of the archive it is."""
    name = shown_name(handed_in.name)
    with path.open("rb") as file:
        if not archive.is_archive(file):
            yield BatchItem(source=source, name=name, size_bytes=handed_in.size_bytes)
            return
        try:
            members = archive.list_members(file, limits())
        except ParseError as error:
            yield _refused(
                BatchItem(source=source, name=name, size_bytes=0), error.code, error.message
            )
            return
    yield from (_item(source, member) for member in members)


def _item(source: int, member: Member) -> BatchItem:
    item = BatchItem(
        source=source, member=member.index, name=member.name, size_bytes=member.size_bytes
    )
    if member.code == "passed_over":
        item.outcome, item.reason = Outcome.PASSED_OVER, member.reason
        return item
    return _refused(item, member.code, member.reason) if member.code else item


def _refused(item: BatchItem, code: str, reason: str) -> BatchItem:
    item.outcome, item.code, item.reason = Outcome.REFUSED, code, reason[:500]
    return item


def _create(
    public_id: uuid.UUID,
    files: Sequence[HandedIn],
    items: Sequence[BatchItem],
    terms: Terms,
    actor: User,
) -> UploadBatch:
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    batch = UploadBatch.objects.create(
        public_id=public_id,
        name=f"{shown_name(files[0].name)}{more}"[:255],
        created_by=actor,
        labels=list(terms.labels),
        department=terms.department,
        effective_from=terms.effective_from,
        effective_to=terms.effective_to,
        publish=terms.publish,
    )
    for ordinal, item in enumerate(items):
        item.batch, item.ordinal = batch, ordinal
    BatchItem.objects.bulk_create(items, batch_size=500)
    audit.record("batch_received", batch, actor=actor, after={"files": len(items)})
    queue.enqueue("take_batch", batch.pk)
    return batch


@shared_task(name="documents.tasks.take_batch")
def take_batch(batch_id: int) -> None:
    """Take the waiting files of a batch, one transaction each; may run twice without harm."""
    with access.editing():
        batch = UploadBatch.objects.filter(pk=batch_id).select_related("created_by").first()
        if batch is None:
            return
        waiting = list(batch.items.filter(outcome=Outcome.WAITING).order_by("source", "ordinal"))
    until = time.monotonic() + _RUN_SECONDS
    with _Sources(batch) as sources:
        for item in waiting:
            if time.monotonic() > until:
                queue.enqueue("take_batch", batch_id)
                return
            if not _take(batch, item, sources):
                return
    _finish(batch)


def _take(batch: UploadBatch, item: BatchItem, sources: _Sources) -> bool:
    """Decide on one file; False when the batch has to wait, for room on the disk perhaps."""
    if not _begin(item):
        return True
    try:
        data = sources.read(item)
        _decide(batch, item, data)
    except DocumentsError as error:
        if isinstance(error, StorageError):
            _postpone(batch, item, error.message)
            return False
        _close(batch, _refused(item, error.code, error.message))
    except OSError as error:
        _postpone(batch, item, f"{error.strerror or type(error).__name__}: it is tried again.")
        return False
    return True


def _begin(item: BatchItem) -> bool:
    """Count a try; False when another worker decided on the file, or it had its tries."""
    with access.editing():
        row = BatchItem.objects.select_for_update().get(pk=item.pk)
        if row.outcome != Outcome.WAITING:
            return False
        if row.attempts >= MAX_TRIES:
            _refused(
                row, "internal_error", "The worker ended at it each time: upload it by itself."
            )
            row.save()
            return False
        row.attempts += 1
        row.save(update_fields=["attempts"])
    return True


def _decide(batch: UploadBatch, item: BatchItem, data: bytes) -> None:
    """Take the file as a version, in one transaction with its outcome."""
    with access.editing():
        row = BatchItem.objects.select_for_update().get(pk=item.pk)
        if row.outcome != Outcome.WAITING:
            return
        given = _upload(batch, item.name, data)
        _require_own_policy(batch, row, given)
        received = actions.upload(given, actor=batch.created_by)
        row.version_id = received.version_id
        row.outcome = Outcome.DUPLICATE if received.is_duplicate else Outcome.RECEIVED
        if received.is_duplicate:
            row.reason = f"Version {received.number} of {received.policy_slug} holds it already."
        _close(batch, row)


def _upload(batch: UploadBatch, name: str, data: bytes) -> actions.Upload:
    actor = batch.created_by
    if actor is None or not actor.is_active or not actor.has_perm(ADD):
        raise ValidationProblem(
            "Whoever uploaded it may not add policies any more. Have somebody else upload it.",
            code="permission_denied",
        )
    # Folders are part of the name, so that equal names in two of them stay two policies.
    home = stewards.home_of(
        actor,
        policy_slug="",
        title="",
        file_name=name.replace("/", " "),
        department=batch.department,
    )
    return actions.Upload(
        data=data,
        file_name=name.rsplit("/", 1)[-1],
        policy_slug=home.policy_slug,
        labels=tuple(batch.labels),
        effective_from=batch.effective_from,
        effective_to=batch.effective_to,
        publish=batch.publish and actor.has_perm(APPROVE),
        department=home.department,
    )


def _require_own_policy(batch: UploadBatch, row: BatchItem, given: actions.Upload) -> None:
    """Refuse that two different files of one batch become versions of one policy."""
    others = batch.items.filter(version__policy__slug=given.policy_slug).exclude(pk=row.pk)
    other = others.select_related("version__detail").first()
    if other is None or other.version is None:
        return
    if other.version.detail.file_sha256 != hashlib.sha256(given.data).hexdigest():
        raise ValidationProblem(
            f"{other.name} of this upload became {given.policy_slug} already. Give this file "
            "another name, or upload it on the page of that policy.",
            code="name_taken",
        )


def _close(batch: UploadBatch, row: BatchItem) -> None:
    with access.editing():
        row.save(update_fields=["outcome", "code", "reason", "version"])
        _touch(batch, problem="")


def _postpone(batch: UploadBatch, item: BatchItem, problem: str) -> None:
    """The file keeps its tries: that the disk is full is no fault of its own."""
    with access.editing():
        BatchItem.objects.filter(pk=item.pk, outcome=Outcome.WAITING).update(attempts=0)
        _touch(batch, problem=problem[:500])


def _touch(batch: UploadBatch, *, problem: str) -> None:
    batch.problem = problem
    batch.save(update_fields=["problem", "updated_at"])


def _finish(batch: UploadBatch) -> None:
    """Remove what was handed in, once nothing of it waits."""
    with access.editing():
        UploadBatch.objects.select_for_update().get(pk=batch.pk)
        is_done = not batch.items.filter(outcome=Outcome.WAITING).exists()
    if is_done:
        shutil.rmtree(stored_files.incoming(batch.public_id), ignore_errors=True)


class _Sources:
    """The handed-in files of a batch, each archive opened once."""

    def __init__(self, batch: UploadBatch) -> None:
        self._folder = stored_files.incoming(batch.public_id)
        self._stack = ExitStack()
        self._number: int | None = None
        self._archive: ZipFile | None = None

    def __enter__(self) -> _Sources:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def read(self, item: BatchItem) -> bytes:
        """The bytes of one file.

        Raises:
            ParseError: it is damaged, or gone.
            ValidationProblem: it is too large.
        """
        if item.member is None:
            actions.check_size(item.name, item.size_bytes)
            return self._path(item.source).read_bytes()
        if item.source != self._number or self._archive is None:
            self._stack.close()
            file = self._stack.enter_context(self._path(item.source).open("rb"))
            self._archive = self._stack.enter_context(archive.opened(file, limits()))
            self._number = item.source
        return archive.read_member(self._archive, item.member, limits())

    def _path(self, source: int) -> Path:
        path = self._folder / str(source)
        if not path.exists():
            raise ParseError("What was handed in is gone from the disk. Upload it again.")
        return path
