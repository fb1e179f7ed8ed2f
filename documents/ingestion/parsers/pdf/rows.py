"""The rows of tables as paragraphs: `Header: value; Header2: value2`, each readable alone.

A table that goes on over a page keeps the heads of its first part: where the next part repeats
them they are dropped, and where it has none of its own they are used.
"""

from __future__ import annotations

from collections.abc import Sequence

from documents.ingestion.parsers.pdf.blocks import Paragraph, Piece
from documents.ingestion.parsers.pdf.lines import make_line, read_lines, text_of
from documents.ingestion.parsers.pdf.page import Cell, Line, TableRegion
from documents.ingestion.parsers.pdf.weave import Weaver
from documents.records import BlockKind

_COLUMN_SHIFT = 6.0  # points that a column may move between two parts of a table


class TableRows:
    """Turns the tables of a document into rows, in order, remembering the heads of the last."""

    def __init__(self, weaver: Weaver) -> None:
        self._weaver = weaver
        self._last: TableRegion | None = None
        self._heads: list[str] = []

    def rows(self, table: TableRegion, *, is_next: bool) -> list[Paragraph]:
        """The rows of a table; `is_next` when only page borders part it from the one before."""
        begun = self._begin(table, is_next=is_next)
        self._last = table
        rows = [self._row(table, row) for row in table.rows[begun:]]
        rows = [row for row in rows if row.pieces]
        if not rows and begun:
            rows = [self._row(table, row, has_heads=False) for row in table.rows[:begun]]
        elif begun and not is_next:
            rows[:0] = self._lost_heads(table, begun)
        return rows

    def _begin(self, table: TableRegion, *, is_next: bool) -> int:
        """How many rows are heads, and what they are called."""
        goes_on = is_next and self._last is not None and self._last.columns == table.columns
        heads = self._names(table, table.header_rows)
        if goes_on and self._heads:
            own = self._names(table, 1)
            if own == self._heads:
                return 1
            if table.header_rows == 0 or heads == self._heads:
                return table.header_rows
        self._heads = heads
        return table.header_rows

    def _names(self, table: TableRegion, count: int) -> list[str]:
        names = [""] * table.columns
        for row in table.rows[:count]:
            for cell in row:
                text = cell_text(cell)
                for column in range(
                    cell.column, min(cell.column + cell.column_span, table.columns)
                ):
                    if text and text not in names[column]:
                        names[column] = f"{names[column]} {text}".strip()
        return names if count else []

    def _row(
        self, table: TableRegion, cells: Sequence[Cell], *, has_heads: bool = True
    ) -> Paragraph:
        row = Paragraph(BlockKind.TABLE_ROW, table=table, is_tight=True)
        for cell in cells:
            if not cell.words:
                continue
            inside = self._cell(table.page, cell)
            row.lines.extend(inside.lines)
            row.cites.extend(inside.cites)
            if row.pieces:
                row.pieces.append(Piece(";", None, table.page, has_blank=False))
            name = self._head_of(cell) if has_heads else ""
            if name:
                row.pieces.append(Piece(f"{name}:", None, table.page))
            row.pieces.extend(inside.pieces)
        return row

    def _head_of(self, cell: Cell) -> str:
        names = self._heads[cell.column : cell.column + cell.column_span]
        return names[0].rstrip(":") if names else ""

    def _cell(self, page: int, cell: Cell) -> Paragraph:
        inside = Paragraph(lines=[(page, line) for line in cell_lines(cell)])
        self._weaver.weave(inside)
        return inside

    def _lost_heads(self, table: TableRegion, count: int) -> list[Paragraph]:
        """Heads over columns that no row fills would be lost: they get a row of their own."""
        filled = {
            column
            for row in table.rows[count:]
            for cell in row
            if cell.words
            for column in range(cell.column, cell.column + cell.column_span)
        }
        lost = any(name and column not in filled for column, name in enumerate(self._heads))
        if not lost:
            return []
        return [self._row(table, row, has_heads=False) for row in table.rows[:count]]


def cell_lines(cell: Cell) -> list[Line]:
    """The lines of a cell from the top."""
    upright = [word for word in cell.words if word.rotation == 0]
    turned = [word for word in cell.words if word.rotation != 0]
    lines = read_lines(upright)
    if turned:
        lines.append(make_line(turned))
    return lines


def cell_text(cell: Cell) -> str:
    """The words of a cell."""
    return " ".join(text_of(line) for line in cell_lines(cell))
