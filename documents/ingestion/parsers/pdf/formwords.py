"""Values of form fields and typed notes as words of their page, where a person sees them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from documents.ingestion.parsers.pdf.forms import FormText
from documents.ingestion.parsers.pdf.page import Font, Word
from documents.records import Box

FORM_FONT = Font("form field")
_LEADING = 1.2
_MAX_SIZE = 10.0
_WIDTH = 0.5  # of the size: what an average letter takes
_ON_TOP = 1_000_000_000  # annotations are painted after everything else


def form_words(texts: Iterable[FormText]) -> dict[int, list[Word]]:
    """The words of these texts by page; long texts are wrapped as a field would show them."""
    pages: dict[int, list[Word]] = defaultdict(list)
    for text in texts:
        pages[text.page].extend(_words(text))
    return pages


def _words(text: FormText) -> Iterator[Word]:
    left, top, right, bottom = text.box
    height = max(bottom - top, 1.0)
    size = min(_MAX_SIZE, 0.75 * height)
    lines = list(_wrapped(text.text, max((right - left) / (_WIDTH * size), 1.0)))
    leading = min(_LEADING * size, height / max(len(lines), 1))
    first = top + (0.5 * height + 0.35 * size if len(lines) == 1 else size)
    for index, line in enumerate(lines):
        base, x = first + index * leading, left + 2.0
        for token in line:
            width = min(_WIDTH * size * len(token), max(right - x, 1.0))
            yield _word(token, (x, base - 0.8 * size, x + width, base + 0.2 * size), size, base)
            x += width + 0.3 * size


def _wrapped(text: str, letters: float) -> Iterator[list[str]]:
    """The tokens of each line, at most so many letters wide where a blank allows it."""
    for paragraph in text.splitlines():
        line: list[str] = []
        for token in paragraph.split():
            if line and sum(len(t) + 1 for t in line) + len(token) > letters:
                yield line
                line = []
            line.append(token)
        if line:
            yield line


def _word(text: str, box: Box, size: float, baseline: float) -> Word:
    area = tuple(round(side, 2) for side in box)
    made = Word(text, box, size, FORM_FONT, (0, 0, 0, 255), 0, 0, round(baseline, 2), _ON_TOP)
    return replace(made, box=(area[0], area[1], area[2], area[3]))
