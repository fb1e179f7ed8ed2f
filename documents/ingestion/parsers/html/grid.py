"""A table's cells on their grid, as lines that can each be read alone.

`Header: value; Header2: value2`. A value over several columns stands once, under all their
names; a label over several rows is repeated on each, since a row is quoted alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_MAX_COLUMNS = 1_000
_MAX_REPEATED = 200  # characters of a label that is worth repeating
_WHOLE = 65_534  # the largest row span that HTML knows; 0 means the rest of the table
_NUMBER = re.compile(r"[\d\s.,:%€$£¥+\-–/()]+\Z")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as written."""

    text: str
    is_header: bool = False
    columns: int = 1
    rows: int = 1
    is_bold: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A row as written."""

    cells: tuple[Cell, ...]
    is_head: bool = False  # it stands in `thead`


@dataclass(frozen=True, slots=True)
class _Placed:
    cell: Cell
    first: int
    is_repeated: bool
    reaches: bool = False  # into the row below

    @property
    def columns(self) -> range:
        return range(self.first, self.first + self.cell.columns)


def table_lines(rows: Sequence[Row]) -> list[str]:
    """One line a row, empty cells left out; the heads stand first where no row shows them."""
    placed = _placed(rows)
    titles = _title_count(placed)
    lines = [_plain(row) for row in placed[:titles]]
    return [line for line in (*lines, *_body_lines(rows[titles:], placed[titles:])) if line]


def _title_count(placed: Sequence[Sequence[_Placed]]) -> int:
    """How many rows at the top hold one cell over the whole width: titles, not heads."""
    width = max((_width(row) for row in placed), default=0)
    count = 0
    for row in placed[:-1]:
        if len(row) != 1 or width < 2 or len(row[0].columns) < width:
            break
        count += 1
    return count


def _body_lines(rows: Sequence[Row], placed: Sequence[Sequence[_Placed]]) -> list[str]:
    heads = _head_count(rows, placed)
    names = _names(placed[:heads])
    shown: set[int] = set()
    lines = []
    for index, row in enumerate(placed[heads:], start=heads):
        if _is_label_only(row, is_last=index == len(placed) - 1):
            continue
        shown.update(column for item in row if item.cell.text for column in item.columns)
        lines.append(_line(row, names))
    if heads and any(column not in shown for column in names):
        lines[:0] = [_plain(row) for row in placed[:heads]]
    return lines


def _placed(rows: Sequence[Row]) -> list[list[_Placed]]:
    """Each row with the cells that reach into it from above."""
    reaching: dict[int, tuple[Cell, int]] = {}  # first column: cell, rows that are left
    result = []
    for row in rows:
        placed = [_Placed(cell, first, True) for first, (cell, _) in reaching.items()]
        taken = {column for item in placed for column in item.columns}
        reaching = {first: (cell, left - 1) for first, (cell, left) in reaching.items() if left > 1}
        column = 0
        for cell in row.cells:
            while column in taken:
                column += 1
            reaches = cell.rows != 1 and column < _MAX_COLUMNS
            placed.append(_Placed(cell, column, False, reaches))
            if reaches:
                reaching[column] = (cell, (cell.rows or _WHOLE) - 1)
            column += min(cell.columns, max(_MAX_COLUMNS - column, 1))
        result.append(sorted(placed, key=lambda item: item.first))
    return result


def _head_count(rows: Sequence[Row], placed: Sequence[Sequence[_Placed]]) -> int:
    """How many rows at the top name the columns."""
    count = 0
    for row, items in zip(rows, placed, strict=True):
        is_all_headers = bool(row.cells) and all(item.cell.is_header for item in items)
        is_short = count > 0 and _width(items) < _width(placed[0])
        if not row.is_head and (not is_all_headers or is_short):
            break
        count += 1
    if count == len(rows):
        return 1 if len(rows) > 1 and not rows[0].is_head else count
    if not count and _is_bold_head(rows):
        return 1
    return count


def _width(items: Sequence[_Placed]) -> int:
    return sum(len(item.columns) for item in items)


def _is_bold_head(rows: Sequence[Row]) -> bool:
    first, *others = rows
    return (
        len(others) > 0
        and len(first.cells) > 1
        and all(cell.is_bold and not _NUMBER.match(cell.text) for cell in first.cells if cell.text)
        and sum(bool(cell.text) for cell in first.cells) > 1
        and not any(all(cell.is_bold for cell in row.cells if cell.text) for row in others)
    )


def _names(heads: Sequence[Sequence[_Placed]]) -> dict[int, str]:
    names: dict[int, list[str]] = {}
    for row in heads:
        for item in row:
            for column in item.columns:
                parts = names.setdefault(column, [])
                if item.cell.text and item.cell.text not in parts:
                    parts.append(item.cell.text)
    return {column: " / ".join(parts) for column, parts in names.items() if parts}


def _is_label_only(row: Sequence[_Placed], *, is_last: bool) -> bool:
    """A row of nothing but labels that the next rows repeat."""
    return (
        not is_last
        and all(item.reaches or item.is_repeated or not item.cell.text for item in row)
        and any(not item.is_repeated for item in row)
    )


def _line(row: Sequence[_Placed], names: dict[int, str]) -> str:
    pairs: list[str] = []
    label = ""
    for item in row:
        text = item.cell.text
        if not text or (item.is_repeated and len(text) > _MAX_REPEATED):
            continue
        name = ", ".join(dict.fromkeys(names[c] for c in item.columns if c in names))
        if len(row) == 1 and len(item.columns) >= max(len(names), 2):
            name = ""  # a title over the whole width
        is_label = item.cell.is_header or text.endswith((":", "："))
        if not names and is_label and not label and not pairs:
            label = text
        else:
            pairs.append(f"{name.rstrip(':：')}: {text}" if name else text)
    if label:
        return f"{label.rstrip(':：')}: {'; '.join(pairs)}" if pairs else label
    return "; ".join(pairs)


def _plain(row: Sequence[_Placed]) -> str:
    return "; ".join(item.cell.text for item in row if item.cell.text and not item.is_repeated)
