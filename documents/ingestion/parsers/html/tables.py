"""Tables of a page: which are tables of facts, and their rows as cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from documents.ingestion.parsers.html.grid import Cell, Row, table_lines
from documents.ingestion.parsers.html.looks import Looks
from documents.ingestion.parsers.html.tree import Element, descendants, names

_HEADINGS = names("h1 h2 h3 h4 h5 h6")
_LAYOUT_ROLES = names("presentation none")
_MAX_SPAN = 1_000


@dataclass(frozen=True, slots=True)
class Table:
    """A table of facts as text."""

    caption: str
    lines: tuple[str, ...]


def read_table(
    element: Element, text_of_cell: Callable[[Element], str], looks: Looks
) -> Table | None:
    """A table's caption and rows; None where the table only lays the page out."""
    rows = list(_rows(element, looks))
    if _is_layout(element, rows):
        return None
    captions = [child for child in element.elements() if child.tag == "caption"]
    caption = " ".join(text_of_cell(child) for child in captions if child not in looks.hidden)
    read = [_row(row, cells, text_of_cell) for row, cells in rows]
    return Table(caption, tuple(table_lines(read)))


def _rows(table: Element, looks: Looks) -> Iterator[tuple[Element, list[Element]]]:
    """The table's own rows with their cells, those of `tfoot` last."""
    groups = [child for child in table.elements() if child not in looks.hidden]
    groups.sort(key=lambda group: group.tag == "tfoot")
    for group in groups:
        rows = [group] if group.tag == "tr" else list(group.elements())
        for row in rows:
            cells = [cell for cell in row.elements() if cell.tag in ("td", "th")]
            if row.tag == "tr" and row not in looks.hidden and cells:
                yield row, cells


def _is_layout(table: Element, rows: list[tuple[Element, list[Element]]]) -> bool:
    if table.get("role").lower() in _LAYOUT_ROLES or not rows:
        return True
    is_marked = any(child.tag == "caption" for child in table.elements()) or any(
        cell.tag == "th" for _, cells in rows for cell in cells
    )
    if is_marked:
        return False
    if max(len(cells) for _, cells in rows) == 1:
        return True
    return any(
        inner.tag in _HEADINGS or inner.tag == "table"
        for _, cells in rows
        for cell in cells
        for inner in descendants(cell)
    )


def _row(row: Element, cells: list[Element], text_of_cell: Callable[[Element], str]) -> Row:
    is_head = row.parent is not None and row.parent.tag == "thead"
    return Row(tuple(_cell(cell, text_of_cell) for cell in cells), is_head)


def _cell(cell: Element, text_of_cell: Callable[[Element], str]) -> Cell:
    return Cell(
        text=text_of_cell(cell),
        is_header=cell.tag == "th",
        columns=max(_span(cell.get("colspan")), 1),
        rows=_span(cell.get("rowspan")),
        is_bold=_is_bold(cell),
    )


def _span(value: str) -> int:
    match = re.match(r"\s*(\d{1,6})", value)
    return min(int(match[1]), _MAX_SPAN) if match else 1


def _is_bold(cell: Element) -> bool:
    """Whether all of a cell's text is bold."""
    pending: list[Element] = [cell]
    found = False
    while pending:
        element = pending.pop()
        if element.tag in ("b", "strong"):
            found = True
            continue
        if any(isinstance(child, str) and child.strip() for child in element.children):
            return False
        pending += element.elements()
    return found
