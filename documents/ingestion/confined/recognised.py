"""What was read from images, on its way into the child."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from documents.records import RecognisedPage, RecognisedWord


def plain_values(pages: Iterable[RecognisedPage]) -> list[Any]:
    """Recognised pages as values that JSON can hold."""
    return [
        [page.number, [[w.text, *w.box, w.confidence, w.line] for w in page.words]]
        for page in pages
    ]


def recognised_pages(values: Iterable[Any]) -> tuple[RecognisedPage, ...]:
    """The pages that `plain_values` wrote down."""
    return tuple(
        RecognisedPage(
            number,
            tuple(
                RecognisedWord(text, (left, top, right, bottom), confidence, line)
                for text, left, top, right, bottom, confidence, line in words
            ),
        )
        for number, words in values
    )
