"""Words of a page as rows cut at wide gaps, and the columns that such rows have in common.

What finds tables without a frame is made of these: `text_rows` reads lines, `columns_of` tells
where gutters run through all of them, `grouped` puts wrapped lines together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from documents.ingestion.parsers.pdf.lookalikes import is_figure
from documents.ingestion.parsers.pdf.markers import opens_item
from documents.ingestion.parsers.pdf.page import Fill, Word

_GAP = 1.1  # of the type's size: wider than a blank in justified lines
_MIN_GAP = 7.0  # points
_GUTTER = 0.5  # of the type's size
_MAX_GROUND = 8.0  # of the type's size: a shaded area higher than this holds many rows


@dataclass(frozen=True, slots=True)
class TextRow:
    """Words on one base line, cut where a wide gap stands."""

    baseline: float
    size: float
    parts: tuple[tuple[Word, ...], ...]

    @property
    def words(self) -> list[Word]:
        """All words from left to right."""
        return [word for part in self.parts for word in part]


def text_rows(words: Iterable[Word]) -> list[TextRow]:
    """The rows of these words from the top."""
    lines: list[list[Word]] = []
    for word in sorted(words, key=lambda word: word.baseline):
        size = max(lines[-1][0].size, 1.0) if lines else 1.0
        if lines and word.baseline - lines[-1][0].baseline <= 0.35 * size:
            lines[-1].append(word)
        else:
            lines.append([word])
    return [_row(sorted(line, key=lambda word: word.box[0])) for line in lines]


def _row(words: list[Word]) -> TextRow:
    size = max(median(word.size for word in words), 1.0)
    parts: list[list[Word]] = [[words[0]]]
    for before, word in pairwise(words):
        is_apart = word.box[0] - before.box[2] > max(_GAP * size, _MIN_GAP)
        # The mark of a list item stands apart from its text but is no column.
        if is_apart and not _is_mark(parts[-1]):
            parts.append([])
        parts[-1].append(word)
    return TextRow(words[0].baseline, size, tuple(tuple(part) for part in parts))


def _is_mark(part: Sequence[Word]) -> bool:
    text = "".join(word.text for word in part)
    return len(text) <= 5 and not text.isdigit() and opens_item(f"{text} x")


def middle(row: TextRow) -> float:
    """The height at which letters of this row are full."""
    return row.baseline - 0.3 * row.size


def columns_of(rows: Sequence[TextRow]) -> list[tuple[float, float]]:
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
    rows: Sequence[TextRow], columns: list[tuple[float, float]], size: float
) -> list[tuple[float, float]]:
    """Neighbours that no row fills both are one: a centred head over figures set to the right."""
    filled = [
        {i for part in row.parts if (i := column_of(part, columns)) is not None} for row in rows
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


def column_of(words: Sequence[Word], columns: Sequence[tuple[float, float]]) -> int | None:
    """The one column that holds these words; None where they reach over a gutter."""
    left, right = words[0].box[0], words[-1].box[2]
    for index, (start, end) in enumerate(columns):
        limit = columns[index + 1][0] if index + 1 < len(columns) else end + 1.0
        if start - 1.0 <= left and right < limit:
            return index
    return None


def by_column(rows: Sequence[TextRow], columns: Sequence[tuple[float, float]]) -> list[list[Word]]:
    """The words of some rows by the column that they stand in."""
    cells: list[list[Word]] = [[] for _ in columns]
    for row in rows:
        for part in row.parts:
            middle = (part[0].box[0] + part[-1].box[2]) / 2
            index = column_of(part, columns)
            if index is None:
                index = min(range(len(columns)), key=lambda i: abs(sum(columns[i]) / 2 - middle))
            cells[index].extend(part)
    return cells


def grouped(
    rows: Sequence[TextRow], columns: Sequence[tuple[float, float]], fills: Sequence[Fill]
) -> list[list[TextRow]]:
    """Lines to rows.

    A line goes on with the row above where it holds nothing in the first column, where it is a
    closely set line of one cell, or where both stand on one shaded ground. A line with numbers
    always begins a row.
    """
    steps = [b.baseline - a.baseline for a, b in pairwise(rows)]
    tight = 1.2 * min(steps, default=0.0)
    groups: list[list[TextRow]] = []
    for index, row in enumerate(rows):
        has_first = any(part[0].box[0] <= columns[0][1] for part in row.parts)
        is_wrapped = len(row.parts) == 1 and index > 0 and steps[index - 1] <= tight
        goes_on = (
            is_wrapped
            or not has_first
            or (index > 0 and _share_ground(rows[index - 1], row, fills))
        )
        if groups and goes_on and not has_number(row) and not _is_number(row.parts[0]):
            groups[-1].append(row)
        else:
            groups.append([row])
    return groups


def _share_ground(above: TextRow, row: TextRow, fills: Sequence[Fill]) -> bool:
    """Whether two lines stand on one filled area that is about as high as a row."""
    return any(
        fill.box[1] < middle(above)
        and middle(row) < fill.box[3]
        and fill.box[0] <= row.parts[0][0].box[0] <= fill.box[2]
        and fill.box[3] - fill.box[1] <= _MAX_GROUND * row.size
        and min(fill.colour[:3]) < 252
        for fill in fills
    )


def has_number(row: TextRow) -> bool:
    """Whether a part after the first is a figure."""
    return any(_is_number(part) for part in row.parts[1:])


def _is_number(part: Sequence[Word]) -> bool:
    return is_figure(" ".join(word.text for word in part))


def texts_of(rows: Sequence[TextRow]) -> list[list[str]]:
    """The text of each part of each row."""
    return [[" ".join(word.text for word in part) for part in row.parts] for row in rows]
