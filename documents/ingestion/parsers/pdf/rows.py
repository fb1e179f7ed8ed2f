"""The rows of tables as paragraphs: `Header: value; Header2: value2`, each readable alone.

A table that goes on over a page keeps the heads of its first part: where the next part repeats
them they are dropped, and where it has none of its own they are used.
"""

from __future__ import annotations

from collections.abc import Sequence

from documents.ingestion.parsers.pdf.blocks import Paragraph, Piece
from documents.ingestion.parsers.pdf.heads import has_row_labels
from documents.ingestion.parsers.pdf.lines import make_line, read_lines, text_of
from documents.ingestion.parsers.pdf.page import Cell, Line, TableRegion
from documents.ingestion.parsers.pdf.weave import Weaver
from documents.records import BlockKind

_MAX_LABEL = 40  # words
_COLUMN_SHIFT = 12.0  # points that a column may move between two parts of a table


class TableRows:
    """Turns the tables of a document into rows, in order, remembering the heads of the last."""

    def __init__(self, weaver: Weaver) -> None:
        self._weaver = weaver
        self._last: TableRegion | None = None
        self._heads: list[str] = []
        self._head_rows = 0

    def rows(self, table: TableRegion, *, is_next: bool) -> list[Paragraph]:
        """The rows of a table; `is_next` when only page borders part it from the one before."""
        begun = self._begin(table, is_next=is_next)
        self._last = table
        has_labels = not self._heads and has_row_labels(table)
        rows = [self._row(table, row, has_labels=has_labels) for row in _with_spans(table)[begun:]]
        rows = [row for row in rows if row.pieces]
        if not rows and begun:
            rows = [self._row(table, row, has_heads=False) for row in table.rows[:begun]]
        elif begun and not is_next:
            rows[:0] = self._lost_heads(table, begun)
        return rows

    def _begin(self, table: TableRegion, *, is_next: bool) -> int:
        """How many rows are heads, and what they are called."""
        if is_next and self._heads and self._last and _same_columns(self._last, table):
            repeats = self._names(table, self._head_rows) == self._heads
            if repeats and len(table.rows) >= self._head_rows:
                return self._head_rows
            if not table.is_head_marked:
                return 0
        self._heads = self._names(table, table.header_rows)
        self._head_rows = table.header_rows
        return table.header_rows

    def _names(self, table: TableRegion, count: int) -> list[str]:
        """What each column is called; a head over several comes first: `Rate / Day`."""
        names: list[list[str]] = [[] for _ in range(table.columns)]
        for row in table.rows[:count]:
            for cell in row:
                text = cell_text(cell).rstrip(": ")
                for parts in names[cell.column : cell.column + cell.column_span]:
                    if text and text not in parts:
                        parts.append(text)
        return [" / ".join(parts) for parts in names] if count else []

    def _row(
        self,
        table: TableRegion,
        cells: Sequence[Cell],
        *,
        has_heads: bool = True,
        has_labels: bool = False,
    ) -> Paragraph:
        row = Paragraph(BlockKind.TABLE_ROW, table=table, is_tight=True)
        is_labelled = False  # whether a cell follows the label
        for cell in cells:
            if not cell.words:
                continue
            inside = self._cell(table.page, cell)
            row.lines.extend(inside.lines)
            row.cites.extend(inside.cites)
            if row.pieces and not row.pieces[-1].text.endswith((":", ";")):
                mark = ":" if has_labels and not is_labelled else ";"
                row.pieces.append(Piece(mark, None, table.page, has_blank=False))
            is_labelled = bool(row.pieces)
            is_whole = cell.column_span >= table.columns > 1
            name = self._head_of(cell) if has_heads and not is_whole else ""
            if name:
                row.pieces.append(Piece(f"{name}:", None, table.page))
            row.pieces.extend(inside.pieces)
        return row

    def _head_of(self, cell: Cell) -> str:
        return self._heads[cell.column] if cell.column < len(self._heads) else ""

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


def _with_spans(table: TableRegion) -> list[list[Cell]]:
    """The cells of each row with the labels from above that reach down over it."""
    rows: list[list[Cell]] = [[] for _ in table.rows]
    for row in table.rows:
        for cell in row:
            # A long text beside several rows is no label: it is said once.
            span = cell.row_span if len(cell.words) <= _MAX_LABEL else 1
            for index in range(cell.row, min(cell.row + span, len(rows))):
                rows[index].append(cell)
    return [sorted(row, key=lambda cell: cell.column) for row in rows]


def _same_columns(last: TableRegion, table: TableRegion) -> bool:
    """Whether a table has the columns of another, at the same places where they are drawn."""
    if last.columns != table.columns:
        return False
    if not (last.is_ruled and table.is_ruled):
        return True
    pairs = zip(_lefts(last), _lefts(table), strict=True)
    return all(abs(one - other) <= _COLUMN_SHIFT for one, other in pairs)


def _lefts(table: TableRegion) -> list[float]:
    """Where each column begins, counted from the table's left side."""
    lefts = [0.0] * table.columns
    for row in table.rows:
        for cell in row:
            lefts[cell.column] = cell.box[0] - table.box[0]
    return lefts


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
