"""Which model's vectors searches compare, where they are, and which chunks still lack theirs.

One model is active; another may be built beside it (`reindex`). Vectors of the model that the
installation began with are in the chunks' own column where that has its dimension, those of
any other are rows of their own. Every vector names its model, and a search names the one that
its question was read with: vectors of different models are never compared (ADR 0019).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from numpy.typing import NDArray
from pgvector import HalfVector

from documents import access, embedding
from documents.embedding import ModelSpec, Source
from documents.errors import EmbeddingError
from documents.models import Chunk, ChunkVector, EmbeddingModel
from documents.models.chunk import EMBEDDING_DIMENSION

logger = logging.getLogger(__name__)

State = EmbeddingModel.State
Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Index:
    """A model with its files, and where its vectors are."""

    spec: ModelSpec
    source: Source
    model_id: int | None  # None: nothing has been embedded yet
    is_in_chunk: bool

    @property
    def row_id(self) -> int:
        """The key of its row.

        Raises:
            EmbeddingError: it was never recorded, so nothing was embedded with it.
        """
        if self.model_id is None:
            raise EmbeddingError(f"Nothing has been embedded with {self.spec.name} yet.")
        return self.model_id

    @property
    def searched(self) -> access.VectorModel | None:
        """What a search has to know of it; None where no vector has been made yet."""
        if self.model_id is None:
            return None
        table = None if self.is_in_chunk else self.model_id
        return access.VectorModel(self.spec.name, table, self.spec.dimension)


def live() -> Index:
    """The model whose vectors searches compare: the active one, else that of the settings.

    Raises:
        EmbeddingError: its files are missing, or are no longer those that made the vectors.
    """
    row = EmbeddingModel.objects.filter(state=State.ACTIVE).first()
    if row is not None:
        return of(row)
    source = embedding.configured()
    spec = embedding.spec_at(source)
    return Index(spec, source, None, spec.dimension == EMBEDDING_DIMENSION)


def of(row: EmbeddingModel) -> Index:
    """A recorded model with its files.

    Raises:
        EmbeddingError: they are missing, or are no longer those that made the vectors.
    """
    source = Source(row.source, row.sha256)
    spec = embedding.spec_at(source)
    if spec.name != row.name or spec.dimension != row.dimension:
        raise EmbeddingError(
            f"The index was made with {row.name}, and its files are now those of {spec.name}. Put "
            "the old files back until python manage.py reindex has finished."
        )
    return Index(spec, source, row.pk, row.is_in_chunk)


def active() -> Index:
    """The active model, recorded now if nothing has been embedded before.

    Raises:
        EmbeddingError: as `live`.
    """
    found = live()
    if found.model_id is None:
        _record(found)
        found = live()
    return found


def _record(index: Index) -> None:
    in_chunk = index.is_in_chunk and not EmbeddingModel.objects.filter(is_in_chunk=True).exists()
    try:
        with transaction.atomic():
            EmbeddingModel.objects.create(
                name=index.spec.name,
                source=index.source.name,
                sha256=index.spec.sha256,
                dimension=index.spec.dimension,
                is_in_chunk=in_chunk,
                state=State.ACTIVE,
                activated_at=timezone.now(),
            )
    except IntegrityError:  # another worker was first
        logger.info("The active model was recorded by another process.")


def active_for(language: str) -> Index | None:
    """The active model if it reads `language`; None: the lexical leg alone finds such text."""
    index = active()
    return index if index.spec.speaks(language) else None


def built_for(language: str) -> Index | None:
    """The model that is being built, if it reads `language` and its files are there."""
    row = EmbeddingModel.objects.filter(state=State.BUILDING).first()
    if row is None:
        return None
    try:
        index = of(row)
    except EmbeddingError as error:  # a build that broke holds up no publication
        logger.warning("The model that is being built cannot be read: %s", error.message)
        return None
    return index if index.spec.speaks(language) else None


def is_being_built(index: Index) -> bool:
    """Whether a build goes on, or became the active index; it may have been abandoned meanwhile.

    Its row stays as it is until this transaction ends.
    """
    row = EmbeddingModel.objects.select_for_update(no_key=True).filter(pk=index.row_id).first()
    return row is not None and row.state != State.RETIRED


def lacking(chunks: QuerySet[Chunk], index: Index) -> QuerySet[Chunk]:
    """Those of some chunks that have no vector of a model."""
    if index.is_in_chunk:
        return chunks.filter(Q(embedding__isnull=True) | ~Q(embedding_model=index.spec.name))
    there = ChunkVector.objects.filter(chunk=OuterRef("pk"), model=index.model_id)
    return chunks.filter(~Exists(there))


def write(chunks: Sequence[Chunk], vectors: Vectors, index: Index) -> None:
    """Store the vectors of some chunks; all or none.

    Args:
        chunks: in the order of the rows.
        vectors: float32, (n, dimension of the model), rows of length 1.
        index: the model that made them.

    Raises:
        EmbeddingError: another shape, or a row that is not of length 1.
    """
    _check(vectors, len(chunks), index)
    if index.is_in_chunk:
        for chunk, vector in zip(chunks, vectors, strict=True):
            chunk.embedding = HalfVector(vector)
            chunk.embedding_model = index.spec.name
        Chunk.objects.bulk_update(chunks, ["embedding", "embedding_model"], batch_size=200)
        return
    rows = [
        ChunkVector(chunk=chunk, model_id=index.row_id, embedding=HalfVector(vector))
        for chunk, vector in zip(chunks, vectors, strict=True)
    ]
    ChunkVector.objects.bulk_create(rows, batch_size=200, ignore_conflicts=True)


def _check(vectors: Vectors, count: int, index: Index) -> None:
    if vectors.shape != (count, index.spec.dimension):
        raise EmbeddingError(
            f"{index.spec.name} gave vectors of shape {vectors.shape}, not "
            f"({count}, {index.spec.dimension}); nothing was stored."
        )
    lengths = np.linalg.norm(vectors, axis=1)
    if not np.isfinite(lengths).all() or (np.abs(lengths - 1) > 1e-3).any():
        raise EmbeddingError(
            f"{index.spec.name} gave a vector that is zero, not a number or not of length 1; "
            "nothing was stored."
        )


def hold_still() -> None:
    """Let no switch of models pass this transaction; publications do not wait for one another."""
    with connection.cursor() as cursor:
        cursor.execute("select 1 from documents_embeddingmodel for share")
