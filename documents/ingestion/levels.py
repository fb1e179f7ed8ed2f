"""Marks put into levels by their sequence.

A mark that goes on with an open level belongs to it; one that begins a count opens a level
inside the deepest; one that leaves a few numbers out still belongs to its level. `(i)` after
`(h)` is a letter unless `(ii)` comes before the next `(j)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from documents.ingestion.markers import Count, Marker, Reading
from documents.ingestion.numerals import roman_numeral

_MAX_DEPTH = 8
_MAX_GAP = 3
_ROMANS = frozenset({Count.SMALL_ROMAN, Count.CAPITAL_ROMAN})

# The label of the clause around, the depth of the mark (from 0), and the mark: the whole label.
Join = Callable[[str, int, Marker], str]


@dataclass(slots=True)
class Clause:
    """A clause while it is read; `end` is known when the next mark closes it."""

    marker: Marker
    label: str
    depth: int
    parent: int | None
    end: int
    is_last: bool = True  # of its run: nothing but the end of the text closed it


@dataclass(frozen=True, slots=True)
class _Level:
    form: str
    count: Count
    value: tuple[int, ...]
    clause: int


def arrange(markers: Sequence[Marker], prefix: str, end: int, join: Join) -> list[Clause]:
    """The clauses that marks open, in order; what is no clause after all is left out."""
    tree = _Tree(prefix, join)
    for marker, ahead in _with_lookahead(markers):
        tree.add(marker, ahead)
    tree.close(0, end, is_last=True)
    return tree.clauses


def _with_lookahead(
    markers: Sequence[Marker],
) -> Iterator[tuple[Marker, Mapping[tuple[str, str], int]]]:
    """Each mark with where every core of every form stands next after it."""
    nearest: dict[tuple[str, str], int] = {}
    changes: list[tuple[tuple[str, str], int | None]] = []
    for index in range(len(markers) - 1, -1, -1):
        key = (markers[index].form, markers[index].core)
        changes.append((key, nearest.get(key)))
        nearest[key] = index
    for marker, (key, later) in zip(markers, reversed(changes), strict=True):
        if later is None:
            nearest.pop(key, None)
        else:
            nearest[key] = later
        yield marker, nearest


class _Tree:
    """The levels that are open, outermost first."""

    def __init__(self, prefix: str, join: Join) -> None:
        self._prefix = prefix
        self._join = join
        self._open: list[_Level] = []
        self.clauses: list[Clause] = []

    def add(self, marker: Marker, ahead: Mapping[tuple[str, str], int]) -> None:
        """Give a mark its level, or leave it as text."""
        place = self._continues(marker, ahead) or self._begins(marker, ahead)
        place = place or self._skips(marker)
        if place is None or place[0] >= _MAX_DEPTH:
            return
        depth, (count, value) = place
        self.close(depth, marker.start, is_last=False)
        parent = self._open[-1].clause if self._open else None
        outer = self._prefix if parent is None else self.clauses[parent].label
        label = self._join(outer, depth, marker)
        self._open.append(_Level(marker.form, count, value, len(self.clauses)))
        self.clauses.append(Clause(marker, label, depth, parent, marker.end))

    def close(self, depth: int, end: int, *, is_last: bool) -> None:
        """Close the levels from `depth` inwards."""
        for level in self._open[depth:]:
            clause = self.clauses[level.clause]
            clause.end, clause.is_last = end, is_last
        del self._open[depth:]

    def _continues(
        self, marker: Marker, ahead: Mapping[tuple[str, str], int]
    ) -> tuple[int, Reading] | None:
        for depth in range(len(self._open) - 1, -1, -1):
            level = self._open[depth]
            for count, value in marker.readings:
                if level.form != marker.form or level.count is not count:
                    continue
                is_next = _follows(level.value, value)
                if is_next and not self._rather_begins(marker, count, ahead):
                    return depth, (count, value)
        return None

    def _rather_begins(
        self, marker: Marker, count: Count, ahead: Mapping[tuple[str, str], int]
    ) -> bool:
        """`(i)` after `(h)` begins a roman count where `(ii)` comes before the next `(j)`."""
        if marker.core not in ("i", "I") or count in _ROMANS:
            return False
        second = ahead.get((marker.form, marker.core * 2))
        if second is None:
            return False
        others = (ahead.get((marker.form, core)) for core in (marker.core, "j", "J"))
        return all(other is None or second < other for other in others)

    def _begins(
        self, marker: Marker, ahead: Mapping[tuple[str, str], int]
    ) -> tuple[int, Reading] | None:
        first = [reading for reading in marker.readings if reading[1] == (1,)]
        if not first or (marker.is_inline and not _goes_on(marker, first[0], ahead)):
            return None
        if any(level.form == marker.form and level.count is first[0][0] for level in self._open):
            # The same count anew: a list after another one, not one inside it.
            depth = next(
                index
                for index, level in enumerate(self._open)
                if level.form == marker.form and level.count is first[0][0]
            )
            return None if marker.is_inline else (depth, first[0])
        return len(self._open), first[0]

    def _skips(self, marker: Marker) -> tuple[int, Reading] | None:
        """A mark that leaves numbers out, or opens a list that begins later than at one."""
        for depth in range(len(self._open) - 1, -1, -1):
            level = self._open[depth]
            for count, value in marker.readings:
                if level.form == marker.form and level.count is count:
                    step = value[0] - level.value[0]
                    is_near = 0 < step <= _MAX_GAP and not marker.is_inline
                    return (depth, (count, value)) if is_near else None
        if self._open or marker.is_inline or marker.form != "()":
            return None
        return 0, marker.readings[0]


def _follows(last: tuple[int, ...], value: tuple[int, ...]) -> bool:
    if len(value) > len(last):
        return value[: len(last)] == last and value[-1] == 1  # 一之一 after 一
    return value[:-1] == last[: len(value) - 1] and value[-1] == last[len(value) - 1] + 1


def _goes_on(marker: Marker, reading: Reading, ahead: Mapping[tuple[str, str], int]) -> bool:
    """Whether the second mark of the count comes later."""
    count = reading[0]
    if count in _ROMANS:
        second = roman_numeral(2)
    elif count is Count.DIGIT:
        second = "2"
    elif count is Count.HAN:
        second = "二"
    else:
        second = "b" if count is Count.SMALL else "B" if count is Count.CAPITAL else "bb"
    second = second.upper() if marker.core.isupper() else second
    return (marker.form, second) in ahead
