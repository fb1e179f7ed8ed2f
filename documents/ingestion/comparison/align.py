"""Which section of one text is which of the other.

Every pair that shares a heading, a number or rare words is scored by its words, heading and
number; the best pairs are taken first. Only sections with something in common are ever
scored, so 500 sections against 500 take a fraction of a second.
"""

from __future__ import annotations

import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from documents.ingestion.comparison.records import ComparedSection
from documents.ingestion.comparison.words import collapsed, shortest_edit, words_of

_MOST_HOLDERS = 12  # sections with one shingle in common, beyond which it says little
_MOST_CANDIDATES = 8  # for each section, by shingles in common
_ENOUGH = 0.5  # share of words in common that makes a pair by itself
_WITH_NUMBER = 0.3  # with the same number
_FOR_HEADING = 0.15  # with the same heading where it is not the only one of that name
_MOST_EDITS = 500  # sections that differ, beyond which nothing is taken for granted
_SHORT = 4  # words, below which the words alone make no pair


@dataclass(frozen=True, slots=True)
class Profile:
    """What a section is compared by: its folded heading and number, its words and pairs of them."""

    number: str
    title: str
    words: Counter[int]
    shingles: Counter[int]

    @property
    def size(self) -> int:
        """How many words it has."""
        return self.words.total()


def profile_of(section: ComparedSection) -> Profile:
    """The profile of a section."""
    words = [word.casefold() for word in words_of(section.text) if word.isalnum() or len(word) > 1]
    title = " ".join(word.casefold() for word in words_of(section.title))
    return Profile(
        number=(section.number or "").rstrip(".").casefold(),
        title=title,
        words=Counter(map(_hash, words)),
        shingles=Counter(_hash(" ".join(words[i : i + 2])) for i in range(len(words) - 1)),
    )


def _hash(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def likeness(one: Profile, other: Profile) -> float:
    """How alike the words of two sections are, 0 to 1; two without words are alike."""
    if not one.size and not other.size:
        return 1.0
    return (_dice(one.words, other.words) + _dice(one.shingles, other.shingles)) / 2


def _dice(one: Counter[int], other: Counter[int]) -> float:
    total = one.total() + other.total()
    if not total:
        return 1.0
    small, large = (one, other) if len(one) <= len(other) else (other, one)
    return 2 * sum(min(n, large[key]) for key, n in small.items()) / total


def pairs(
    old: Sequence[ComparedSection],
    new: Sequence[ComparedSection],
    of_old: Sequence[Profile],
    of_new: Sequence[Profile],
) -> dict[int, int]:
    """Which section of `old` is which of `new`, by index; each stands in one pair at most.

    Args:
        old: the sections of the older text, in order.
        new: those of the newer one.
        of_old: their profiles, in the same order.
        of_new: those of the newer ones.
    """
    kept = _kept(old, new)
    taken = set(kept.values())
    scored: list[tuple[float, float, int, int, int]] = []
    for i, j in set(_candidates(of_old, of_new)):
        if i in kept or j in taken:
            continue
        score, alike = _score(old[i], new[j], of_old[i], of_new[j])
        if score > 0:
            # Of equal pairs those go first that keep their place, then those that come first.
            scored.append((-score, -alike, abs(i - j), i, j))
    return kept | _greedy(scored)


def _kept(old: Sequence[ComparedSection], new: Sequence[ComparedSection]) -> dict[int, int]:
    """The sections that stand in the same order with the same heading and words."""
    a, b = ([(s.title, collapsed(s.text)) for s in side] for side in (old, new))
    edits = shortest_edit(a, b, _MOST_EDITS)
    found: dict[int, int] = {}
    if edits is None:
        return found
    at, to = 0, 0
    for i, j, k, m in [*edits, (len(a), len(a), len(b), len(b))]:
        found |= zip(range(at, i), range(to, k), strict=True)
        at, to = j, m
    return found


def _greedy(scored: list[tuple[float, float, int, int, int]]) -> dict[int, int]:
    found: dict[int, int] = {}
    taken: set[int] = set()
    for *_, i, j in sorted(scored):
        if i not in found and j not in taken:
            found[i] = j
            taken.add(j)
    return found


def _score(
    old: ComparedSection, new: ComparedSection, one: Profile, other: Profile
) -> tuple[float, float]:
    """What speaks for a pair, 0 where it is none, and how alike its words are."""
    alike = likeness(one, other)
    has_title = bool(one.title) and one.title == other.title
    has_number = bool(one.number) and one.number == other.number
    is_same_place = old.path[:-1] == new.path[:-1]
    needed = _ENOUGH
    if has_number:
        needed = _WITH_NUMBER
    if has_title:
        needed = 0.0 if has_number or is_same_place else _FOR_HEADING
    is_short = min(one.size, other.size) < _SHORT and not (has_title or has_number)
    if alike < needed or (is_short and (alike < 1.0 or not one.size)):
        return 0.0, alike
    return 0.6 * alike + 0.2 * has_title + 0.12 * has_number + 0.08 * is_same_place, alike


def _candidates(of_old: Sequence[Profile], of_new: Sequence[Profile]) -> Iterator[tuple[int, int]]:
    yield from _by_name(of_old, of_new)
    yield from _by_words(of_old, of_new)


def _by_name(of_old: Sequence[Profile], of_new: Sequence[Profile]) -> Iterator[tuple[int, int]]:
    """Pairs with a number or a heading in common; of many of one name, the nearest."""
    for names in ("number", "title"):
        places: Mapping[str, list[int]] = defaultdict(list)
        for j, profile in enumerate(of_new):
            places[getattr(profile, names)].append(j)
        for i, profile in enumerate(of_old):
            name = getattr(profile, names)
            near = sorted(places.get(name, []), key=lambda j: abs(i - j)) if name else []
            yield from ((i, j) for j in near[:_MOST_HOLDERS])


def _by_words(of_old: Sequence[Profile], of_new: Sequence[Profile]) -> Iterator[tuple[int, int]]:
    """Pairs with the most shingles in common that few sections hold."""
    holders: Mapping[int, list[int]] = defaultdict(list)
    for j, profile in enumerate(of_new):
        for shingle in profile.shingles or profile.words:
            holders[shingle].append(j)
    for i, profile in enumerate(of_old):
        shared: Counter[int] = Counter()
        for shingle in profile.shingles or profile.words:
            shared.update(holders.get(shingle, [])[:_MOST_HOLDERS])
        yield from ((i, j) for j, _ in shared.most_common(_MOST_CANDIDATES))
