"""Tables without a grid: columns that line up, between horizontal rules or on white.

Careful on purpose, since a false table tears prose apart while a missed one still reads row by
row. Between rules that share their ends a table needs a common gutter; on white it also needs
three rows and columns that hold numbers, short entries under a header, or three columns or
more. Two columns of prose, lists with their marks, contents, addresses and signature blocks are
none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from documents.ingestion.parsers.pdf.lookalikes import (
    is_convincing,
    is_lookalike,
    is_prose,
)
from documents.ingestion.parsers.pdf.page import Cell, Fill, PageContent, Rule, TableRegion, Word
from documents.ingestion.parsers.pdf.textrows import (
    TextRow,
    by_column,
    column_of,
    columns_of,
    grouped,
    has_number,
    middle,
    text_rows,
    texts_of,
)

_MAX_PITCH = 2.6  # of the type's size from one row to the next
_MIN_ROWS = 3
_MAX_WORDS = 6_000  # of one page; more is a listing, read line by line
_SAME_END = 6.0  # points
_MIN_RULE = 60.0  # points
_MAX_BREAK = 14.0  # points between the pieces of one line
_TALL_BAND = 0.4  # of the page's height: more is a page between head and foot


@dataclass(slots=True)
class _Frame:
    """Horizontal rules with the same ends: where they begin, end and stand, from the top."""

    left: float
    right: float
    levels: list[float]

    def holds(self, word: Word) -> bool:
        """Whether a word stands between the first and the last rule."""
        x, y = (word.box[0] + word.box[2]) / 2, word.baseline - 0.3 * word.size
        return self.left <= x <= self.right and self.levels[0] < y < self.levels[-1]


@dataclass(frozen=True, slots=True)
class _Body:
    """Rows of a table by column, before they become cells."""

    rows: list[list[list[Word]]]
    columns: list[tuple[float, float]]


def aligned_tables(page: PageContent) -> list[TableRegion]:
    """The tables of a page that no grid frames, from the top."""
    words = [word for word in page.words if word.rotation == 0 and not word.is_vertical]
    if not words or len(words) > _MAX_WORDS:
        return []
    found, free = [], words
    for frame in _frames(page.rules, page.height):
        inside = [word for word in free if frame.holds(word)]
        for body in _between_rules(text_rows(inside), frame.levels, page.fills):
            found.append(_region(page.number, body))
            taken = {id(word) for row in body.rows for cell in row for word in cell}
            free = [word for word in free if id(word) not in taken]
    found += [_region(page.number, body) for body in _on_white(text_rows(free), page.fills)]
    return sorted(found, key=lambda table: table.box[1])


def _frames(rules: Sequence[Rule], height: float) -> list[_Frame]:
    """Runs of three horizontal rules or more with the same ends."""
    frames: list[_Frame] = []
    for line in _lines(rules):
        left, right, y = line.left, line.right, line.levels[0]
        like = next((frame for frame in frames if _same_ends(frame, line)), None)
        if right - left < _MIN_RULE:
            continue
        if like is not None and y - like.levels[-1] <= _TALL_BAND * height:
            like.levels.append(y)
        else:
            frames.insert(0, line)
    return [frame for frame in frames[::-1] if len(frame.levels) >= _MIN_ROWS]


def _lines(rules: Sequence[Rule]) -> list[_Frame]:
    """Each horizontal line as a frame of its own; pieces with small gaps are one."""
    lines: list[_Frame] = []
    for rule in sorted((r for r in rules if r.is_horizontal), key=lambda r: (r.box[1], r.box[0])):
        left, top, right, _ = rule.box
        last = lines[-1] if lines else None
        if last and top - last.levels[0] <= 1.5 and left - last.right <= _MAX_BREAK:
            last.left, last.right = min(last.left, left), max(last.right, right)
        else:
            lines.append(_Frame(left, right, [top]))
    return lines


def _same_ends(one: _Frame, other: _Frame) -> bool:
    return abs(one.left - other.left) <= _SAME_END and abs(one.right - other.right) <= _SAME_END


def _between_rules(rows: list[TextRow], levels: list[float], fills: Sequence[Fill]) -> list[_Body]:
    """The tables between rules: lines over the whole width part them."""
    bodies = []
    columns = columns_of([row for row in rows if len(row.parts) > 1])
    for piece in _parted_by_prose(rows, columns) if len(columns) > 1 else ():
        body = _ruled_body(piece, levels, fills)
        if body:
            bodies.append(body)
    return bodies


def _parted_by_prose(
    rows: Sequence[TextRow], columns: Sequence[tuple[float, float]]
) -> list[list[TextRow]]:
    pieces: list[list[TextRow]] = [[]]
    for row in rows:
        if len(row.parts) == 1 and column_of(row.words, columns) is None:
            pieces.append([])
        else:
            pieces[-1].append(row)
    return pieces


def _ruled_body(rows: list[TextRow], levels: list[float], fills: Sequence[Fill]) -> _Body | None:
    rows = _trimmed(rows)
    parted = [row for row in rows if len(row.parts) > 1]
    columns = columns_of(parted)
    if len(columns) < 2 or len(parted) < _MIN_ROWS or is_lookalike(texts_of(parted), len(columns)):
        return None
    bands = [
        [row for row in rows if top < middle(row) < bottom] for top, bottom in pairwise(levels)
    ]
    full = [band for band in bands if any(len(row.parts) > 1 for row in band)]
    if not full:
        return None
    is_banded = len(full) >= _MIN_ROWS and all(_is_one_row(band) for band in full)
    if not is_banded and (len(full) < 2 or is_prose([row.parts for row in parted], columns)):
        return None
    groups = [band for band in bands if band] if is_banded else grouped(rows, columns, fills)
    return _Body([by_column(group, columns) for group in groups], columns)


def _is_one_row(band: Sequence[TextRow]) -> bool:
    """Whether the lines between two rules are one row: not more than one of them has numbers."""
    return len(band) <= 8 and sum(has_number(row) for row in band) <= 1


def _on_white(rows: list[TextRow], fills: Sequence[Fill]) -> list[_Body]:
    """Runs of rows with a common gutter that look like a table."""
    found = []
    for run in _runs(rows):
        parted = [row for row in run if len(row.parts) > 1]
        columns = columns_of(parted)
        if len(parted) < _MIN_ROWS or len(columns) < 2:
            continue
        if is_lookalike(texts_of(parted), len(columns)):
            continue
        if is_prose([row.parts for row in parted], columns):
            continue
        groups = grouped(run, columns, fills)
        body = _Body([by_column(group, columns) for group in groups], columns)
        if len(body.rows) >= _MIN_ROWS and is_convincing(body.rows):
            found.append(body)
    return found


def _runs(rows: list[TextRow]) -> list[list[TextRow]]:
    """Rows that follow each other closely and keep at least two common columns."""
    runs: list[list[TextRow]] = []
    run: list[TextRow] = []
    for row in rows:
        if run and _fits(run, row):
            run.append(row)
            continue
        if run:
            runs.append(_trimmed(run))
        run = [row] if len(row.parts) > 1 else []
    if run:
        runs.append(_trimmed(run))
    return [run for run in runs if len(run) >= _MIN_ROWS]


def _fits(run: list[TextRow], row: TextRow) -> bool:
    above = run[-1]
    if row.baseline - above.baseline > _MAX_PITCH * max(row.size, above.size):
        return False
    parted = [other for other in run if len(other.parts) > 1]
    before = columns_of(parted)
    if len(row.parts) == 1:
        return len(parted) >= 2 and column_of(row.words, before) is not None
    after = columns_of([*parted, row])
    if len(parted) < 2:
        return len(after) >= 2
    return len(after) >= max(2, len(before) - (1 if len(before) > 3 else 0))


def _trimmed(run: list[TextRow]) -> list[TextRow]:
    """Without lines at both ends that may be prose again."""
    while run and len(run[-1].parts) == 1:
        run = run[:-1]
    while run and len(run[0].parts) == 1:
        run = run[1:]
    return run


def _region(page: int, body: _Body) -> TableRegion:
    rows = []
    for index, row in enumerate(body.rows):
        words = [word for cell in row for word in cell]
        top, bottom = min(w.box[1] for w in words), max(w.box[3] for w in words)
        rows.append(
            tuple(
                Cell(index, column, tuple(cell), (left, top, right, bottom))
                for column, (cell, (left, right)) in enumerate(zip(row, body.columns, strict=True))
            )
        )
    boxes = [cell.box for row in rows for cell in row]
    box = (
        min(b[0] for b in boxes), min(b[1] for b in boxes),
        max(b[2] for b in boxes), max(b[3] for b in boxes),
    )  # fmt: skip
    return TableRegion(page, box, tuple(rows), len(body.columns), is_ruled=False)
