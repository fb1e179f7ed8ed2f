"""Tables without a grid: columns that line up, between horizontal rules or on white.

Careful on purpose, since a false table tears prose apart while a missed one still reads row by
row. Between rules that share their ends a table needs a common gutter; on white it also needs
three rows and columns that hold numbers, short entries under a header, or three columns or
more. Two columns of prose, lists with their marks, contents, addresses and signature blocks are
none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from documents.ingestion.parsers.pdf.lookalikes import (
    is_convincing,
    is_figure,
    is_lookalike,
    is_prose,
)
from documents.ingestion.parsers.pdf.markers import opens_item
from documents.ingestion.parsers.pdf.page import Cell, Fill, PageContent, Rule, TableRegion, Word

_GAP = 1.1  # of the type's size: wider than a blank in justified lines
_MIN_GAP = 7.0  # points
_GUTTER = 0.5  # of the type's size
_MAX_PITCH = 2.6  # of the type's size from one row to the next
_MIN_ROWS = 3
_MAX_WORDS = 6_000  # of one page; more is a listing, read line by line
_SAME_END = 6.0  # points
_MAX_GROUND = 8.0  # of the type's size: a shaded area higher than this holds many rows
_MIN_RULE = 60.0  # points
_MAX_BREAK = 14.0  # points between the pieces of one line
_TALL_BAND = 0.4  # of the page's height: more is a page between head and foot


@dataclass(frozen=True, slots=True)
class _Row:
    """Words on one base line, cut where a wide gap stands."""

    baseline: float
    size: float
    parts: tuple[tuple[Word, ...], ...]

    @property
    def words(self) -> list[Word]:
        return [word for part in self.parts for word in part]


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
        for body in _between_rules(_rows(inside), frame.levels, page.fills):
            found.append(_region(page.number, body))
            taken = {id(word) for row in body.rows for cell in row for word in cell}
            free = [word for word in free if id(word) not in taken]
    found += [_region(page.number, body) for body in _on_white(_rows(free), page.fills)]
    return sorted(found, key=lambda table: table.box[1])


def _rows(words: Iterable[Word]) -> list[_Row]:
    lines: list[list[Word]] = []
    for word in sorted(words, key=lambda word: word.baseline):
        size = max(lines[-1][0].size, 1.0) if lines else 1.0
        if lines and word.baseline - lines[-1][0].baseline <= 0.35 * size:
            lines[-1].append(word)
        else:
            lines.append([word])
    return [_row(sorted(line, key=lambda word: word.box[0])) for line in lines]


def _row(words: list[Word]) -> _Row:
    size = max(median(word.size for word in words), 1.0)
    parts: list[list[Word]] = [[words[0]]]
    for before, word in pairwise(words):
        is_apart = word.box[0] - before.box[2] > max(_GAP * size, _MIN_GAP)
        # The mark of a list item stands apart from its text but is no column.
        if is_apart and not _is_mark(parts[-1]):
            parts.append([])
        parts[-1].append(word)
    return _Row(words[0].baseline, size, tuple(tuple(part) for part in parts))


def _is_mark(part: Sequence[Word]) -> bool:
    text = "".join(word.text for word in part)
    return len(text) <= 5 and not text.isdigit() and opens_item(f"{text} x")


def _middle(row: _Row) -> float:
    return row.baseline - 0.3 * row.size


# --- between rules ---


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


def _between_rules(rows: list[_Row], levels: list[float], fills: Sequence[Fill]) -> list[_Body]:
    """The tables between rules: lines over the whole width part them."""
    bodies = []
    columns = _columns([row for row in rows if len(row.parts) > 1])
    for piece in _parted_by_prose(rows, columns) if len(columns) > 1 else ():
        body = _ruled_body(piece, levels, fills)
        if body:
            bodies.append(body)
    return bodies


def _parted_by_prose(
    rows: Sequence[_Row], columns: Sequence[tuple[float, float]]
) -> list[list[_Row]]:
    pieces: list[list[_Row]] = [[]]
    for row in rows:
        if len(row.parts) == 1 and _column_of(row.words, columns) is None:
            pieces.append([])
        else:
            pieces[-1].append(row)
    return pieces


def _ruled_body(rows: list[_Row], levels: list[float], fills: Sequence[Fill]) -> _Body | None:
    rows = _trimmed(rows)
    parted = [row for row in rows if len(row.parts) > 1]
    columns = _columns(parted)
    if len(columns) < 2 or len(parted) < _MIN_ROWS or is_lookalike(_texts(parted), len(columns)):
        return None
    bands = [
        [row for row in rows if top < _middle(row) < bottom] for top, bottom in pairwise(levels)
    ]
    full = [band for band in bands if any(len(row.parts) > 1 for row in band)]
    if not full:
        return None
    is_banded = len(full) >= _MIN_ROWS and all(_is_one_row(band) for band in full)
    if not is_banded and (len(full) < 2 or is_prose([row.parts for row in parted], columns)):
        return None
    groups = [band for band in bands if band] if is_banded else _grouped(rows, columns, fills)
    return _Body([_by_column(group, columns) for group in groups], columns)


def _is_one_row(band: Sequence[_Row]) -> bool:
    """Whether the lines between two rules are one row: not more than one of them has numbers."""
    return len(band) <= 8 and sum(_has_number(row) for row in band) <= 1


def _has_number(row: _Row) -> bool:
    return any(_is_number(part) for part in row.parts[1:])


def _is_number(part: Sequence[Word]) -> bool:
    return is_figure(" ".join(word.text for word in part))


# --- on white ---


def _on_white(rows: list[_Row], fills: Sequence[Fill]) -> list[_Body]:
    """Runs of rows with a common gutter that look like a table."""
    found = []
    for run in _runs(rows):
        parted = [row for row in run if len(row.parts) > 1]
        columns = _columns(parted)
        if len(parted) < _MIN_ROWS or len(columns) < 2:
            continue
        if is_lookalike(_texts(parted), len(columns)):
            continue
        if is_prose([row.parts for row in parted], columns):
            continue
        groups = _grouped(run, columns, fills)
        body = _Body([_by_column(group, columns) for group in groups], columns)
        if len(body.rows) >= _MIN_ROWS and is_convincing(body.rows):
            found.append(body)
    return found


def _runs(rows: list[_Row]) -> list[list[_Row]]:
    """Rows that follow each other closely and keep at least two common columns."""
    runs: list[list[_Row]] = []
    run: list[_Row] = []
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


def _fits(run: list[_Row], row: _Row) -> bool:
    above = run[-1]
    if row.baseline - above.baseline > _MAX_PITCH * max(row.size, above.size):
        return False
    parted = [other for other in run if len(other.parts) > 1]
    before = _columns(parted)
    if len(row.parts) == 1:
        return len(parted) >= 2 and _column_of(row.words, before) is not None
    after = _columns([*parted, row])
    if len(parted) < 2:
        return len(after) >= 2
    return len(after) >= max(2, len(before) - (1 if len(before) > 3 else 0))


def _trimmed(run: list[_Row]) -> list[_Row]:
    """Without lines at both ends that may be prose again."""
    while run and len(run[-1].parts) == 1:
        run = run[:-1]
    while run and len(run[0].parts) == 1:
        run = run[1:]
    return run


def _texts(rows: Sequence[_Row]) -> list[list[str]]:
    return [[" ".join(word.text for word in part) for part in row.parts] for row in rows]


def _columns(rows: Sequence[_Row]) -> list[tuple[float, float]]:
    """Where words stand in all of these rows: stretches between gutters that run through."""
    spans = sorted((part[0].box[0], part[-1].box[2]) for row in rows for part in row.parts)
    size = median(row.size for row in rows) if rows else 1.0
    columns: list[tuple[float, float]] = []
    for left, right in spans:
        if columns and left - columns[-1][1] < _GUTTER * size:
            columns[-1] = (columns[-1][0], max(columns[-1][1], right))
        else:
            columns.append((left, right))
    return _without_halves(rows, columns, size)


def _without_halves(
    rows: Sequence[_Row], columns: list[tuple[float, float]], size: float
) -> list[tuple[float, float]]:
    """Neighbours that no row fills both are one: a centred head over figures set to the right."""
    filled = [
        {i for part in row.parts if (i := _column_of(part, columns)) is not None} for row in rows
    ]
    kept: list[tuple[float, float]] = []
    members: list[set[int]] = []
    for index, (left, right) in enumerate(columns):
        is_half = bool(kept) and left - kept[-1][1] < 4.0 * size and len(columns) > 2
        if is_half and not any(members[-1] & row and index in row for row in filled):
            kept[-1] = (kept[-1][0], right)
            members[-1].add(index)
        else:
            kept.append((left, right))
            members.append({index})
    return kept


def _column_of(words: Sequence[Word], columns: Sequence[tuple[float, float]]) -> int | None:
    """The one column that holds these words; None where they reach over a gutter."""
    left, right = words[0].box[0], words[-1].box[2]
    for index, (start, end) in enumerate(columns):
        limit = columns[index + 1][0] if index + 1 < len(columns) else end + 1.0
        if start - 1.0 <= left and right < limit:
            return index
    return None


def _by_column(rows: Sequence[_Row], columns: Sequence[tuple[float, float]]) -> list[list[Word]]:
    cells: list[list[Word]] = [[] for _ in columns]
    for row in rows:
        for part in row.parts:
            middle = (part[0].box[0] + part[-1].box[2]) / 2
            index = _column_of(part, columns)
            if index is None:
                index = min(range(len(columns)), key=lambda i: abs(sum(columns[i]) / 2 - middle))
            cells[index].extend(part)
    return cells


def _grouped(
    rows: Sequence[_Row], columns: Sequence[tuple[float, float]], fills: Sequence[Fill]
) -> list[list[_Row]]:
    """Lines to rows.

    A line goes on with the row above where it holds nothing in the first column, where it is a
    closely set line of one cell, or where both stand on one shaded ground. A line with numbers
    always begins a row.
    """
    steps = [b.baseline - a.baseline for a, b in pairwise(rows)]
    tight = 1.2 * min(steps, default=0.0)
    groups: list[list[_Row]] = []
    for index, row in enumerate(rows):
        has_first = any(part[0].box[0] <= columns[0][1] for part in row.parts)
        is_wrapped = len(row.parts) == 1 and index > 0 and steps[index - 1] <= tight
        goes_on = (
            is_wrapped
            or not has_first
            or (index > 0 and _share_ground(rows[index - 1], row, fills))
        )
        if groups and goes_on and not _has_number(row) and not _is_number(row.parts[0]):
            groups[-1].append(row)
        else:
            groups.append([row])
    return groups


def _share_ground(above: _Row, row: _Row, fills: Sequence[Fill]) -> bool:
    """Whether two lines stand on one filled area that is about as high as a row."""
    return any(
        fill.box[1] < _middle(above)
        and _middle(row) < fill.box[3]
        and fill.box[0] <= row.parts[0][0].box[0] <= fill.box[2]
        and fill.box[3] - fill.box[1] <= _MAX_GROUND * row.size
        and min(fill.colour[:3]) < 252
        for fill in fills
    )


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
