"""Text to token ids, as the model reads it, without torch.

The tokenizer's own truncation and padding are switched off: a caller that sees a count must
be able to trust it, and a text longer than the model's window becomes several windows, never
a shorter text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tokenizers import Tokenizer

from documents.embedding import model as models
from documents.errors import EmbeddingError

PIECE_CHARS = 20_000
"""Longer texts are read in pieces: one 5 MB line at once takes over 1 GB of memory."""


@dataclass(frozen=True, slots=True)
class Window:
    """What the model reads in one go: `ids` with the marks at both ends.

    `weight` is how many of them belong to the text itself.
    """

    ids: tuple[int, ...]
    weight: int


def count_tokens(text: str) -> int:
    """Count the tokens of `text` for the current model, marks at the ends not counted.

    Exact for texts of up to 20,000 characters. Longer ones are read in pieces cut at white
    space; where a piece has none, a word that is cut may count as a token or two more.

    Raises:
        EmbeddingError: the model's tokenizer is missing or damaged.
    """
    tokenizer = _tokenizer(models.current().folder)
    return sum(
        len(tokenizer.encode(piece, add_special_tokens=False).ids) for piece in _pieces(text)
    )


def windows(model: models.Model, text: str, *, prompt: str = "") -> list[Window]:
    """Cut `text` into as few windows as hold all its tokens, of about the same length.

    A window ends between two words, unless one word alone is longer. A text without any
    token (empty, or white space) gives one window of the marks alone.
    """
    tokenizer = _tokenizer(model.folder)
    head, tail = _marks(model.folder)
    if prompt:
        head += tuple(tokenizer.encode(prompt.strip(), add_special_tokens=False).ids)
    room = model.spec.max_tokens - len(head) - len(tail)
    ids, words = _ids_and_words(tokenizer, text)
    return [
        Window(ids=(*head, *ids[start:end], *tail), weight=max(1, end - start))
        for start, end in _spans(words, room)
    ]


def _spans(words: list[int], room: int) -> Iterator[tuple[int, int]]:
    start = 0
    while len(words) - start > room:
        parts = -(-(len(words) - start) // room)
        end = start + -(-(len(words) - start) // parts)
        boundary = next((at for at in range(end, start, -1) if words[at] != words[at - 1]), end)
        yield start, boundary
        start = boundary
    yield start, len(words)


def _ids_and_words(tokenizer: Tokenizer, text: str) -> tuple[list[int], list[int]]:
    ids: list[int] = []
    words: list[int] = []  # for each token the number of its word, counted over all pieces
    for piece in _pieces(text):
        encoding = tokenizer.encode(piece, add_special_tokens=False)
        first = words[-1] + 1 if words else 0
        ids += encoding.ids
        words += [first + (word or 0) for word in encoding.word_ids]
    return ids, words


def _pieces(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > PIECE_CHARS:
        limit = start + PIECE_CHARS
        space = max(text.rfind(mark, start, limit) for mark in " \n\t\u3000")
        end = space if space > start else limit
        yield text[start:end]
        start = end
    yield text[start:]


@lru_cache(maxsize=2)
def _tokenizer(folder: Path) -> Tokenizer:
    path = folder / "tokenizer.json"
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises a bare Exception for any fault
        raise EmbeddingError(
            "The embedding model's tokenizer.json is missing or damaged."
        ) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


@lru_cache(maxsize=2)
def _marks(folder: Path) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the ids that the model expects before and after a text ([CLS] and [SEP])."""
    encoding = _tokenizer(folder).encode("a")
    inner = [at for at, mark in enumerate(encoding.special_tokens_mask) if not mark]
    return tuple(encoding.ids[: inner[0]]), tuple(encoding.ids[inner[-1] + 1 :])
