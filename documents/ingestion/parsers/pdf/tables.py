"""The tables of one page, from drawn lines or, failing those, from aligned columns.

A grid counts as a table where at least two of its rows hold text in two cells or more; a frame
around a notice, a letterhead or a whole page does not. What is not found stays in the lines of
the page and loses nothing. A grid that cannot be understood is left there too and reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from documents.ingestion.parsers.pdf.aligned import aligned_tables
from documents.ingestion.parsers.pdf.grid import MAX_RULES, Grid, grids
from documents.ingestion.parsers.pdf.heads import with_headers
from documents.ingestion.parsers.pdf.page import Cell, PageContent, TableRegion, Word
from documents.ingestion.parsers.pdf.rowlines import with_row_lines
from documents.ingestion.parsers.pdf.underlines import without_underlines

_MOST = 0.9  # of the words in one cell: a page in a frame, not a table
_MAX_COLUMNS = 40


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
        held = _held(page, grid)
        if not _is_table(grid, held):
            continue
        table = _ruled(page, grid, held)
        if not all(grid.slots[i].is_whole for i in held) or len(grid.xs) > _MAX_COLUMNS:
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


def _held(page: PageContent, grid: Grid) -> dict[int, list[Word]]:
    """The words of each slot by its index."""
    held: dict[int, list[Word]] = {}
    for word in page.words:
        if word.rotation % 90:
            continue  # a stamp across the page is in no cell
        x, y = (word.box[0] + word.box[2]) / 2, (word.box[1] + word.box[3]) / 2
        index = grid.find(x, y)
        if index is not None:
            held.setdefault(index, []).append(word)
    return held


def _ruled(page: PageContent, grid: Grid, held: dict[int, list[Word]]) -> TableRegion | None:
    cells = [
        Cell(slot.row, slot.column, in_order(held.get(index, ())), slot.box, slot.row_span,
             slot.column_span)
        for index, slot in enumerate(grid.slots)
    ]  # fmt: skip
    table = with_row_lines(_compact(page.number, grid, _without_captions(cells)))
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
