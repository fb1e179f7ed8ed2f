"""How well the expected places are ranked: recall@k, reciprocal rank, nDCG@k.

A ranking is given as one set per rank, best first: the expected places that the section at
that rank meets. A place counts where it is met first. A question without expected places has
no ranking to judge: ask only for those that have some.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence
from typing import TypeVar

H = TypeVar("H", bound=Hashable)


def recall_at_k(ranking: Sequence[Collection[H]], relevant: Collection[H], *, k: int) -> float:
    """The share of the relevant places that the first `k` ranks meet.

    Raises:
        ValueError: `k` is not positive, or nothing is relevant.
    """
    wanted = _checked(relevant, k)
    found = {place for met in ranking[:k] for place in met}
    return len(found & wanted) / len(wanted)


def reciprocal_rank(
    ranking: Sequence[Collection[H]], relevant: Collection[H], *, k: int = 10
) -> float:
    """1 / rank of the first section that meets a relevant place; 0 when none of `k` does.

    Raises:
        ValueError: `k` is not positive, or nothing is relevant.
    """
    wanted = _checked(relevant, k)
    for rank, met in enumerate(ranking[:k], start=1):
        if wanted & set(met):
            return 1 / rank
    return 0.0


def ndcg_at_k(ranking: Sequence[Collection[H]], relevant: Collection[H], *, k: int = 10) -> float:
    """Discounted cumulative gain of the first `k` ranks over the best possible one.

    Gain is 1 for each place at the rank where it is first met, the discount log2(1 + rank).
    Two places met by one section could beat the ideal of one a rank, so the value stops at 1.

    Raises:
        ValueError: `k` is not positive, or nothing is relevant.

    Source: Järvelin and Kekäläinen, TOIS 2002, with binary gain.
    """
    wanted = _checked(relevant, k)
    first: dict[H, int] = {}
    for rank, met in enumerate(ranking[:k], start=1):
        for place in met:
            first.setdefault(place, rank)
    gain = math.fsum(1 / math.log2(1 + rank) for place, rank in first.items() if place in wanted)
    ideal = math.fsum(1 / math.log2(1 + rank) for rank in range(1, min(len(wanted), k) + 1))
    return min(1.0, gain / ideal)


def _checked(relevant: Collection[H], k: int) -> set[H]:
    if k < 1:
        raise ValueError("k must be at least 1")
    if not relevant:
        raise ValueError("a question without expected places has no ranking to judge")
    return set(relevant)
