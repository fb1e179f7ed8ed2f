"""Drawn lines to grids: which cells a frame of rules makes, merged ones as one.

Lines on one axis are joined where they meet or nearly meet, so that a line drawn in pieces is
one. Lines that cross belong together; each such group with at least two columns and two rows is
a grid. Two neighbours with no line between them are one cell.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from documents.ingestion.parsers.pdf.page import Rule
from documents.records import Box

_NEAR = 3.0  # points: lines this close are one, and lines this close meet
_SHORTEST = 4.0  # points
_COVERED = 0.6  # of the side of a cell that a line must run along to part it from the next
MAX_RULES = 6_000  # of one page; more is a drawing
_MAX_LINES = 600  # of one direction, after joining


@dataclass(frozen=True, slots=True)
class Slot:
    """A cell without its words: its first row and column, its spans, its box.

    One that `is_whole` is a rectangle; lines that end in the open make others, in drawings.
    """

    row: int
    column: int
    row_span: int
    column_span: int
    box: Box
    is_whole: bool = True


@dataclass(frozen=True, slots=True)
class Grid:
    """The cells of one frame; `xs` and `ys` are its lines. `slot_at` is by row, then column."""

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    slots: tuple[Slot, ...]
    slot_at: tuple[tuple[int, ...], ...]

    @property
    def box(self) -> Box:
        """What the frame covers."""
        return (self.xs[0], self.ys[0], self.xs[-1], self.ys[-1])

    def find(self, x: float, y: float) -> int | None:
        """The index of the slot that holds a point."""
        if not (self.xs[0] <= x <= self.xs[-1] and self.ys[0] <= y <= self.ys[-1]):
            return None
        column = min(max(bisect_right(self.xs, x) - 1, 0), len(self.xs) - 2)
        row = min(max(bisect_right(self.ys, y) - 1, 0), len(self.ys) - 2)
        return self.slot_at[row][column]


@dataclass(slots=True)
class _Line:
    """A straight line: where it stands on the other axis, from where to where it runs."""

    at: float
    start: float
    end: float


def grids(rules: Sequence[Rule]) -> list[Grid]:
    """The grids that a page's rules make, from the top."""
    if len(rules) > MAX_RULES:
        return []
    across = _joined(_Line((r.box[1] + r.box[3]) / 2, r.box[0], r.box[2]) for r in _flat(rules))
    down = _joined(_Line((r.box[0] + r.box[2]) / 2, r.box[1], r.box[3]) for r in _steep(rules))
    if max(len(across), len(down)) > _MAX_LINES:
        return []
    found = [_grid(*group) for group in _groups(across, down)]
    return sorted((grid for grid in found if grid), key=lambda grid: grid.ys[0])


def _flat(rules: Iterable[Rule]) -> list[Rule]:
    return [r for r in rules if r.is_horizontal and r.box[2] - r.box[0] >= _SHORTEST]


def _steep(rules: Iterable[Rule]) -> list[Rule]:
    return [r for r in rules if not r.is_horizontal and r.box[3] - r.box[1] >= _SHORTEST]


def _joined(lines: Iterable[_Line]) -> list[_Line]:
    """Lines on one axis that touch or overlap as one."""
    levels: list[list[_Line]] = []
    for line in sorted(lines, key=lambda line: line.at):
        if levels and line.at - levels[-1][0].at <= _NEAR / 2:
            levels[-1].append(line)
        else:
            levels.append([line])
    done: list[_Line] = []
    for level in levels:
        level.sort(key=lambda line: line.start)
        for line in level:
            if done and done[-1].at == level[0].at and line.start - done[-1].end <= _NEAR:
                done[-1].end = max(done[-1].end, line.end)
            else:
                done.append(_Line(level[0].at, line.start, line.end))
    return done


