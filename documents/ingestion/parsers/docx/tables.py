"""A table as lines that can each be read alone: `Header: value; Header2: value2`.

A cell that spans columns stands once, one that spans rows is repeated on each. A table that
only lays out a page is no table: its cells are read one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from documents.ingestion.parsers.docx.flow import cells, rows
from documents.ingestion.parsers.docx.markup import (
    Element,
    W,
    child,
    is_on,
    number,
    value,
)
from documents.ingestion.parsers.docx.styles import Style, shading

_MAX_COLUMNS = 500
_MAX_HEADER = 80  # characters of a cell that names a column
_MAX_REPEATED = 200  # characters of a cell that is repeated on each row that it spans
_MAX_HEADER_ROWS = 3
_LONG = 25
_FIGURE = re.compile(r"[^\w\s]{0,3}\s?(?:[A-Z]{1,3}\s?)?[^\w\s]?\d")
_CLAUSE_NUMBER = re.compile(r"\(?(?:\d{1,3}(?:\.\d{1,3})*|[A-Za-z]|[ivxIVX]{1,6})[.)]*\Z")
_COLUMN_PARAGRAPHS = 4


@dataclass(frozen=True, slots=True)
class CellText:
    """What a cell says, and whether all of it is bold."""

    text: str
    is_bold: bool


@dataclass(frozen=True, slots=True)
class _Cell:
    text: str
    is_bold: bool
    fill: str | None
    column: int
    span: int


@dataclass(frozen=True, slots=True)
class _Row:
    cells: tuple[_Cell, ...]
    is_header: bool

    @property
    def has_all_bold(self) -> bool:
        worded = [cell for cell in self.cells if cell.text]
        return bool(worded) and all(cell.is_bold for cell in worded)


@dataclass(frozen=True, slots=True)
class TableLine:
    """A line of a table; `is_clause` where a numbered clause was laid out in two cells."""

    text: str
    is_clause: bool = False


class Table:
    """The rows of one table, in the cells that remain when changes are accepted."""

    def __init__(self, element: Element, style: Style, seen: set[str]) -> None:
        self._style = style
        self._look = child(element, "tblPr", "tblLook")
        self.rows = [(row, list(cells(row, seen))) for row in rows(element, seen)]

    def is_layout(self, heading_level: Callable[[Element], int | None]) -> bool:
        """Whether the table only lays out text: one column, headings inside, long columns."""
        widths = [len(row_cells) for _, row_cells in self.rows]
        if max(widths, default=0) <= 1:
            return True
        for index, (_, row_cells) in enumerate(self.rows):
            for cell in row_cells:
                paragraphs = [p for p in cell.iterfind(W + "p") if _is_worded(p)]
                has_heading = any(heading_level(paragraph) for paragraph in paragraphs)
                if has_heading and (index > 0 or len(paragraphs) > 1):
                    return True
        worded = sum(_is_worded(p) for _, row in self.rows for c in row for p in c.iter(W + "p"))
        return len(self.rows) <= 2 and worded >= _COLUMN_PARAGRAPHS * sum(widths)

    def lines(self, read: Callable[[Element], CellText]) -> list[TableLine]:
        """One line a row; `read` gives the text of a cell and is called once for each."""
        read_rows = self._read_rows(read)
        width = max((c.column + c.span for row in read_rows for c in row.cells), default=0)
        titles = _count_titles(read_rows, width)
        body = read_rows[titles:]
        headers = self._count_headers(body)
        names = _names(body[:headers], width)
        lines = [TableLine(_plain(row)) for row in read_rows[:titles]]
        if headers == 0 and _is_clause_table(body):
            lines += [TableLine(" ".join(c.text for c in row.cells), True) for row in body]
        else:
            lines += _body_lines(body[:headers], body[headers:], names, width)
        return [line for line in lines if line.text.strip()]

    def _read_rows(self, read: Callable[[Element], CellText]) -> list[_Row]:
        found: list[_Row] = []
        open_spans: dict[int, _Cell] = {}
        for row, row_cells in self.rows:
            column = number(child(row, "trPr", "gridBefore")) or 0
            read_cells: list[_Cell] = []
            for element in row_cells:
                cell = _read_cell(element, read, min(column, _MAX_COLUMNS), open_spans)
                column += cell.span
                if value(child(element, "tcPr", "hMerge")) != "continue" or cell.text:
                    read_cells.append(cell)
            is_header = is_on(child(row, "trPr"), "tblHeader")
            found.append(_Row(tuple(read_cells), is_header))
        return [row for row in found if any(cell.text for cell in row.cells)]

    def _count_headers(self, body: Sequence[_Row]) -> int:
        """How many rows at the top name the columns."""
        marked = 0
        while marked < len(body) and body[marked].is_header:
            marked += 1
        if marked:
            are_short = all(
                len(cell.text) <= _MAX_REPEATED for row in body[:marked] for cell in row.cells
            )
            return min(marked, _MAX_HEADER_ROWS) if are_short and marked < len(body) else 0
        if len(body) < 2 or not _is_named(body[0]) or _figures(body[0]):
            return 0
        second = 1 if _is_second_header(body) else 0
        rest = body[1 + second :]
        return 1 + second if self._is_first_header(body[0], rest) else 0

    def _is_first_header(self, first: _Row, rest: Sequence[_Row]) -> bool:
        if self._is_styled():
            return True
        if first.has_all_bold != rest[0].has_all_bold:
            return first.has_all_bold
        fills = {cell.fill for cell in first.cells}
        if None not in fills and not fills & {cell.fill for cell in rest[0].cells}:
            return True
        if _has_bold_labels([first, *rest]):
            return False
        counted = sum(_figures(row) > 0 for row in rest)
        if 2 * counted >= len(rest) and _has_figure_column(rest):
            return True
        if self._looks_on() and (not self._marks_first_column() or _are_long(first, rest)):
            return True
        return len(first.cells) > 2 and self._looks_on() and all(c.text for c in first.cells)

    def _is_styled(self) -> bool:
        return self._style.has_first_row and self._looks_on()

    def _looks_on(self) -> bool:
        return self._look_says("firstRow", 0x20)

    def _marks_first_column(self) -> bool:
        return self._look_says("firstColumn", 0x80)

    def _look_says(self, name: str, bit: int) -> bool:
        said = value(self._look, name)
        if said is not None:
            return said not in ("0", "false", "off")
        mask = value(self._look) or ""
        return bool(re.fullmatch("[0-9A-Fa-f]{1,8}", mask)) and bool(int(mask, 16) & bit)


def _read_cell(
    element: Element,
    read: Callable[[Element], CellText],
    column: int,
    open_spans: dict[int, _Cell],
) -> _Cell:
    properties = child(element, "tcPr")
    span = min(max(number(child(properties, "gridSpan")) or 1, 1), _MAX_COLUMNS)
    merge = child(properties, "vMerge")
    above = open_spans.get(column)
    if merge is not None and value(merge) != "restart" and above is not None:
        text = above.text if len(above.text) <= _MAX_REPEATED else ""
        return _Cell(text, above.is_bold, above.fill, column, span)
    content = read(element)
    cell = _Cell(content.text, content.is_bold, shading(child(properties, "shd")), column, span)
    open_spans.pop(column, None)
    if merge is not None:
        open_spans[column] = cell
    return cell


def _is_worded(paragraph: Element) -> bool:
    return any(text.text and text.text.strip() for text in paragraph.iter(W + "t"))


def _is_named(row: _Row) -> bool:
    """Whether a row's cells could name columns: several, short, no sentences."""
    worded = [cell for cell in row.cells if cell.text]
    return len(worded) > 1 and all(
        len(cell.text) <= _MAX_HEADER and not cell.text.endswith((".", ";", "。", "；"))
        for cell in worded
    )


