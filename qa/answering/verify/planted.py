"""Paragraphs in which a document speaks to whoever answers, or imitates our citation marks.

The screen at ingestion holds them; this is what still stands when it is switched off or has
missed one. Nothing beside such an order supports a claim, since whoever wrote the order wrote
what it wants said. Only the plainest forms count: a whole paragraph is at stake.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from qa.answering.verify.output_policy import commands_assistant

_PARAGRAPH = re.compile(r"\S(?:.|\n(?!\s*\n))*")
_FORGED = re.compile(
    r"\[\[\s*[cp]\d{1,3}\s*\]\]|\[\s*doc(?:ument)?\s*:[^\]\n]{1,200}section\s*:|</?(?:document|"
    r"antml|citation)[\s:>_]|<\|[^|\n]{1,40}\|>|^\s*(?:system|assistant)\s*:\s",
    re.IGNORECASE,
)


def planted_spans(text: str) -> list[tuple[int, int]]:
    """The spans of the paragraphs of `text` that hold an order or a forged mark."""
    return [
        match.span()
        for match in _PARAGRAPH.finditer(text)
        if _FORGED.search(match.group()) or commands_assistant(" ".join(match.group().split()))
    ]


def planted_paragraphs(texts: Sequence[str]) -> Iterator[str]:
    """Those paragraphs of several texts."""
    for text in texts:
        yield from (text[start:end] for start, end in planted_spans(text))


def without_planted(text: str) -> str:
    """The text without those paragraphs."""
    for start, end in reversed(planted_spans(text)):
        text = text[:start] + text[end:]
    return text
