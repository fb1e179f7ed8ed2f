"""Where in a text a screening rule needs to look: near the words that it cannot do without."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

REACH = 240  # characters around a needed word; no rule matches a longer stretch
_WORD = re.compile(r"\w+")
_IDEOGRAPHS = re.compile(r"[\u3400-\u9fff]+")

Windows = list[tuple[int, int]]


class WordIndex:
    """The words of a folded text, or of stretches of it, with their places."""

    def __init__(self, text: str, within: Windows | None = None) -> None:
        self.text = text
        self._places: dict[str, list[int]] = defaultdict(list)
        for start, end in [(0, len(text))] if within is None else within:
            for match in _WORD.finditer(text, start, end):
                self._places[match.group()].append(match.start())
        self._windows: dict[str, Windows] = {}

    def windows(self, groups: Sequence[re.Pattern[str]]) -> Windows:
        """The stretches that have a word of every group within reach, merged, in order."""
        common: Windows = [(0, len(self.text))]
        for group in groups:
            common = intersection(common, self._near(group))
        return common

    def ideograph_windows(self) -> Windows:
        """The stretches around Chinese characters."""
        key = _IDEOGRAPHS.pattern
        if key not in self._windows:
            runs = (match.span() for match in _IDEOGRAPHS.finditer(self.text))
            self._windows[key] = around(runs, len(self.text))
        return self._windows[key]

    def _near(self, group: re.Pattern[str]) -> Windows:
        if group.pattern not in self._windows:
            places = [
                place
                for word, places in self._places.items()
                if group.fullmatch(word)
                for place in places
            ]
            self._windows[group.pattern] = around(
                ((place, place) for place in sorted(places)), len(self.text)
            )
        return self._windows[group.pattern]


def around(places: Iterable[tuple[int, int]], length: int, reach: int = REACH) -> Windows:
    """Widen places, in order, by a reach and merge those that meet."""
    windows: Windows = []
    for start, end in places:
        start, end = max(0, start - reach), min(length, end + reach)
        if windows and start <= windows[-1][1]:
            windows[-1] = (windows[-1][0], max(end, windows[-1][1]))
        else:
            windows.append((start, end))
    return windows


def literal_windows(text: str, literals: Sequence[str]) -> Windows:
    """The stretches around any of some strings, merged, in order."""
    places = sorted(place for literal in literals for place in _find_all(text, literal))
    return around(((place, place) for place in places), len(text))


def _find_all(text: str, literal: str) -> Iterator[int]:
    place = text.find(literal)
    while place >= 0:
        yield place
        place = text.find(literal, place + len(literal))


def intersection(left: Windows, right: Windows) -> Windows:
    """The stretches that both have, in order."""
    common: Windows = []
    i = j = 0
    while i < len(left) and j < len(right):
        start, end = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if start < end:
            common.append((start, end))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return common