def _figures(row: _Row) -> int:
    return sum(_FIGURE.match(cell.text) is not None for cell in row.cells[1:])


def _is_second_header(body: Sequence[_Row]) -> bool:
    """Whether the second row divides the groups that the first one names."""
    has_groups = any(cell.span > 1 for cell in body[0].cells)
    return has_groups and len(body) > 2 and _is_named(body[1]) and not _figures(body[1])


def _has_figure_column(rest: Sequence[_Row]) -> bool:
    columns: dict[int, list[bool]] = {}
    for row in rest:
        for cell in row.cells:
            if cell.text:
                columns.setdefault(cell.column, []).append(_FIGURE.match(cell.text) is not None)
    return any(all(figures) for column, figures in columns.items() if column > 0)


def _are_long(first: _Row, rest: Sequence[_Row]) -> bool:
    """Whether the last column holds sentences below a word or two: `Duty` above what it is."""
    head = len(first.cells[-1].text)
    lengths = [len(row.cells[-1].text) for row in rest]
    return len(lengths) > 1 and min(lengths) >= max(_LONG, 2 * head)


def _has_bold_labels(body: Sequence[_Row]) -> bool:
    """Whether the first column is bold and the others are not: each row names its value."""
    return all(
        len(row.cells) == 2 and row.cells[0].is_bold and not row.cells[1].is_bold for row in body
    )


