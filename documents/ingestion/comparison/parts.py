"""Sections that were split in two, or merged into one, where the words say so clearly."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from documents.ingestion.comparison.align import Profile

_CONTAINED = 0.7  # share of a part's shingles that its whole had, and the rest of it lacks
_MOST_HOLDERS = 12  # sections with one shingle in common, beyond which it says little
_FEWEST = 6  # shingles: shorter parts are like too much


def parts_of(
    wholes: Sequence[Profile],
    parts: Sequence[Profile],
    kept: Mapping[int, int],
    loose: Iterable[int],
) -> dict[int, int]:
    """Which loose part came out of which whole.

    For splits `wholes` is the older text and `parts` the newer; for mergers the other way
    around, since a merger read backwards is a split.

    Args:
        wholes: profiles of the sections that may have been divided.
        parts: profiles of the sections that may be parts of them.
        kept: the pairs found, from the index of a whole to that of its part.
        loose: indexes of the parts that stand in no pair.
    """
    left = {i: wholes[i].shingles - parts[j].shingles for i, j in kept.items()}
    left |= {i: whole.shingles for i, whole in enumerate(wholes) if i not in kept}
    holders: dict[int, list[int]] = defaultdict(list)
    for i, shingles in left.items():
        for shingle in shingles:
            holders[shingle].append(i)
    found: dict[int, int] = {}
    for part in loose:
        whole = _whole_of(parts[part].shingles, left, holders)
        if whole is not None:
            found[part] = whole
            left[whole] = left[whole] - parts[part].shingles
    if not found:
        return found
    # A whole that stands in no pair was divided only where two parts came out of it.
    counts = Counter(found.values())
    return {part: whole for part, whole in found.items() if whole in kept or counts[whole] > 1}


def _whole_of(
    shingles: Counter[int],
    left: Mapping[int, Counter[int]],
    holders: Mapping[int, Sequence[int]],
) -> int | None:
    if shingles.total() < _FEWEST:
        return None
    shared: Counter[int] = Counter()
    for shingle, n in shingles.items():
        for whole in holders.get(shingle, ())[:_MOST_HOLDERS]:
            shared[whole] += min(n, left[whole][shingle])
    best = shared.most_common(1)
    if best and best[0][1] >= _CONTAINED * shingles.total():
        return best[0][0]
    return None
