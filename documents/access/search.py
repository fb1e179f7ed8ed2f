"""The candidates of the search, with the rights of whoever reads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import connection

from documents.access.door import Reading


@dataclass(frozen=True, slots=True)
class VectorModel:
    """The model that a question was read with: only vectors of the same one are compared.

    `table_id` is its key where its vectors stand beside the chunks; None: in their own column.
    """

    name: str
    table_id: int | None
    dimension: int


@dataclass(frozen=True, slots=True)
class Hit:
    """One candidate of the search: both scores, and its rank in each leg that listed it."""

    chunk_id: int
    section_id: int
    cosine: float | None
    bm25: float
    dense_rank: int | None
    lexical_rank: int | None
    matched: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Candidates:
    """Both legs' candidates and, per term of the question, how many readable chunks hold it."""

    is_empty: bool  # this reader can read nothing at all on this date
    hits: tuple[Hit, ...]
    document_frequency: dict[int, int]


def candidates(
    reading: Reading,
    vector: Sequence[float] | None,
    terms: Iterable[int],
    model: VectorModel | None = None,
) -> Candidates:
    """Both legs of the search in one statement, with this reader's rights.

    Args:
        reading: an open reading.
        vector: the question's, of length 1; None where no model reads its language.
        terms: hashed terms of the question.
        model: what made the vector; None: whatever is in the chunks' own column.
    """
    text = "[" + ",".join(f"{x:.7g}" for x in vector) + "]" if vector is not None else None
    with connection.cursor() as cursor:
        cursor.execute(
            "select documents_retrieve(%s::halfvec, %s::int[], %s, %s,"
            " q_model => %s, side => %s, dim => %s)",
            [
                text,
                list(terms),
                settings.RETRIEVAL_DEPTH,
                settings.RETRIEVAL_EXACT_MAX_CHUNKS,
                model.name if model else None,
                model.table_id if model else None,
                model.dimension if model else 0,
            ],
        )
        row = cursor.fetchone()
    found: dict[str, Any] = json.loads(row[0]) if isinstance(row[0], str) else row[0]
    return Candidates(
        is_empty=found["is_empty"],
        hits=tuple(_hit(hit) for hit in found["hits"]),
        document_frequency={int(term): int(df) for term, df in found["dfs"].items()},
    )


def _hit(row: dict[str, Any]) -> Hit:
    return Hit(
        chunk_id=row["chunk"],
        section_id=row["section"],
        cosine=row["cosine"],
        bm25=row["bm25"],
        dense_rank=row["dense_rank"],
        lexical_rank=row["lexical_rank"],
        matched=tuple(row["matched"]),
    )