def _count_titles(found: Sequence[_Row], width: int) -> int:
    count = 0
    for row in found:
        if width < 2 or len(row.cells) != 1 or row.cells[0].span < width:
            break
        count += 1
    return count if count < len(found) else 0


def _names(headers: Sequence[_Row], width: int) -> list[str]:
    names: list[list[str]] = [[] for _ in range(min(width, _MAX_COLUMNS))]
    for row in headers:
        for cell in row.cells:
            for column in range(cell.column, min(cell.column + cell.span, len(names))):
                if cell.text and cell.text.rstrip(":") not in names[column]:
                    names[column].append(cell.text.rstrip(":： "))
    return [" / ".join(parts) for parts in names]


def _is_clause_table(body: Sequence[_Row]) -> bool:
    """Whether clauses stand in the second column and their numbers in the first."""
    numbered = [
        row
        for row in body
        if len(row.cells) == 2
        and _CLAUSE_NUMBER.match(row.cells[0].text)
        and len(row.cells[1].text) > len(row.cells[0].text)
    ]
    words = sum(len(row.cells[1].text) for row in numbered)
    return 2 * len(numbered) > len(body) and words >= 40 * len(numbered)


def _body_lines(
    headers: Sequence[_Row], body: Sequence[_Row], names: Sequence[str], width: int
) -> list[TableLine]:
    has_labels = not headers and bool(body) and _has_bold_labels(body)
    lines = [TableLine(_labelled(row) if has_labels else _line(row, names, width)) for row in body]
    shown = {column for row in body for c in row.cells if c.text for column in _columns(c)}
    is_lost = any(name and column not in shown for column, name in enumerate(names))
    return [TableLine(_plain(row)) for row in headers if is_lost] + lines


def _columns(cell: _Cell) -> range:
    return range(cell.column, cell.column + cell.span)


def _line(row: _Row, names: Sequence[str], width: int) -> str:
    pairs = []
    for cell in row.cells:
        if not cell.text:
            continue
        spanned = [names[column] for column in _columns(cell) if column < len(names)]
        name = " / ".join(dict.fromkeys(part for part in spanned if part))[:_MAX_REPEATED]
        is_whole = cell.span >= width > 1
        pairs.append(f"{name}: {cell.text}" if name and not is_whole else cell.text)
    return "; ".join(pairs)


def _labelled(row: _Row) -> str:
    label, text = (cell.text for cell in row.cells)
    return f"{label.rstrip(':： ')}: {text}" if label and text else label or text


def _plain(row: _Row) -> str:
    return "; ".join(cell.text for cell in row.cells if cell.text)
