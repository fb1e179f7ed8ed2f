"""Whether two documents say nearly the same: MinHash over runs of words.

A signature is 128 minima of hashed shingles (five words; of Chinese and Japanese, five
characters). The share of equal minima estimates how many shingles two documents have in
common, with a standard error of at most 0.045.

Source: Broder, On the resemblance and containment of documents, SEQUENCES 1997.
"""

from __future__ import annotations

import re
import unicodedata
import zlib

import numpy as np
from numpy.typing import NDArray

SIZE = 128
_WORDS = 5
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_\u3040-\u9fff]+")
_AT_ONCE = 4096  # shingles, so that a long document takes little memory
_random = np.random.RandomState(20_240_101)  # fixed: signatures are stored and compared later
_A = _random.randint(0, 2**64, SIZE, dtype=np.uint64) | np.uint64(1)
_B = _random.randint(0, 2**64, SIZE, dtype=np.uint64)


def signature(text: str) -> bytes:
    """The signature of a text: uint32, (128,), little endian; empty where it has no words."""
    hashes = _shingles(text)
    if not len(hashes):
        return b""
    minima = np.full(SIZE, np.iinfo(np.uint32).max, dtype=np.uint32)
    for at in range(0, len(hashes), _AT_ONCE):
        some = hashes[at : at + _AT_ONCE, None]
        mixed = ((some * _A + _B) >> np.uint64(32)).astype(np.uint32)  # multiply-shift
        minima = np.minimum(minima, mixed.min(axis=0))
    return minima.astype("<u4").tobytes()


def _shingles(text: str) -> NDArray[np.uint64]:
    words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    if not words:
        return np.empty(0, dtype=np.uint64)
    last = max(len(words) - _WORDS, 0)
    found = {zlib.crc32(" ".join(words[i : i + _WORDS]).encode()) for i in range(last + 1)}
    return np.fromiter(found, dtype=np.uint64, count=len(found))


def resemblance(one: bytes, other: bytes) -> float:
    """The estimated share of shingles in common, 0 to 1; 0 where a signature is missing."""
    if len(one) != SIZE * 4 or len(other) != SIZE * 4:
        return 0.0
    return float(np.mean(np.frombuffer(one, "<u4") == np.frombuffer(other, "<u4")))