def _groups(across: list[_Line], down: list[_Line]) -> list[tuple[list[_Line], list[_Line]]]:
    """Lines that cross or touch, directly or through others."""
    owner = list(range(len(across) + len(down)))

    def root(index: int) -> int:
        while owner[index] != index:
            owner[index] = owner[owner[index]]
            index = owner[index]
        return index

    for i, flat in enumerate(across):
        for j, steep in enumerate(down):
            if _meet(flat, steep):
                owner[root(i)] = root(len(across) + j)
    groups: dict[int, tuple[list[_Line], list[_Line]]] = {}
    for index in range(len(owner)):
        flats, steeps = groups.setdefault(root(index), ([], []))
        if index < len(across):
            flats.append(across[index])
        else:
            steeps.append(down[index - len(across)])
    return list(groups.values())


def _meet(flat: _Line, steep: _Line) -> bool:
    return (
        flat.start - _NEAR <= steep.at <= flat.end + _NEAR
        and steep.start - _NEAR <= flat.at <= steep.end + _NEAR
    )


def _grid(across: list[_Line], down: list[_Line]) -> Grid | None:
    if not across or not down:
        return None
    xs = _levels([line.at for line in down], [f for a in across for f in (a.start, a.end)])
    ys = _levels([line.at for line in across], [f for d in down for f in (d.start, d.end)])
    if len(xs) < 3 or len(ys) < 3:
        return None
    slot_of = _merged(xs, ys, across, down)
    return _with_slots(xs, ys, slot_of)


def _levels(places: Iterable[float], ends: Sequence[float]) -> tuple[float, ...]:
    """Where the lines of one direction stand; open sides end where the others end."""
    levels: list[float] = []
    for place in sorted(places):
        if not levels or place - levels[-1] > _NEAR:
            levels.append(place)
    if levels and min(ends) < levels[0] - 2 * _NEAR:
        levels.insert(0, min(ends))
    if levels and max(ends) > levels[-1] + 2 * _NEAR:
        levels.append(max(ends))
    return tuple(levels)


def _merged(
    xs: tuple[float, ...], ys: tuple[float, ...], across: list[_Line], down: list[_Line]
) -> list[list[int]]:
    """For each smallest cell the number of the cell that it is part of."""
    columns, rows = len(xs) - 1, len(ys) - 1
    owner = list(range(columns * rows))

    def root(index: int) -> int:
        while owner[index] != index:
            index = owner[index]
        return index

    def join(first: int, second: int) -> None:
        low, high = sorted((root(first), root(second)))
        owner[high] = low

    for row, (top, bottom) in enumerate(pairwise(ys)):
        for column, (left, right) in enumerate(pairwise(xs)):
            here = row * columns + column
            if column + 1 < columns and not _parts(down, right, top, bottom):
                join(here, here + 1)
            if row + 1 < rows and not _parts(across, bottom, left, right):
                join(here, here + columns)
    return [[root(row * columns + column) for column in range(columns)] for row in range(rows)]


def _parts(lines: list[_Line], at: float, start: float, end: float) -> bool:
    """Whether a line runs along most of this side."""
    covered = sum(
        max(min(line.end, end) - max(line.start, start), 0.0)
        for line in lines
        if abs(line.at - at) <= _NEAR
    )
    return covered >= _COVERED * (end - start)


def _with_slots(xs: tuple[float, ...], ys: tuple[float, ...], owners: list[list[int]]) -> Grid:
    places: dict[int, list[tuple[int, int]]] = {}
    for row, line in enumerate(owners):
        for column, owner in enumerate(line):
            places.setdefault(owner, []).append((row, column))
    slots: list[Slot] = []
    index_of: dict[int, int] = {}
    for owner, held in places.items():
        top, bottom = min(r for r, _ in held), max(r for r, _ in held) + 1
        left, right = min(c for _, c in held), max(c for _, c in held) + 1
        index_of[owner] = len(slots)
        area = (xs[left], ys[top], xs[right], ys[bottom])
        is_whole = len(held) == (bottom - top) * (right - left)
        slots.append(Slot(top, left, bottom - top, right - left, area, is_whole))
    slot_at = tuple(tuple(index_of[owner] for owner in line) for line in owners)
    return Grid(xs, ys, tuple(slots), slot_at)
