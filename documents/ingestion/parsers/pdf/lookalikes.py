"""What lines up like a table and is none, and what makes a table on white convincing.

Contents, lists with their marks, signature blocks, forms to fill in and columns of prose have
gutters too. These tests see the texts of the cells alone, so that both ways of finding tables
share them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from documents.ingestion.parsers.pdf.page import Word

_SHORT = 5.0  # words of a cell on average
_LEADER = re.compile(r"\.{4,}|(?:\.\s){3,}|(?:…\s*){2,}|·{4,}|(?:_\s?){4,}")
_SIGNATURE = re.compile(
    r"^(?:by|name|title|its|signed?|signature|print name|witness|dated?)\s*(?:[:_]|$)|_{3,}",
    re.IGNORECASE,
)
_FIGURE = re.compile(
    r"[-+(]?(?:[A-Z]{3}\s?)?[$€£¥₹]?\s?\d[\d\s.,:/–-]*\)?\s?(?:%|[A-Za-z]{1,5})?|[-–—]|n/?a|nil|none"
    r"|yes|no|[✓✔✗✘√•●○☐☑☒x]",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:19|20)\d\d(?:\s?[/–-]\s?(?:\d\d|\d{4}))?|[1-9]|1\d")
_CLAUSE = re.compile(r"\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,6})(?:\.\d{1,3})*[.):]?|[-–•➢▪]")
_PAGE = re.compile(r"\d{1,4}|[ivxl]{1,6}")


def is_figure(text: str) -> bool:
    """Whether a cell holds an amount, a mark or another value of one or two words."""
    return bool(_FIGURE.fullmatch(text))


def is_amount(text: str) -> bool:
    """Whether a cell holds a figure that heads no column, as a year or a small number may."""
    return is_figure(text) and not _YEAR.fullmatch(text)


def is_lookalike(rows: Sequence[Sequence[str]], columns: int) -> bool:
    """Whether rows are contents, a list with its marks, a signature block or an empty form."""
    count = len(rows)
    if sum(bool(_LEADER.search(" ".join(row))) for row in rows) >= 0.3 * count:
        return True
    signed = sum(any(_SIGNATURE.search(text) for text in row) for row in rows)
    if signed >= 2 or any("/s/" in text for row in rows for text in row):
        return True
    if sum(text.endswith(":") for row in rows for text in row) >= 0.3 * count:
        return True
    is_list = sum(bool(_CLAUSE.fullmatch(row[0])) for row in rows) >= 0.5 * count
    return (is_list and columns == 2) or _is_contents(rows, columns)


def _is_contents(rows: Sequence[Sequence[str]], columns: int) -> bool:
    """Whether each title has a page number behind it, and the numbers grow."""
    if columns == 4 and all(len(row) == 4 for row in rows):
        return all(_are_pages([row[i] for row in rows]) for i in (1, 3))
    inner = [text for row in rows for text in row[1:-1]]
    has_figures = sum(is_figure(text) for text in inner) > 0.3 * len(rows)
    return columns <= 3 and not has_figures and _are_pages([row[-1] for row in rows])


def _are_pages(texts: Sequence[str]) -> bool:
    numbers = [int(text) for text in texts if text.isdigit()]
    count = sum(bool(_PAGE.fullmatch(text)) for text in texts)
    if count < 0.8 * len(texts) or len(numbers) < 2:
        return False
    if any(not text.isdigit() and _PAGE.fullmatch(text) for text in texts):
        return True
    steps = [b - a for a, b in pairwise(numbers)]
    # A table of running numbers has even steps; pages of a document do not.
    return min(steps) >= 0 and len(set(steps)) > 1


def is_prose(
    rows: Sequence[Sequence[Sequence[Word]]], columns: Sequence[tuple[float, float]]
) -> bool:
    """Whether two columns or more are filled by lines of running text.

    Args:
        rows: the words of each line, cut at wide gaps.
        columns: where each column begins and ends.
    """
    running = 0
    for left, right in columns:
        parts = [
            part
            for row in rows
            for part in row
            if left - 1.0 <= part[0].box[0] and part[-1].box[2] <= right + 1.0
        ]
        full = [part for part in parts if part[-1].box[2] - part[0].box[0] > 0.8 * (right - left)]
        words = sum(len(part) for part in parts) / max(len(parts), 1)
        running += len(full) >= 0.5 * len(parts) and words >= 4.0
    return running >= 2


def is_convincing(rows: Sequence[Sequence[Sequence[Word]]]) -> bool:
    """Whether cells on white make a table: short, with a column of figures or a bold header."""
    texts = [[" ".join(word.text for word in cell) for cell in row] for row in rows]
    columns = len(texts[0])
    full = [sum(bool(row[i]) for row in texts) / len(texts) for i in range(columns)]
    if sum(share >= 0.5 for share in full) < 2:
        return False
    filled = [text for row in texts for text in row if text]
    if sum(len(text.split()) for text in filled) > _SHORT * len(filled):
        return False
    # Two columns of names under two heads are as often two lists or two addresses.
    has_head = columns > 2 and _has_bold_head(rows)
    return has_head or any(_holds_figures(texts, i) for i in range(1, columns))


def _holds_figures(texts: Sequence[Sequence[str]], column: int) -> bool:
    below = [row[column] for row in texts[1:] if row[column]]
    return len(below) >= 2 and sum(map(is_figure, below)) >= 0.6 * len(below)


def _has_bold_head(rows: Sequence[Sequence[Sequence[Word]]]) -> bool:
    bold = [all(word.font.is_bold for cell in row for word in cell) for row in rows]
    return bold[0] and not any(bold[1:]) and sum(bool(cell) for cell in rows[0]) >= 2
