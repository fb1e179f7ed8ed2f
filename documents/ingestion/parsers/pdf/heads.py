"""Which rows of a table name its columns, and whether its first column names the rows.

Weight, ground and tags speak first. Without them words over figures are heads, and so are three
short names or more; two columns of words are not enough, since they may be names and values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from documents.ingestion.parsers.pdf.lookalikes import is_amount, is_figure
from documents.ingestion.parsers.pdf.page import Cell, Colour, Fill, TableRegion, Word

_BOLD = 0.8  # of the letters of a cell
_MAX_HEADER_WORDS = 30
_MAX_PLAIN_HEADER_WORDS = 12  # of a header cell that no weight or ground marks
_ENDS = re.compile(r"[:;]$|\w{4,}\.$")  # unlike an abbreviation, as in `Dist. Sys.`


def with_headers(table: TableRegion, fills: Sequence[Fill]) -> TableRegion:
    """The table with the number of rows that name its columns."""
    count = _header_rows(table, fills)
    is_marked = count > 0 and _is_marked_apart(table.rows, fills)
    return replace(table, header_rows=count, is_head_marked=is_marked)


def _header_rows(table: TableRegion, fills: Sequence[Fill]) -> int:
    rows = table.rows
    first = _texts(rows[0]) if rows else []
    if (
        len(rows) < 2
        or table.columns < 2
        or len(first) < 2
        or any(is_amount(text_of(cell.words)) for cell in first)
    ):
        return 0
    longest = max(len(cell.words) for cell in first)
    is_header = (_is_marked_apart(rows, fills) and longest <= _MAX_HEADER_WORDS) or (
        not has_row_labels(table)
        and longest <= _MAX_PLAIN_HEADER_WORDS
        and (_names_numbers(table) or _names_columns(table))
    )
    if not is_header:
        return 0
    count = max(cell.row_span for cell in first)
    is_parted = any(cell.column_span > 1 for cell in first) or len(first) < table.columns
    while count < min(len(rows) - 1, 4) and is_parted and _goes_on(rows, count, fills):
        count += 1
    return count if count < len(rows) else 0


def _goes_on(rows: Sequence[Sequence[Cell]], index: int, fills: Sequence[Fill]) -> bool:
    """Whether a row is part of a header that has begun above it."""
    if not _is_naming(rows[index]):
        return False
    if all(_is_bold(cell) for cell in _texts(rows[0])):
        return all(_is_bold(cell) for cell in _texts(rows[index]))
    grounds = {_ground(cell, fills) for row in (rows[0], rows[index]) for cell in _texts(row)}
    has_one_ground = len(grounds) == 1 and grounds != {None}
    return index == 1 and (has_one_ground or any(cell.column_span > 1 for cell in rows[0]))


def _texts(row: Sequence[Cell]) -> list[Cell]:
    return [cell for cell in row if cell.words]


def _is_marked_apart(rows: Sequence[Sequence[Cell]], fills: Sequence[Fill]) -> bool:
    """Whether the first row is bold, tagged or shaded and most of the others are not so."""
    tests: tuple[Callable[[Cell], object], ...] = (
        _is_bold,
        lambda cell: all(word.tag == "TH" for word in cell.words),
        lambda cell: _ground(cell, fills),
    )
    for test in tests:
        marks = [{test(cell) for cell in _texts(row)} for row in rows]
        first = marks[0]
        if len(first) == 1 and first != {False} and first != {None}:
            alike = sum(mark == first for mark in marks[1:])
            if alike <= 0.5 * len(marks[1:]):
                return True
    return False


def _is_bold(cell: Cell) -> bool:
    letters = sum(len(word.text) for word in cell.words)
    bold = sum(len(word.text) for word in cell.words if word.font.is_bold)
    return bold >= _BOLD * letters > 0


def _ground(cell: Cell, fills: Sequence[Fill]) -> Colour | None:
    """The colour of the ground that a cell's text stands on, None for white or a whole page's."""
    left, top, right, bottom = cell.words[0].box
    x, y = (left + right) / 2, (top + bottom) / 2
    found = None
    for fill in fills:
        if (
            fill.order < cell.words[0].order
            and fill.box[0] <= x <= fill.box[2]
            and fill.box[1] <= y <= fill.box[3]
            and fill.box[3] - fill.box[1] <= 1.6 * (cell.box[3] - cell.box[1])
        ):
            found = fill.colour
    return found if found and min(found[:3]) < 250 and found[3] > 40 else None


def _names_numbers(table: TableRegion) -> bool:
    """Whether a column of numbers has a word at its head."""
    if not _is_naming(table.rows[0]):
        return False
    for head in _texts(table.rows[0]):
        if head.column == 0:
            continue
        below = [
            text_of(cell.words) for row in table.rows[1:] for cell in _texts(row)
            if cell.column == head.column
        ]  # fmt: skip
        numbers = sum(is_figure(text) for text in below)
        if len(below) >= 2 and numbers >= 0.6 * len(below):
            return True
    return False


def _names_columns(table: TableRegion) -> bool:
    """Whether a first row of three short names or more stands over fuller rows."""
    first = _texts(table.rows[0])
    if len(first) < max(3, table.columns) or not _is_naming(table.rows[0]):
        return False
    longest = max(len(cell.words) for cell in first)
    if len(table.rows) == 2:
        return longest <= 4 and all(len(cell.words) > 2 * longest for cell in table.rows[1])
    return longest <= 6


def _is_naming(row: Sequence[Cell]) -> bool:
    texts = [text_of(cell.words) for cell in _texts(row)]
    return bool(texts) and not any(is_figure(text) or _ENDS.search(text) for text in texts)


def text_of(words: Sequence[Word]) -> str:
    """The words of a cell with a blank where one stands or a new line begins."""
    parts: list[str] = []
    for index, word in enumerate(words):
        if index and needs_blank(words[index - 1], word):
            parts.append(" ")
        parts.append(word.text)
    return "".join(parts)


def needs_blank(before: Word, after: Word) -> bool:
    """Whether a blank stands between two words of a cell."""
    is_new_line = abs(after.baseline - before.baseline) > 0.45 * max(before.size, after.size, 1.0)
    if before.text[-1] > "\u2e80" and after.text[0] > "\u2e80":
        return not is_new_line and after.blank_before
    return after.blank_before or is_new_line


def has_row_labels(table: TableRegion) -> bool:
    """Whether the first column names the rows: bold there or ended by a colon, not elsewhere."""
    pairs = [
        (row[0], [cell for cell in row[1:] if cell.words])
        for row in table.rows
        if row and row[0].column == 0 and row[0].words
    ]
    pairs = [(label, rest) for label, rest in pairs if rest]
    return len(pairs) > 1 and all(
        (_is_bold(label) or label.words[-1].text.endswith(":"))
        and not any(_is_bold(cell) for cell in rest)
        for label, rest in pairs
    )
