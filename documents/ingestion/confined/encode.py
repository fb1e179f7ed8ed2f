"""A parsed document as messages, some at a time, so that no second copy of it is made.

`decode` takes them in this order: `document`, `text`…, `blocks`…, `page`…, `extras`…, `end`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, TypeVar

from documents.ingestion.confined.decode import MAX_LABEL, MAX_LINE, MAX_SIDE
from documents.records import Block, Box, HiddenText, Notice, PageRecord, ParsedDocument

T = TypeVar("T")

_TEXT_CHARACTERS = 1_000_000
_BATCH = 2_000
_BROKEN = Notice(
    "broken_characters",
    "Some characters of the file are broken and are shown as \ufffd: compare the text.",
)
# Characters that neither UTF-8 nor the database can hold.
_REPLACED = {0: 0xFFFD} | dict.fromkeys(range(0xD800, 0xE000), 0xFFFD)


def encode(document: ParsedDocument) -> Iterator[dict[str, Any]]:
    """The messages that `decode.Assembler` puts together again."""
    text = clean(document.text)
    if text != document.text:
        document = replace(document, text=text, warnings=(*document.warnings, _BROKEN))
    yield {
        "kind": "document",
        "media_type": document.media_type.value,
        "title": _maybe(document.title, MAX_LINE),
        "language": _maybe(document.language),
        "encoding": _maybe(document.encoding),
        "metadata": {
            clean(key)[:MAX_LABEL]: clean(value)[:MAX_LINE]
            for key, value in document.metadata.items()
        },
        "warnings": [_notice(notice) for notice in document.warnings],
    }
    for start in range(0, len(text), _TEXT_CHARACTERS):
        yield {"kind": "text", "text": text[start : start + _TEXT_CHARACTERS]}
    for blocks in _batches(document.blocks):
        yield {"kind": "blocks", "blocks": [_block(block) for block in blocks]}
    for page in document.pages:
        yield _page(page)
    yield from _extras(document)
    yield {"kind": "end"}


def clean(text: str) -> str:
    """The text, as long as before, with a mark for each character that nothing can hold."""
    if text.isascii() and "\0" not in text:
        return text
    return text.translate(_REPLACED)


def _maybe(text: str | None, limit: int = MAX_LABEL) -> str | None:
    return None if text is None else clean(text)[:limit]


def _placed(box: Box | None) -> Box | None:
    """The box, or none where a side lies nowhere."""
    if box is None or not all(-MAX_SIDE <= side <= MAX_SIDE for side in box):
        return None
    return box


def _side(length: float) -> float:
    return min(max(length, 0.0), MAX_SIDE) if not math.isnan(length) else 0.0


def _batches(items: Sequence[T]) -> Iterator[list[T]]:
    remaining = iter(items)
    while batch := list(islice(remaining, _BATCH)):
        yield batch


def _notice(notice: Notice) -> list[Any]:
    return [notice.code, clean(notice.message)[:MAX_LINE], list(notice.pages)]


def _block(block: Block) -> list[Any]:
    return [
        block.kind.value,
        block.start,
        block.end,
        block.level,
        block.page,
        sorted(block.flags),
        _placed(block.box),
        _maybe(block.number),
    ]


def _page(page: PageRecord) -> dict[str, Any]:
    return {
        "kind": "page",
        "number": page.number,
        "width": _side(page.width),
        "height": _side(page.height),
        "label": _maybe(page.label),
        "ocr_confidence": page.ocr_confidence,
        "words": [[x.start, x.end, *x.box] for x in page.words if _placed(x.box)],
    }


def _extras(document: ParsedDocument) -> Iterator[dict[str, Any]]:
    for hidden in document.hidden:
        yield {"kind": "hidden", "hidden": _hidden(hidden)}
    for active in document.active_content:
        is_dangerous = bool(active.is_dangerous)
        fields = [active.kind, clean(active.detail), is_dangerous, active.page]
        yield {"kind": "active", "active": fields}
    for links in _batches(document.source_links):
        yield {"kind": "links", "links": [[x.start, x.end, clean(x.url)[:MAX_LINE]] for x in links]}


def _hidden(hidden: HiddenText) -> list[Any]:
    return [clean(hidden.text), hidden.where, hidden.page]
