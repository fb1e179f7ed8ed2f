"""Another embedding model, beside the live one: built, then made the active one at once.

A build goes through the passages of published versions that lack a vector of the new model, so
it may be broken off and run again at any time. Versions that are indexed meanwhile get vectors
of both. Searches compare those of the old model until no published passage lacks its new one;
the switch is one small transaction that no publication passes (`vectors.hold_still`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
from django.conf import settings
from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from documents import access, audit, embedding, pipeline, vectors
from documents.errors import EmbeddingError, ValidationProblem
from documents.models import Chunk, ChunkVector, EmbeddingModel, PolicyVersion, VersionState
from documents.vectors import Index

logger = logging.getLogger(__name__)

State = EmbeddingModel.State
Progress = Callable[[int, int], object]
_LOCK = "reindex"
_DELETED_AT_ONCE = 2_000


@dataclass(frozen=True, slots=True)
class Status:
    """How far a change of models is."""

    configured: str
    active: str | None  # None: nothing has been embedded yet
    building: str | None
    done: int  # published passages with a vector of the model that is built, or else active
    wanted: int  # those that it reads
    retired: tuple[str, ...]


@contextmanager
def alone() -> Iterator[None]:
    """Let nobody else change models meanwhile.

    Raises:
        ValidationProblem: somebody does.
    """
    with connection.cursor() as cursor:
        cursor.execute("select pg_try_advisory_lock(hashtextextended(%s, 0))", [_LOCK])
        row = cursor.fetchone()
    if not row or not row[0]:
        raise ValidationProblem(
            "Another reindex is running. Wait for it, or stop it: it goes on where it was.",
            code="not_resting",
        )
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("select pg_advisory_unlock(hashtextextended(%s, 0))", [_LOCK])


def status() -> Status:
    """Where it stands; nothing is changed.

    Raises:
        EmbeddingError: files of a model are missing.
    """
    rows = {row.state: row for row in EmbeddingModel.objects.exclude(state=State.RETIRED)}
    active, building = rows.get(State.ACTIVE), rows.get(State.BUILDING)
    of = building or active
    index = vectors.of(of) if of is not None else vectors.live()
    with access.editing():
        wanted = _wanted(index).count()
        left = vectors.lacking(_wanted(index), index).count()
    retired = EmbeddingModel.objects.filter(state=State.RETIRED).values_list("name", flat=True)
    return Status(
        configured=embedding.spec_at(embedding.configured()).name,
        active=active.name if active else None,
        building=building.name if building else None,
        done=wanted - left,
        wanted=wanted,
        retired=tuple(retired),
    )


def begin() -> Index:
    """The index to fill: the one of the settings, recorded as being built if it is another.

    Raises:
        ValidationProblem: another model is being built.
        EmbeddingError: the model's files are missing.
    """
    source = embedding.configured()
    spec = embedding.spec_at(source)
    if not EmbeddingModel.objects.filter(state=State.ACTIVE).exists():
        return vectors.active()  # nothing has been embedded yet
    with access.editing():
        row = EmbeddingModel.objects.select_for_update().filter(name=spec.name).first()
        if row is not None and row.state != State.RETIRED:
            return vectors.of(row)
        other = EmbeddingModel.objects.filter(state=State.BUILDING).first()
        if other is not None:
            raise ValidationProblem(
                f"The index of {other.name} is being built. Set LEGALQA_EMBEDDING_MODEL to it and "
                "finish that, or give it up: python manage.py reindex --abandon",
                code="not_resting",
            )
        row = row or EmbeddingModel(name=spec.name, dimension=spec.dimension)
        row.source, row.sha256, row.state = source.name, spec.sha256, State.BUILDING
        row.save()
        audit.record("reindex_begun", row, actor=None, after={"model": row.name})
    return vectors.of(row)


def build(index: Index, progress: Progress) -> None:
    """Give every published passage that lacks one its vector; may be broken off at any time.

    Raises:
        EmbeddingError: the model gave something unusable; what was stored before stays.
    """
    with access.editing():
        wanted = _wanted(index).count()
    while chunks := _next(index):
        _embed(chunks, index)
        with access.editing():
            left = vectors.lacking(_wanted(index), index).count()
        progress(max(wanted - left, 0), wanted)


def _wanted(index: Index) -> QuerySet[Chunk]:
    """The passages of published versions in a language that the model reads."""
    published = PolicyVersion.objects.filter(state=VersionState.PUBLISHED)
    languages = published.order_by().values_list("language", flat=True).distinct()
    read = [language for language in languages if index.spec.speaks(language)]
    return Chunk.objects.filter(version__state=VersionState.PUBLISHED, version__language__in=read)


def _next(index: Index) -> list[Chunk]:
    with access.editing():
        lacking = vectors.lacking(_wanted(index), index).select_related("section", "version")
        return list(lacking.order_by("pk")[: settings.EMBED_BATCH_CHUNKS])


def _embed(chunks: Sequence[Chunk], index: Index) -> None:
    for language in sorted({chunk.version.language for chunk in chunks}):
        some = [chunk for chunk in chunks if chunk.version.language == language]
        texts = [pipeline.embedded_text(chunk) for chunk in some]
        made = embedding.encode_passages(texts, language, source=index.source)
        with access.editing():
            if not vectors.is_being_built(index):
                raise ValidationProblem("The build was abandoned meanwhile.", code="not_resting")
            there = set(  # a passage may have been deleted meanwhile
                Chunk.objects.select_for_update(no_key=True)
                .filter(pk__in=[chunk.pk for chunk in some])
                .values_list("pk", flat=True)
            )
            kept = [n for n, chunk in enumerate(some) if chunk.pk in there]
            vectors.write([some[n] for n in kept], made[kept], index)


def switch(index: Index) -> bool:
    """Make a built model the active one; False when a published passage lacks its vector yet."""
    with access.editing():
        rows = {row.pk: row for row in EmbeddingModel.objects.select_for_update(no_key=True)}
        row = rows[index.model_id or 0]
        if row.state == State.ACTIVE:
            return not vectors.lacking(_wanted(index), index).exists()
        if row.state != State.BUILDING or vectors.lacking(_wanted(index), index).exists():
            return False
        before = next((one for one in rows.values() if one.state == State.ACTIVE), None)
        if before is not None:
            before.state = State.RETIRED
            before.save(update_fields=["state"])
        row.state, row.activated_at = State.ACTIVE, timezone.now()
        row.save(update_fields=["state", "activated_at"])
        audit.record(
            "embedding_model_switched",
            row,
            actor=None,
            before={"model": before.name if before else None},
            after={"model": row.name},
        )
    return True


def abandon() -> str | None:
    """Give up the build that is under way with all its vectors; returns its model, if any."""
    with access.editing():
        row = EmbeddingModel.objects.select_for_update().filter(state=State.BUILDING).first()
        if row is None:
            return None
        row.state = State.RETIRED
        row.save(update_fields=["state"])
        audit.record("reindex_abandoned", row, actor=None, before={"model": row.name})
    _forget(row)
    return row.name


def drop_retired() -> list[str]:
    """Delete the vectors of models that are no longer active; going back builds them anew."""
    rows = list(EmbeddingModel.objects.filter(state=State.RETIRED))
    for row in rows:
        _forget(row)
    return [row.name for row in rows]


def _forget(row: EmbeddingModel) -> None:
    """Delete a model's vectors in batches, then its row."""
    delete = _empty_columns if row.is_in_chunk else _delete_rows
    while delete(row):
        logger.info("Vectors of %s are being deleted.", row.name)
    if not row.is_in_chunk:
        drop_index(row)
    with access.editing():
        row.delete()


