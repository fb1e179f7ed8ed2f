"""Which pairs of sections stand elsewhere in the newer text.

A section has moved when it went under another heading, or changed places with its neighbours.
Where others were only put in or taken out before it, it has not. Of the ways to put neighbours
in order the one is taken that moves the fewest words.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from documents.ingestion.comparison.records import ComparedSection

_Parents = tuple[str | None, str | None]


def moved(
    old: Sequence[ComparedSection], new: Sequence[ComparedSection], pairs: Mapping[int, int]
) -> set[int]:
    """The indexes, in `old`, of the paired sections that moved."""
    over = _parents(old, new, pairs)
    found: set[int] = set()
    groups: dict[_Parents, list[int]] = defaultdict(list)
    for i, j in pairs.items():
        above = (old[i].parent, new[j].parent)
        if above in over:
            groups[above].append(i)
        else:
            found.add(i)
    for group in groups.values():
        order = sorted(group, key=lambda i: pairs[i])
        weights = [len(old[i].text) + 1 for i in order]
        found |= set(order) - {order[k] for k in heaviest_rise(order, weights)}
    return found


def _parents(
    old: Sequence[ComparedSection], new: Sequence[ComparedSection], pairs: Mapping[int, int]
) -> set[_Parents]:
    """Which enclosing section is which: by their own pair, else by what most of them holds."""
    both = {(old[i].key, new[j].key) for i, j in pairs.items()}
    matched_old = {a for a, _ in both}
    matched_new = {b for _, b in both}
    weights: Counter[_Parents] = Counter()
    for i, j in pairs.items():
        weights[(old[i].parent, new[j].parent)] += len(old[i].text) + 1
    found: set[_Parents] = {pair for pair in weights if pair in both}
    taken_old: set[str | None] = set(matched_old)
    taken_new: set[str | None] = set(matched_new)
    for a, b in sorted(weights, key=lambda pair: (-weights[pair], str(pair))):
        if a not in taken_old and b not in taken_new:
            found.add((a, b))
            taken_old.add(a)
            taken_new.add(b)
    return found


def heaviest_rise(values: Sequence[int], weights: Sequence[int]) -> list[int]:
    """The indexes of the rising subsequence with the greatest weight.

    Args:
        values: all different.
        weights: one each, > 0.
    """
    ranks = sorted(values)
    tree: list[tuple[int, int]] = [(0, -1)] * (len(values) + 1)  # Fenwick: weight, last index
    before = [-1] * len(values)
    for at, value in enumerate(values):
        rank = bisect_left(ranks, value)
        weight, before[at] = _best(tree, rank)
        _raise(tree, rank + 1, (weight + weights[at], at))
    chain, at = [], _best(tree, len(values))[1]
    while at >= 0:
        chain.append(at)
        at = before[at]
    return chain[::-1]


def _best(tree: Sequence[tuple[int, int]], rank: int) -> tuple[int, int]:
    """The heaviest of the first `rank` places."""
    best = (0, -1)
    while rank > 0:
        best = max(best, tree[rank])
        rank -= rank & -rank
    return best


def _raise(tree: list[tuple[int, int]], rank: int, entry: tuple[int, int]) -> None:
    while rank < len(tree):
        tree[rank] = max(tree[rank], entry)
        rank += rank & -rank
