"""Texts to unit vectors; alone imports sentence_transformers and onnxruntime.

`encode_passages` is for the worker that indexes a version, `encode_query` and `similarity`
for the processes that answer questions. Both read the same weights (`model.py`) through the
same tokens (`tokens.py`), so their vectors can be compared. What stays true:

- a vector depends on its own text alone, to the last bit, and on nothing beside it;
- no text is cut short: one that is longer than the model's window is read in several, and
  its vector is their average, weighted by tokens;
- nothing is fetched from the network, and nothing heavy is imported before it is needed.

`EMBEDDING_BACKEND` is `auto` (passages through sentence-transformers, questions through ONNX
Runtime), or `torch` or `onnx` for everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from django.conf import settings

from documents.embedding import onnx_backend, tokens, torch_backend
from documents.embedding.export import export_onnx
from documents.embedding.model import (
    Model,
    ModelSpec,
    Source,
    at,
    configured,
    current,
    model_for,
)
from documents.embedding.tokens import Window, count_tokens
from documents.embedding.vectors import Vectors, joined, unit_rows
from documents.errors import EmbeddingError

__all__ = [
    "ModelSpec",
    "Source",
    "configured",
    "count_tokens",
    "encode_passages",
    "encode_query",
    "export_onnx",
    "model_for",
    "similarity",
    "spec_at",
    "warm_up",
]

BATCH = 8
"""Larger batches don't pay on two cores: 24 ms a text at 1, 23 at 8, 29 at 16."""


def spec_at(source: Source) -> ModelSpec:
    """Return what is recorded of the model at a source.

    Raises:
        EmbeddingError: its files are missing or can't be understood.
    """
    return at(source).spec


def encode_passages(
    texts: Sequence[str], language: str | None, *, source: Source | None = None
) -> Vectors:
    """Embed texts that are to be stored, with the model at `source` or else of the settings.

    Returns:
        float32, (n, dimension), rows of length 1, in the order of `texts`.

    Raises:
        EmbeddingError: no model lists `language`; the model is missing or altered; or it gave
            a vector that is zero, not a number or of another dimension. Nothing is returned
            for any of the texts then.
    """
    model = _model(language, source)
    through_onnx = settings.EMBEDDING_BACKEND == "onnx"
    # One at a time: a vector must not depend on what else is in the batch (see torch_backend).
    return _encode(model, texts, prompt=model.passage_prompt, through_onnx=through_onnx, batch=1)


def encode_query(text: str, language: str | None, *, source: Source | None = None) -> Vectors:
    """Embed a question, with the model at `source` or else of the settings.

    The last few are remembered.

    Returns:
        float32, (dimension,), of length 1.

    Raises:
        EmbeddingError: as `encode_passages`, or the exported model can't be made.
    """
    return _query_vector(_model(language, source), text, _asks_through_onnx()).copy()


def similarity(question: str, sentences: Sequence[str], language: str | None) -> list[float]:
    """Compare a question with sentences.

    Returns:
        The cosine of each sentence with the question, -1 to 1, in their order.

    Raises:
        EmbeddingError: as `encode_query`.
    """
    asked = encode_query(question, language)
    model = _model(language)
    rows = _encode(
        model,
        sentences,
        prompt=model.passage_prompt,
        through_onnx=_asks_through_onnx(),
        batch=BATCH,
    )
    return [float(cosine) for cosine in np.clip(rows @ asked, -1.0, 1.0)]


def warm_up() -> None:
    """Load what answering needs, so that the first question doesn't wait for it.

    Raises:
        EmbeddingError: the model is missing or altered, or can't be exported.
    """
    model = current()
    _encode(model, ["?"], prompt="", through_onnx=_asks_through_onnx(), batch=1)


def _model(language: str | None, source: Source | None = None) -> Model:
    model = current() if source is None else at(source)
    if not model.spec.speaks(language):
        raise EmbeddingError(
            f"The embedding model {model.spec.id} does not list the language {language!r}.",
            code="unsupported_language",
        )
    return model


def _asks_through_onnx() -> bool:
    return bool(settings.EMBEDDING_BACKEND != "torch")


@lru_cache(maxsize=64)
def _query_vector(model: Model, text: str, through_onnx: bool) -> Vectors:
    rows = _encode(model, [text], prompt=model.query_prompt, through_onnx=through_onnx, batch=1)
    vector: Vectors = rows[0]
    return vector


def _encode(
    model: Model, texts: Sequence[str], *, prompt: str, through_onnx: bool, batch: int
) -> Vectors:
    dimension = model.spec.dimension
    if not texts:
        return np.empty((0, dimension), dtype=np.float32)
    by_text = [tokens.windows(model, text, prompt=prompt) for text in texts]
    windows: list[Window] = [window for own in by_text for window in own]
    if through_onnx:
        raw = onnx_backend.rows(model, windows, batch_size=batch)
    else:
        raw = torch_backend.rows(model, windows)
    return unit_rows(joined(unit_rows(raw, dimension), by_text), dimension)
