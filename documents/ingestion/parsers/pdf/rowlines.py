"""Rows that no line parts: a listing in a frame whose columns alone are drawn.

Lines of text in one cell are usually one wrapped text. Where a column holds a figure on each of
three lines or more and another column has as many, each such line begins a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from documents.ingestion.parsers.pdf.heads import text_of
from documents.ingestion.parsers.pdf.lookalikes import is_figure
from documents.ingestion.parsers.pdf.page import Cell, TableRegion, Word

_MIN_LINES = 3
_FIGURES = 0.8  # of a column's lines


def with_row_lines(table: TableRegion) -> TableRegion:
    """The table with such rows cut at the lines of their column of figures."""
    rows: list[tuple[Cell, ...]] = []
    for row in table.rows:
        starts = _starts(row)
        for index in range(max(len(starts), 1)):
            cells = [_part(cell, starts, index) for cell in row] if starts else row
            rows.append(tuple(replace(cell, row=len(rows)) for cell in cells))
    return replace(table, rows=tuple(rows)) if len(rows) > len(table.rows) else table


def _starts(row: Sequence[Cell]) -> list[float]:
    """Where the rows inside this row begin, none where it is one."""
    if any(cell.row_span > 1 for cell in row):
        return []
    columns = [lines for cell in row if len(lines := _lines(cell)) >= _MIN_LINES]
    listed = [
        lines
        for lines in columns
        if sum(is_figure(text_of(line)) for line in lines) >= _FIGURES * len(lines)
    ]
    if len(columns) < 2 or not listed:
        return []
    longest = max(listed, key=len)
    return [line[0].baseline - 0.6 * line[0].size for line in longest]


def _lines(cell: Cell) -> list[list[Word]]:
    lines: list[list[Word]] = []
    for word in cell.words:
        if word.rotation:
            return []
        if lines and abs(word.baseline - lines[-1][-1].baseline) <= 0.45 * max(word.size, 1.0):
            lines[-1].append(word)
        else:
            lines.append([word])
    return lines


def _part(cell: Cell, starts: Sequence[float], index: int) -> Cell:
    top = starts[index] if index else float("-inf")
    bottom = starts[index + 1] if index + 1 < len(starts) else float("inf")
    words = tuple(word for word in cell.words if top <= word.baseline < bottom)
    left, high, right, low = cell.box
    return replace(cell, words=words, box=(left, max(top, high), right, min(bottom, low)))
