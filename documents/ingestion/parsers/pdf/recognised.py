"""A page whose words were read from its image, laid out like any other page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from statistics import median

from documents.ingestion.parsers.pdf.layout import PageLayout, lay_out
from documents.ingestion.parsers.pdf.page import Font, PageContent, Word
from documents.records import Box, RecognisedPage, RecognisedWord

_BLACK = (0, 0, 0, 255)
_FONT = Font("recognised")
_ABOVE_ALL = 2**31  # painted last: nothing covers what a person has seen on the image
_UNSURE = 0.25  # such words are specks, rules and pictures more often than words
_ALIKE = 0.25  # letters of one size measure so differently from line to line
_TYPE_TO_BOX = 1.15  # a line's box, from ascender to descender, is smaller than its type


def lay_out_recognised(page: PageContent, recognised: RecognisedPage) -> PageLayout:
    """Lay out a page by the words that were read from its image."""
    words = tuple(_words(recognised, page))
    seen = replace(page, words=words, fills=(), images=(), rules=page.rules)
    layout = lay_out(seen, None)
    layout.ocr_confidence = recognised.confidence
    return layout


def _words(recognised: RecognisedPage, page: PageContent) -> Iterable[Word]:
    kept = [word for word in recognised.words if word.confidence >= _UNSURE]
    lines = [list(group) for _, group in groupby(kept, key=lambda word: word.line)]
    rotation = _rotation(lines)
    usual = median(_thickness(line, rotation) for line in lines) if lines else 0.0
    for line in lines:
        thickness = _thickness(line, rotation)
        is_usual = abs(thickness - usual) <= _ALIKE * usual
        size = _TYPE_TO_BOX * (usual if is_usual else thickness)
        baseline = _baseline(line, rotation)
        for word in line:
            yield Word(
                text=word.text,
                box=word.box,
                size=round(size * 2) / 2 or 0.5,
                font=_FONT,
                colour=_BLACK,
                mode=0,
                rotation=rotation,
                baseline=baseline,
                order=_ABOVE_ALL,
            )


def _rotation(lines: Sequence[Sequence[RecognisedWord]]) -> int:
    """The direction in which most neighbours on a line follow each other."""
    steps = Counter(_step(a.box, b.box) for line in lines for a, b in pairwise(line))
    return steps.most_common(1)[0][0] if steps else 0


def _step(before: Box, after: Box) -> int:
    across = (after[0] + after[2]) - (before[0] + before[2])
    down = (after[1] + after[3]) - (before[1] + before[3])
    if abs(across) >= abs(down):
        return 0 if across >= 0 else 180
    return 90 if down >= 0 else 270


def _thickness(line: Sequence[RecognisedWord], rotation: int) -> float:
    """How high most words of a line are, across the direction of reading."""
    first, last = (1, 3) if rotation in (0, 180) else (0, 2)
    return median(word.box[last] - word.box[first] for word in line)


def _baseline(line: Sequence[RecognisedWord], rotation: int) -> float:
    """The side on which most words of a line stand; a skewed line gets one base line too."""
    side = {0: 3, 90: 0, 180: 1, 270: 2}[rotation]
    return float(median(word.box[side] for word in line))
