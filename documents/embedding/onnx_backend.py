"""The exported model through ONNX Runtime: what the processes that answer questions use.

Single precision: vectors of an 8-bit model depend on their batch mates. Pooling is done here,
row by row over a text's own tokens, and not in the exported graph, whose sums over a padded
axis come out differently with its length.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from django.conf import settings

from documents.embedding import export
from documents.embedding import model as models
from documents.embedding.once import OncePerProcess
from documents.embedding.tokens import Window
from documents.embedding.vectors import Vectors
from documents.errors import EmbeddingError

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

THREADS = 2


def rows(model: models.Model, windows: Sequence[Window], *, batch_size: int) -> Vectors:
    """Return a vector for each window: float32, (n, dimension), not of length 1.

    Windows of similar length go together, so that little is padded.

    Raises:
        EmbeddingError: the model can't be exported or loaded, or pools in another way than by
            the mean or the first token.
    """
    session = _sessions.get(model)
    first_only = _pools_first_token(model.folder)
    order = sorted(range(len(windows)), key=lambda at: len(windows[at].ids))
    found = np.empty((len(windows), model.spec.dimension), dtype=np.float32)
    for start in range(0, len(order), batch_size):
        group = order[start : start + batch_size]
        tokens = _run(session, model, [windows[at].ids for at in group])
        for row, at in enumerate(group):
            own = tokens[row, : 1 if first_only else len(windows[at].ids)]
            found[at] = own.mean(axis=0)
    return found


def prepare(model: models.Model) -> None:
    """Load the exported model into this process, exporting it first where needed."""
    _sessions.get(model)


def _run(
    session: InferenceSession, model: models.Model, batch: Sequence[tuple[int, ...]]
) -> Vectors:
    longest = max(map(len, batch))
    ids = np.full((len(batch), longest), _padding_id(model.folder), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, own in enumerate(batch):
        ids[row, : len(own)] = own
        mask[row, : len(own)] = 1
    tokens: Vectors = session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
    if tokens.shape != (*ids.shape, model.spec.dimension):
        raise EmbeddingError("The exported model gives another shape: run export_model again.")
    return tokens


def _load(model: models.Model) -> InferenceSession:
    import onnxruntime

    path = export.export_onnx(Path(settings.MODEL_CACHE_DIR))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # each of its faults is a class without a common root
        raise EmbeddingError(
            f"ONNX Runtime cannot load the exported model: delete {path.parent.name} in the model "
            "cache and run python manage.py export_model."
        ) from error


_sessions: OncePerProcess[models.Model, InferenceSession] = OncePerProcess(_load)


@lru_cache(maxsize=2)
def _padding_id(folder: Path) -> int:
    return int(models.read_json(folder / "config.json").get("pad_token_id") or 0)


@lru_cache(maxsize=2)
def _pools_first_token(folder: Path) -> bool:
    """Say whether a text's vector is its first token's; otherwise it is the mean of all.

    Raises:
        EmbeddingError: the model does anything else after its last layer.
    """
    steps = {step["type"].rpartition(".")[2]: step["path"] for step in _modules(folder)}
    if set(steps) - {"Transformer", "Pooling", "Normalize"} or "Pooling" not in steps:
        raise EmbeddingError(_OTHER_POOLING)
    config = models.read_json(folder / steps["Pooling"] / "config.json")
    modes = {key.removeprefix("pooling_mode_") for key, is_on in config.items() if is_on is True}
    mode = config.get("pooling_mode") or " ".join(sorted(modes - {"include_prompt"}))
    if mode not in {"mean", "mean_tokens", "cls", "cls_token"}:
        raise EmbeddingError(_OTHER_POOLING)
    return mode.startswith("cls")


def _modules(folder: Path) -> list[dict[str, str]]:
    found: list[dict[str, str]] = models.read_json(folder / "modules.json")
    return found


_OTHER_POOLING = (
    "ONNX Runtime is not possible with this embedding model, which pools in another way than by "
    "the mean or the first token: set LEGALQA_EMBEDDING_BACKEND=torch."
)
