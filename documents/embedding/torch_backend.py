"""The model through sentence-transformers: what the worker embeds passages with.

One text at a time, unpadded. In a padded batch of eight torch's sums come out 1e-7 apart, and
on 200 paragraphs 53 vectors then differed as stored (half precision) from those of the same
text alone: a restricted paragraph would leave a trace in its neighbours' scores.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from documents.embedding import model as models
from documents.embedding.once import OncePerProcess
from documents.embedding.tokens import Window
from documents.embedding.vectors import Vectors
from documents.errors import EmbeddingError

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

# Read by OpenMP when torch is loaded. A thread that waits by spinning takes the core from the
# thread that it waits for: 418 ms of processor time a passage on two busy cores, 86 ms so.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def rows(model: models.Model, windows: Sequence[Window]) -> Vectors:
    """Return a vector for each window: float32, (n, dimension), as the model gives it.

    Raises:
        EmbeddingError: the model can't be loaded, or its weights are not the right ones.
    """
    import torch

    network = _networks.get(model)
    found = []
    with torch.inference_mode():
        for window in windows:
            ids = torch.tensor([window.ids])
            features = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
            found.append(network(features)["sentence_embedding"][0].numpy())
    return np.stack(found)


def load(folder: str) -> SentenceTransformer:
    """Load a folder of sentence-transformers in single precision, fetching nothing.

    Raises:
        EmbeddingError: the folder doesn't hold such a model.
    """
    models.stay_offline()
    from sentence_transformers import SentenceTransformer

    options: dict[str, Any] = {"use_safetensors": True}
    try:
        with _no_progress_bar():
            network = SentenceTransformer(
                folder, device="cpu", local_files_only=True, model_kwargs=options
            )
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise EmbeddingError("sentence-transformers cannot load the embedding model.") from error
    return network.float().eval()


@contextmanager
def _no_progress_bar() -> Iterator[None]:
    """Keep the bar of `Loading weights` out of a worker's log, for this load alone."""
    from transformers.utils import logging

    previous = logging.set_tqdm_hook(_silent_bar)
    try:
        yield
    finally:
        logging.set_tqdm_hook(previous)


def _silent_bar(make: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    return make(*args, **{**options, "disable": True})


def _checked_load(model: models.Model) -> SentenceTransformer:
    models.check_weights(model)
    return load(str(model.folder))


_networks: OncePerProcess[models.Model, SentenceTransformer] = OncePerProcess(_checked_load)
