"""Writes the corpus into one archive: the same corpus gives the same bytes.

Everything is read in one snapshot and row by row, so memory stays flat and nothing is missed
while people work on. The archive appears under its name only once it is whole.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, models, transaction
from django.db.models import F, QuerySet

from documents import access
from documents.corpus import trail, values
from documents.corpus.tables import NATURAL, NEAR_DUPLICATES, TABLES, VECTORS, Table
from documents.errors import ValidationProblem
from documents.ingestion import store
from documents.models import (
    AccessLabel,
    Chunk,
    ChunkVector,
    EmbeddingModel,
    PolicyVersion,
    VersionDetail,
)

FORMAT = "legalqa-corpus"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"
_ROWS = 200
_BLOCK = 1024 * 1024
_TIME = (1980, 1, 1, 0, 0, 0)  # the first that the format knows: an archive tells no time


class Archive:
    """A ZIP archive that is written member by member, with the checksum of each."""

    def __init__(self, zip_file: zipfile.ZipFile) -> None:
        self._zip = zip_file
        self.members: dict[str, dict[str, Any]] = {}

    def lines(self, name: str, rows: Iterable[dict[str, Any] | str]) -> None:
        """Write a member of JSON lines; a line that is text already stays as it is."""
        digest, size, count = hashlib.sha256(), 0, 0
        with self._zip.open(_info(name), "w", force_zip64=True) as target:
            for row in rows:
                line = (row if isinstance(row, str) else dumped(row)).encode() + b"\n"
                target.write(line)
                digest.update(line)
                size += len(line)
                count += 1
        self.members[name] = {"sha256": digest.hexdigest(), "bytes": size, "rows": count}

    def file(self, name: str, source: Path) -> None:
        """Copy a file."""
        digest, size = hashlib.sha256(), 0
        with (
            source.open("rb") as stream,
            self._zip.open(_info(name), "w", force_zip64=True) as target,
        ):
            while block := stream.read(_BLOCK):
                target.write(block)
                digest.update(block)
                size += len(block)
        self.members[name] = {"sha256": digest.hexdigest(), "bytes": size}

    def close(self, manifest: dict[str, Any]) -> None:
        """Write what is in it, last."""
        text = json.dumps(manifest | {"members": self.members}, indent=1, sort_keys=True)
        with self._zip.open(_info(MANIFEST), "w") as target:
            target.write(text.encode())


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _TIME)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o600 << 16
    return info


def dumped(row: dict[str, Any]) -> str:
    """One JSON line, the same for the same row."""
    return json.dumps(row, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def export_corpus(
    target: Path, *, with_grants: bool = False, with_audit: bool = True
) -> dict[str, int]:
    """Write the corpus to a file; returns how many rows there are of each kind.

    Raises:
        ValidationProblem: the file exists already, or a stored file is missing.
        OSError: it cannot be written; nothing stays.
    """
    if target.exists():
        raise ValidationProblem(
            f"{target} exists already. Choose another name, or move it away.", code="name_taken"
        )
    partial = target.with_name(f"{target.name}.part")
    try:
        with partial.open("wb") as stream:
            partial.chmod(0o600)  # it holds every policy, whoever may read it
            with zipfile.ZipFile(stream, "w") as zip_file, _snapshot():
                archive = Archive(zip_file)
                _write(archive, with_grants=with_grants, with_audit=with_audit)
            stream.flush()
            os.fsync(stream.fileno())
        partial.rename(target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    return {name: facts.get("rows", 1) for name, facts in archive.members.items()}


@contextmanager
def _snapshot() -> Iterator[None]:
    """Read as the system, all of it at one moment."""
    is_outermost = not connection.in_atomic_block
    with transaction.atomic():
        if is_outermost:
            with connection.cursor() as cursor:
                cursor.execute("set transaction isolation level repeatable read")
        with access.editing():
            yield


def _write(archive: Archive, *, with_grants: bool, with_audit: bool) -> None:
    active = EmbeddingModel.objects.filter(state=EmbeddingModel.State.ACTIVE).first()
    for table in TABLES:
        if with_grants or not table.is_of_people:
            archive.lines(table.member, _rows(table))
    archive.lines(NEAR_DUPLICATES, _near_duplicates())
    archive.lines(VECTORS, _vectors(active))
    if with_audit:
        for name, lines in trail.exported():
            archive.lines(f"audit/{name}.jsonl", lines)
    for sha256 in _files():
        archive.file(f"files/{sha256}", _stored(sha256))
    model = {"name": active.name, "dimension": active.dimension} if active else None
    archive.close({"format": FORMAT, "format_version": FORMAT_VERSION, "model": model})


def _rows(table: Table) -> Iterator[dict[str, Any]]:
    """The rows of a table, named as other installations can find them."""
    slugs = dict(AccessLabel.objects.values_list("pk", "slug"))
    columns = [column.attname for column in table.columns]
    references = {
        column.name: f"{column.name}__{NATURAL[_target(column)]}" for column in table.references
    }
    extra = ["label_slugs"] if table.has_labels else []
    rows = table.rows().values_list(*columns, *references.values(), *extra)
    for row in rows.iterator(chunk_size=_ROWS):
        names = [*columns, *references, *(["labels"] if extra else [])]
        made = {name: values.written(value) for name, value in zip(names, row, strict=True)}
        if "access_class" in made:
            made["access_class"] = sorted(slugs[pk] for pk in made["access_class"])
        for name, model in table.ids_in.items():
            made[name] = _public_ids(model, made[name])
        yield made


def _target(column: models.ForeignKey[Any, Any]) -> type[models.Model]:
    return column.related_model


def _public_ids(model: type[models.Model], ids: list[int]) -> list[str | None]:
    """The public ids in the order of some ids; None for a row that is gone."""
    found = dict(model._default_manager.filter(pk__in=ids).values_list("pk", "public_id"))
    return [str(found[pk]) if pk in found else None for pk in ids]


def _near_duplicates() -> Iterator[dict[str, Any]]:
    """Which versions nearly repeat others: the ids in that column are of this database."""
    details = VersionDetail.objects.exclude(near_duplicates=[]).order_by(
        "version__policy__slug", "version__number"
    )
    rows = details.values_list("version__public_id", "near_duplicates")
    for public_id, near in rows.iterator(chunk_size=_ROWS):
        others = _public_ids(PolicyVersion, [one["version"] for one in near])
        listed = [
            {**one, "version": other} for one, other in zip(near, others, strict=True) if other
        ]
        yield {"version": str(public_id), "near": listed}


def _vectors(active: EmbeddingModel | None) -> Iterator[dict[str, Any]]:
    """The exact vectors of the active model, wherever they are stored."""
    if active is None:
        return
    rows: QuerySet[Any, tuple[Any, Any]]
    if active.is_in_chunk:
        own = Chunk.objects.filter(embedding__isnull=False, embedding_model=active.name)
        rows = own.order_by("version__policy__slug", "version__number", "ordinal").values_list(
            "public_id", "embedding"
        )
    else:
        beside = ChunkVector.objects.filter(model=active).annotate(public_id=F("chunk__public_id"))
        rows = beside.order_by(
            "chunk__version__policy__slug", "chunk__version__number", "chunk__ordinal"
        ).values_list("public_id", "embedding")
    for public_id, vector in rows.iterator(chunk_size=_ROWS):
        yield {"chunk": str(public_id), "vector": values.vector_written(vector)}


def _files() -> list[str]:
    named = VersionDetail.objects.order_by("file_sha256").values_list("file_sha256", flat=True)
    return list(named.distinct())


def _stored(sha256: str) -> Path:
    try:
        return store.sound_path(settings.FILES_DIR, sha256)
    except FileNotFoundError as error:
        raise ValidationProblem(
            f"{error} Restore it from a backup, or delete the versions that it belongs to.",
            code="not_found",
        ) from error
