"""What is done to a model's raw output: joined, checked, brought to length 1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from documents.embedding.tokens import Window
from documents.errors import EmbeddingError

Vectors = NDArray[np.float32]
SHORTEST = 1e-6  # a shorter vector has no direction to speak of


def unit_rows(raw: Vectors, dimension: int) -> Vectors:
    """Bring each row to length 1.

    Args:
        raw: (n, dimension), any float type.
        dimension: what the index holds.

    Returns:
        float32, (n, dimension), rows of length 1.

    Raises:
        EmbeddingError: another shape, a NaN or infinite value, or a row of zeros. Nothing of
            the batch is to be stored then.
    """
    rows = np.asarray(raw, dtype=np.float32)
    if rows.ndim != 2 or rows.shape[1] != dimension:
        raise EmbeddingError(
            f"The embedding model gave vectors of shape {rows.shape[1:]}, not ({dimension},). "
            "Check LEGALQA_EMBEDDING_MODEL."
        )
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or (lengths < SHORTEST).any():
        raise EmbeddingError(
            "The embedding model gave a vector that is zero or not a number; nothing was stored."
        )
    unit: Vectors = rows / lengths
    return unit


def joined(rows: Vectors, windows: Sequence[Sequence[Window]]) -> Vectors:
    """Average the rows of each text's windows, weighted by their tokens.

    Each text is averaged by itself, so its vector doesn't depend on the others.

    Args:
        rows: float32, (all windows, dimension), in the order of the texts.
        windows: the windows of each text, at least one.

    Returns:
        float32, (texts, dimension); not of length 1 where a text had several windows.
    """
    out = np.empty((len(windows), rows.shape[1]), dtype=np.float32)
    start = 0
    for at, own in enumerate(windows):
        part = rows[start : start + len(own)]
        out[at] = np.average(part, axis=0, weights=[window.weight for window in own])
        start += len(own)
    return out