def _delete_rows(row: EmbeddingModel) -> int:
    with access.editing():
        ids = list(
            ChunkVector.objects.filter(model=row).values_list("pk", flat=True)[:_DELETED_AT_ONCE]
        )
        return ChunkVector.objects.filter(pk__in=ids).delete()[0]


def _empty_columns(row: EmbeddingModel) -> int:
    with access.editing():
        some = Chunk.objects.filter(embedding_model=row.name).values_list("pk", flat=True)
        ids = list(some[:_DELETED_AT_ONCE])
        return Chunk.objects.filter(pk__in=ids).update(
            embedding=None, embedding_model="", live=False
        )


def needs_index(index: Index) -> bool:
    """Whether there are so many passages that a search goes through an index of vectors."""
    if index.is_in_chunk:
        return False
    with access.editing():
        return _wanted(index).count() > settings.RETRIEVAL_EXACT_MAX_CHUNKS


def make_index(index: Index) -> None:
    """Build the vector index of a model, as the owner of the tables, while searches go on.

    Raises:
        EmbeddingError: the owner's connection is not known here, or the index cannot be made.
    """
    name = f"chunk_vector_hnsw_{index.model_id}"
    _as_owner(
        f"create index concurrently if not exists {name} on documents_chunkvector using hnsw"
        f" ((embedding::halfvec({int(index.spec.dimension)})) halfvec_ip_ops)"
        f" with (m = 16, ef_construction = 64) where model_id = {int(index.model_id or 0)}"
    )


def drop_index(row: EmbeddingModel) -> None:
    """Drop the vector index of a model, if it has one."""
    with connection.cursor() as cursor:
        cursor.execute("select to_regclass(%s)", [f"chunk_vector_hnsw_{row.pk}"])
        found = cursor.fetchone()
    if found and found[0]:
        _as_owner(f"drop index concurrently if exists chunk_vector_hnsw_{int(row.pk)}")


def _as_owner(statement: str) -> None:
    parameters = connection.get_connection_params()
    wanted = {key: parameters[key] for key in ("host", "port", "dbname") if key in parameters}
    try:
        with psycopg.connect(
            **wanted,
            user=settings.DATABASE_OWNER_USER,
            password=settings.DATABASE_OWNER_PASSWORD or None,
            autocommit=True,
        ) as owner:
            owner.execute(statement.encode())
    except psycopg.Error as error:
        raise EmbeddingError(
            f"The vector index cannot be changed ({str(error).splitlines()[0]}). Run this where "
            "DATABASE_OWNER_URL is set, as for migrate. Until then searches are right, but slow."
        ) from error
