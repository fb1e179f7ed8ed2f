"""A table as lines of text that can each be read alone: `Header: value; Header2: value2`."""

from __future__ import annotations


class TableText:
    """Collects cells; rows of header cells give the names of the columns."""

    def __init__(self) -> None:
        self._headers: list[str] = []
        self._rows: list[list[str]] = []
        self._row: list[str] = []
        self._row_is_header = True
        self._cell: list[str] | None = None

    @property
    def in_cell(self) -> bool:
        """Whether text now belongs to a cell."""
        return self._cell is not None

    def start_cell(self, *, is_header: bool) -> None:
        """Open a cell; one left open is closed."""
        self.end_cell()
        self._cell = []
        self._row_is_header = self._row_is_header and is_header

    def text(self, text: str) -> None:
        """Add text to the open cell."""
        if self._cell is not None:
            self._cell.append(text)

    def end_cell(self) -> None:
        """Close the open cell, if there is one."""
        if self._cell is not None:
            self._row.append(" ".join("".join(self._cell).split()))
            self._cell = None

    def end_row(self) -> None:
        """Close the row. The first row of header cells alone names the columns."""
        self.end_cell()
        if not self._row:
            return
        if self._row_is_header and not self._headers and not self._rows:
            self._headers = self._row
        else:
            self._rows.append(self._row)
        self._row = []
        self._row_is_header = True

    def lines(self) -> list[str]:
        """One line a row, empty cells left out.

        A header that no row shows would be lost, so the headers then stand on a line of
        their own first.
        """
        self.end_row()
        shown: set[int] = set()
        lines = []
        for row in self._rows:
            shown.update(index for index, value in enumerate(row) if value)
            lines.append(self._line(row))
        if any(name and index not in shown for index, name in enumerate(self._headers)):
            lines.insert(0, "; ".join(name for name in self._headers if name))
        return [line for line in lines if line]

    def _line(self, row: list[str]) -> str:
        pairs = []
        for index, value in enumerate(row):
            name = self._headers[index] if index < len(self._headers) else ""
            if value:
                pairs.append(f"{name}: {value}" if name else value)
        return "; ".join(pairs)
