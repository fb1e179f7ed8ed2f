"""Stored files and the rows that name them: kept together, found apart, tidied.

A file is written before its row is committed, so an upload that is broken off leaves a file
without a row, and never a row without its file. Such strays go after a day. Whoever records a
file and whoever removes one take the same lock, so that no file goes between the two.
"""

from __future__ import annotations

import logging
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings
from django.db import connection

from documents import access
from documents.errors import StorageError
from documents.ingestion import store
from documents.models import BatchItem, UploadBatch, VersionDetail

logger = logging.getLogger(__name__)

STRAY_AFTER_SECONDS = 24 * 3600
_NAME = re.compile(r"[0-9a-f]{64}")
_BATCH = 500


@dataclass(slots=True)
class Report:
    """Where rows and files do not match."""

    files: int = 0
    missing: list[str] = field(default_factory=list)
    """Hashes that a version names and that are not there: restore them from a backup."""
    altered: list[str] = field(default_factory=list)
    """Hashes of files whose bytes are others now."""
    strays: list[Path] = field(default_factory=list)
    """Files that no version names, those of uploads of this minute among them."""


def keep(data: bytes) -> str:
    """Write a file durably and return its SHA-256.

    Raises:
        StorageError: the disk is full or cannot be written; nothing half-written stays.
    """
    try:
        return store.save(settings.FILES_DIR, data)
    except OSError as error:
        logger.exception("A file could not be stored in %s.", settings.FILES_DIR)
        raise StorageError(
            "The file could not be stored, and nothing of it was kept. Try again later; if that "
            "fails too, tell whoever runs this site that the disk may be full."
        ) from error


def hold(sha256: str, data: bytes) -> None:
    """See to it that a kept file stays until this transaction ends and its row is there.

    Raises:
        StorageError: it was tidied away since, and cannot be written again.
    """
    _lock(sha256, shared=True)
    if not store.path_of(settings.FILES_DIR, sha256).exists():
        keep(data)


def remove_unused(sha256: str) -> bool:
    """Remove a file, and the images drawn of its pages, unless a version names it.

    Called once the deletion of the last such version has committed.
    """
    with access.editing():
        _lock(sha256, shared=False)
        if VersionDetail.objects.filter(file_sha256=sha256).exists():
            return False
        store.path_of(settings.FILES_DIR, sha256).unlink(missing_ok=True)
        for image in settings.PAGE_IMAGES_DIR.glob(f"{sha256[:2]}/{sha256}-*"):
            image.unlink(missing_ok=True)
        return True


def _lock(sha256: str, *, shared: bool) -> None:
    kind = "_shared" if shared else ""
    with connection.cursor() as cursor:
        cursor.execute(
            f"select pg_advisory_xact_lock{kind}(hashtextextended(%s, 0))",
            [f"file {sha256}"],
        )


def compare(*, thoroughly: bool = False) -> Report:
    """Compare files and rows; `thoroughly` reads every file and checks its bytes."""
    report = Report()
    with access.editing():
        hashes = VersionDetail.objects.order_by("file_sha256").values_list("file_sha256", flat=True)
        named = set(hashes.distinct())
    for sha256 in sorted(named):
        if not store.path_of(settings.FILES_DIR, sha256).exists():
            report.missing.append(sha256)
        elif thoroughly and not store.is_sound(settings.FILES_DIR, sha256):
            report.altered.append(sha256)
    for path in _stored():
        report.files += 1
        if path.name not in named:
            report.strays.append(path)
    return report


def remove_strays() -> int:
    """Remove what uploads that were broken off left more than a day ago; returns how many."""
    limit = time.time() - STRAY_AFTER_SECONDS
    old = [path for path in _stored() if _changed_at(path) < limit]
    removed = 0
    for start in range(0, len(old), _BATCH):
        some = old[start : start + _BATCH]
        with access.editing():
            rows = VersionDetail.objects.filter(file_sha256__in=[path.name for path in some])
            named = set(rows.values_list("file_sha256", flat=True))
        removed += sum(_remove(path) for path in some if path.name not in named)
    return removed


def incoming(public_id: object) -> Path:
    """The folder in which a batch of uploads is kept until each of its files is decided on."""
    return settings.FILES_DIR / "incoming" / str(public_id)


def remove_stray_batches() -> int:
    """Remove what batches left that were broken off while they came in, or once they were done."""
    limit = time.time() - STRAY_AFTER_SECONDS
    old = [path for path in incoming("").glob("*") if _changed_at(path) < limit]
    with access.editing():
        waiting = UploadBatch.objects.filter(items__outcome=BatchItem.Outcome.WAITING)
        needed = {str(public_id) for public_id in waiting.values_list("public_id", flat=True)}
    strays = [path for path in old if path.name not in needed]
    for path in strays:
        shutil.rmtree(path, ignore_errors=True)
    return len(strays)


def _remove(path: Path) -> bool:
    if _NAME.fullmatch(path.name):
        return remove_unused(path.name)
    path.unlink(missing_ok=True)  # what a process that was killed was writing
    return True


def _changed_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return time.time()


def _stored() -> Iterator[Path]:
    """Every file in the store, half-written ones included."""
    folders = [f for f in settings.FILES_DIR.glob("??") if f.is_dir() and _is_hex(f.name)]
    for folder in sorted(folders):
        yield from (path for path in sorted(folder.iterdir()) if path.is_file())


def _is_hex(name: str) -> bool:
    return all(c in "0123456789abcdef" for c in name)
