"""How the two rankings become one.

Weighted min-max fusion, by ablation: on 8,754 regulation passages and 1,000 questions it
reached recall@5 0.80, reciprocal rank fusion 0.754 and BM25 alone 0.736 (DESIGN §7).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

LEXICAL_WEIGHT = 0.6
DENSE_WEIGHT = 0.4


class Scored(Protocol):
    """A candidate with both scores; a rank is None where that leg did not list it."""

    @property
    def cosine(self) -> float | None:
        """Cosine to the question, or None without a vector."""
        ...

    @property
    def bm25(self) -> float:
        """BM25 score, 0 without a common term."""
        ...

    @property
    def dense_rank(self) -> int | None:
        """Place in the dense list."""
        ...

    @property
    def lexical_rank(self) -> int | None:
        """Place in the lexical list."""
        ...


T = TypeVar("T", bound=Scored)


def min_max_fusion(
    candidates: Sequence[T],
    *,
    lexical_weight: float = LEXICAL_WEIGHT,
    dense_weight: float = DENSE_WEIGHT,
) -> list[tuple[T, float]]:
    """Fuse the legs' candidates into one list, best first.

    Each leg's scores are mapped to 0…1 between the lowest and the highest score of that
    leg's own list; a candidate below the list counts 0. Without a dense list the lexical
    score counts alone. Equal scores keep the order of `candidates`.

    Args:
        candidates: each with both scores, in a fixed order.
        lexical_weight: what the lexical leg counts, > 0.
        dense_weight: what the dense leg counts, >= 0.

    Returns:
        (candidate, score in 0…1) pairs.

    Source: Lee, "Analyses of multiple evidence combination", SIGIR 1997 (min-max CombSUM,
    here weighted).
    """
    lexical = [c.bm25 for c in candidates if c.lexical_rank is not None]
    dense = [c.cosine for c in candidates if c.dense_rank is not None and c.cosine is not None]
    total = lexical_weight * bool(lexical) + dense_weight * bool(dense)
    scored = []
    for candidate in candidates:
        score = lexical_weight * _scaled(candidate.bm25, lexical)
        score += dense_weight * _scaled(candidate.cosine, dense)
        scored.append((candidate, score / total if total else 0.0))
    return sorted(scored, key=lambda pair: -pair[1])


def _scaled(score: float | None, listed: Sequence[float]) -> float:
    """Where `score` lies between the lowest and the highest of its leg's list, within 0…1."""
    if score is None or not listed:
        return 0.0
    low, high = min(listed), max(listed)
    if high <= low:
        return 1.0 if score >= high else 0.0
    return min(1.0, max(0.0, (score - low) / (high - low)))
