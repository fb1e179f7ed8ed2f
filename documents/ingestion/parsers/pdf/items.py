"""List items among the paragraphs, and how deep each lies."""

from __future__ import annotations

from collections.abc import Sequence

from documents.ingestion.parsers.pdf.blocks import Paragraph
from documents.ingestion.parsers.pdf.markers import opens_item
from documents.records import BlockKind

_STEP = 8.0  # points that a deeper item lies further in
_MAX_DEPTH = 6


def mark_items(paragraphs: Sequence[Paragraph]) -> None:
    """Set kind and indent of paragraphs that begin with a bullet or a marker such as `(b)`."""
    lefts: list[float] = []
    for paragraph in paragraphs:
        if paragraph.table is not None or not paragraph.pieces:
            lefts = []
        elif opens_item(paragraph.text()):
            left = paragraph.lines[0][1].box[0]
            while lefts and left < lefts[-1] - _STEP / 2:
                lefts.pop()
            if not lefts or left > lefts[-1] + _STEP:
                lefts.append(left)
            paragraph.kind = BlockKind.LIST_ITEM
            paragraph.indent = min(len(lefts) - 1, _MAX_DEPTH)
        else:
            lefts = []
