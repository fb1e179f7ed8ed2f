"""The tables of one page, from drawn lines or, failing those, from aligned columns.

A grid counts as a table where at least two of its rows hold text in two cells or more; a frame
around a notice, a letterhead or a whole page does not. What is not found stays in the lines of
the page and loses nothing. A grid that cannot be understood is left there too and reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from documents.ingestion.parsers.pdf.aligned import aligned_tables
from documents.ingestion.parsers.pdf.grid import MAX_RULES, Grid, grids
from documents.ingestion.parsers.pdf.lookalikes import is_amount, is_figure
from documents.ingestion.parsers.pdf.page import Cell, Colour, Fill, PageContent, TableRegion, Word
from documents.ingestion.parsers.pdf.underlines import without_underlines

_MOST = 0.9  # of the words in one cell: a page in a frame, not a table
_MAX_COLUMNS = 40
_BOLD = 0.8  # of the letters of a cell
_MAX_HEADER_WORDS = 30
_MAX_PLAIN_HEADER_WORDS = 12  # of a header cell that no weight or ground marks
_ENDS = re.compile(r"[:;]$|\w{4,}\.$")  # unlike an abbreviation, as in `Dist. Sys.`


@dataclass(frozen=True, slots=True)
class PageTables:
    """The tables of a page from the top; `is_lost` where one could not be understood."""

    tables: tuple[TableRegion, ...] = ()
    is_lost: bool = False


def find_tables(page: PageContent) -> list[TableRegion]:
    """The tables of a page from the top, with all of their words."""
    return list(read_tables(page).tables)


def read_tables(page: PageContent) -> PageTables:
    """The tables of a page, and whether one was lost.

    Give it the page with its visible words alone. Words of a table stand in no other table.
    """
    ruled, is_lost = [], len(page.rules) > MAX_RULES
    for grid in grids(without_underlines(page.rules, page.words)):
        table = _ruled(page, grid)
        if table and table.columns > _MAX_COLUMNS:
            is_lost = True
        elif table:
            ruled.append(table)
    ruled = _outermost(ruled)
    rest = _outside(page.words, ruled)
    loose = [with_headers(table, page.fills) for table in aligned_tables(replace(page, words=rest))]
    tables = sorted((*ruled, *loose), key=lambda table: table.box[1])
    return PageTables(tuple(tables), is_lost)


def words_of(table: TableRegion) -> list[Word]:
    """All words of a table, row by row."""
    return [word for row in table.rows for cell in row for word in cell.words]


def _outside(words: Iterable[Word], tables: Iterable[TableRegion]) -> tuple[Word, ...]:
    taken = {id(word) for table in tables for word in words_of(table)}
    return tuple(word for word in words if id(word) not in taken)


def _outermost(tables: list[TableRegion]) -> list[TableRegion]:
    """Without tables whose words another one holds already: a small grid inside a cell."""
    kept: list[TableRegion] = []
    taken: set[int] = set()
    for table in sorted(tables, key=lambda table: -len(words_of(table))):
        mine = {id(word) for word in words_of(table)}
        if not mine & taken:
            kept.append(table)
            taken |= mine
    return kept


def _ruled(page: PageContent, grid: Grid) -> TableRegion | None:
    held: dict[int, list[Word]] = {}
    for word in page.words:
        if word.rotation % 90:
            continue  # a stamp across the page is in no cell
        x, y = (word.box[0] + word.box[2]) / 2, (word.box[1] + word.box[3]) / 2
        index = grid.find(x, y)
        if index is not None:
            held.setdefault(index, []).append(word)
    if not _is_table(grid, held):
        return None
    cells = [
        Cell(slot.row, slot.column, in_order(held.get(index, ())), slot.box, slot.row_span,
             slot.column_span)
        for index, slot in enumerate(grid.slots)
    ]  # fmt: skip
    table = _compact(page.number, grid, _without_captions(cells))
    return with_headers(table, page.fills) if len(table.rows) > 1 and table.columns > 1 else None


def _without_captions(cells: Sequence[Cell]) -> list[Cell]:
    """Without the rows at the top and the end that are one wide cell: title and source.

    Their words then are lines of the page, as those of a title that stands outside the frame.
    """
    rows: dict[int, list[Cell]] = {}
    for cell in cells:
        if cell.words:
            rows.setdefault(cell.row, []).append(cell)
    columns = {cell.column for row in rows.values() if len(row) > 1 for cell in row}
    order = sorted(rows)
    for ends in (order, order[::-1]):
        for row in ends:
            only = rows.get(row, ())
            if len(only) != 1 or only[0].row_span > 1 or not _is_wide(only[0], columns):
                break
            del rows[row]
    return [cell for cell in cells if cell.row in rows]


def _is_wide(cell: Cell, columns: set[int]) -> bool:
    """Whether a cell reaches over all columns that other rows use, and more than one."""
    held = sum(cell.column <= column < cell.column + cell.column_span for column in columns)
    return cell.column_span > 1 and held == len(columns)


def _is_table(grid: Grid, held: dict[int, list[Word]]) -> bool:
    rows: dict[int, int] = {}
    for index in held:
        slot = grid.slots[index]
        for row in range(slot.row, slot.row + slot.row_span):
            rows[row] = rows.get(row, 0) + 1
    words = sum(len(found) for found in held.values())
    largest = max((len(found) for found in held.values()), default=0)
    full = {grid.slots[index].row for index in held if rows[grid.slots[index].row] >= 2}
    return len(full) >= 2 and largest <= _MOST * words


def _compact(page: int, grid: Grid, cells: Sequence[Cell]) -> TableRegion:
    """The table without rows and columns in which no cell with text begins."""
    row_of = _renumbered({cell.row for cell in cells if cell.words})
    column_of = _renumbered({cell.column for cell in cells if cell.words})
    rows: list[list[Cell]] = [[] for _ in row_of]
    for cell in cells:
        if cell.row in row_of and cell.column in column_of:
            down = sum(cell.row <= row < cell.row + cell.row_span for row in row_of)
            along = sum(
                cell.column <= column < cell.column + cell.column_span for column in column_of
            )
            rows[row_of[cell.row]].append(
                replace(
                    cell, row=row_of[cell.row], column=column_of[cell.column], row_span=down,
                    column_span=along,
                )
            )  # fmt: skip
    ordered = tuple(tuple(sorted(row, key=lambda cell: cell.column)) for row in rows)
    return TableRegion(page, grid.box, ordered, len(column_of))


def _renumbered(used: set[int]) -> dict[int, int]:
    return {old: new for new, old in enumerate(sorted(used))}


def in_order(words: Iterable[Word]) -> tuple[Word, ...]:
    """The words of a cell line by line; turned words as they stand in the file."""
    upright = [word for word in words if word.rotation == 0 and not word.is_vertical]
    turned = [word for word in words if word.rotation != 0 or word.is_vertical]
    lines: list[list[Word]] = []
    for word in sorted(upright, key=lambda word: word.baseline):
        if lines and word.baseline - lines[-1][0].baseline <= 0.45 * max(lines[-1][0].size, 1.0):
            lines[-1].append(word)
        else:
            lines.append([word])
    ordered = [word for line in lines for word in sorted(line, key=lambda word: word.box[0])]
    return (*ordered, *turned)


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
        longest <= _MAX_PLAIN_HEADER_WORDS and (_names_numbers(table) or _names_columns(table))
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
