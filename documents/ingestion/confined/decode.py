"""Messages of a child back into frozen records, believing nothing.

The child has read a hostile file and may be its puppet: each value is checked for its type and
its range, offsets against the text, and the number of things against a limit. What does not
hold is refused whole; nothing is repaired.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from enum import StrEnum
from itertools import pairwise
from typing import Any, TypeVar

from documents.ingestion.confined.wire import BadMessageError
from documents.records import (
    ActiveContent,
    Block,
    BlockKind,
    Box,
    HiddenText,
    MediaType,
    Notice,
    PageRecord,
    ParsedDocument,
    SourceLink,
    WordBox,
)

MAX_THINGS = 5_000_000  # blocks, words, notes and links in all
MAX_PAGES = 20_000
MAX_LABEL = 1_000  # characters of a code, a flag, a number or a page's label
MAX_LINE = 100_000  # of a title, a warning, an address or one entry of the metadata
MAX_SIDE = 1_000_000.0  # points
_MAX_LEVEL = 100

T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)


class Assembler:
    """Takes the messages of one document in order; `document` is there after the last."""

    def __init__(self) -> None:
        self.document: ParsedDocument | None = None
        self._head: dict[str, Any] | None = None
        self._text: list[str] = []
        self._length = 0
        self._things = 0
        self._blocks: list[Block] = []
        self._pages: list[PageRecord] = []
        self._hidden: list[HiddenText] = []
        self._active: list[ActiveContent] = []
        self._links: list[SourceLink] = []
        self._steps: dict[str, Callable[[dict[str, Any]], None]] = {
            "document": self._take_head,
            "text": self._take_text,
            "blocks": self._take_blocks,
            "page": self._take_page,
            "hidden": self._take_hidden,
            "active": self._take_active,
            "links": self._take_links,
            "end": self._take_end,
        }

    def accept(self, message: dict[str, Any]) -> None:
        """Take the next message.

        Raises:
            BadMessageError: it is not what an honest child would send here.
        """
        kind = message.get("kind")
        step = self._steps.get(kind) if isinstance(kind, str) else None
        if step is None or self.document is not None:
            raise BadMessageError("a message that has no place here")
        if (self._head is None) != (kind == "document"):
            raise BadMessageError("messages out of order")
        step(message)

    def _count(self, number: int) -> None:
        self._things += number
        if self._things > MAX_THINGS:
            raise BadMessageError("too many things")

    def _take_head(self, message: dict[str, Any]) -> None:
        self._head = {
            "media_type": _member(MediaType, message.get("media_type")),
            "title": _maybe(_line, message.get("title")),
            "language": _maybe(_label, message.get("language")),
            "encoding": _maybe(_label, message.get("encoding")),
            "metadata": _metadata(message.get("metadata")),
            "warnings": tuple(_notice(item) for item in _items(message.get("warnings"))),
        }
        self._count(len(self._head["warnings"]) + len(self._head["metadata"]))

    def _take_text(self, message: dict[str, Any]) -> None:
        if self._blocks or self._pages:
            raise BadMessageError("text after its blocks")
        text = _text(message.get("text"))
        self._length += len(text)
        self._text.append(text)

    def _take_blocks(self, message: dict[str, Any]) -> None:
        items = _items(message.get("blocks"))
        self._count(len(items))
        self._blocks += [_block(item, self._length) for item in items]

    def _take_page(self, message: dict[str, Any]) -> None:
        words = _items(message.get("words"))
        self._count(len(words))
        page = PageRecord(
            number=_whole(message.get("number"), 1, MAX_PAGES),
            width=_number(message.get("width"), 0, MAX_SIDE),
            height=_number(message.get("height"), 0, MAX_SIDE),
            words=tuple(_word(item, self._length) for item in words),
            label=_maybe(_label, message.get("label")),
            ocr_confidence=_maybe(_share, message.get("ocr_confidence")),
        )
        if self._pages and page.number <= self._pages[-1].number:
            raise BadMessageError("pages out of order")
        if any(left.start > right.start for left, right in pairwise(page.words)):
            raise BadMessageError("words out of order")
        self._pages.append(page)

    def _take_hidden(self, message: dict[str, Any]) -> None:
        self._count(1)
        text, where, page = _fields(message.get("hidden"), 3)
        self._hidden.append(HiddenText(_text(text), _label(where), _page_number(page)))

    def _take_active(self, message: dict[str, Any]) -> None:
        self._count(1)
        kind, detail, is_dangerous, page = _fields(message.get("active"), 4)
        if not isinstance(is_dangerous, bool):
            raise BadMessageError("neither true nor false")
        found = ActiveContent(_label(kind), _text(detail), is_dangerous, _page_number(page))
        self._active.append(found)

    def _take_links(self, message: dict[str, Any]) -> None:
        items = _items(message.get("links"))
        self._count(len(items))
        for item in items:
            start, end, url = _fields(item, 3)
            self._links.append(SourceLink(*_span(start, end, self._length), url=_line(url)))

    def _take_end(self, _: dict[str, Any]) -> None:
        self.document = ParsedDocument(
            text="".join(self._text),
            blocks=tuple(self._blocks),
            hidden=tuple(self._hidden),
            pages=tuple(self._pages),
            active_content=tuple(self._active),
            source_links=tuple(self._links),
            **(self._head or {}),
        )


def _items(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise BadMessageError("not a list")
    return value


def _fields(value: Any, number: int) -> list[Any]:
    items = _items(value)
    if len(items) != number:
        raise BadMessageError("not so many fields")
    return items


def _text(value: Any, limit: int | None = None) -> str:
    if not isinstance(value, str) or (limit is not None and len(value) > limit):
        raise BadMessageError("not a text of this length")
    if "\0" in value or not _is_writable(value):
        raise BadMessageError("characters that cannot be kept")
    return value


def _is_writable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True


def _label(value: Any) -> str:
    return _text(value, MAX_LABEL)


def _line(value: Any) -> str:
    return _text(value, MAX_LINE)


def _maybe(check: Callable[[Any], T], value: Any) -> T | None:
    return None if value is None else check(value)


def _whole(value: Any, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        raise BadMessageError("not a whole number in range")
    return value


def _number(value: Any, least: float, most: float) -> float:
    if type(value) not in (int, float) or not math.isfinite(value) or not least <= value <= most:
        raise BadMessageError("not a number in range")
    return float(value)


def _share(value: Any) -> float:
    return _number(value, 0.0, 1.0)


def _page_number(value: Any) -> int | None:
    return _maybe(lambda given: _whole(given, 1, MAX_PAGES), value)


def _span(start: Any, end: Any, length: int) -> tuple[int, int]:
    first = _whole(start, 0, length)
    return first, _whole(end, first, length)


def _box(value: Any) -> Box:
    left, top, right, bottom = (_number(v, -MAX_SIDE, MAX_SIDE) for v in _fields(value, 4))
    return left, top, right, bottom


def _member(kind: type[E], value: Any) -> E:
    if not isinstance(value, str):
        raise BadMessageError("not a name")
    try:
        return kind(value)
    except ValueError as error:
        raise BadMessageError("not a known name") from error


def _metadata(value: Any) -> Mapping[str, str]:
    if not isinstance(value, dict):
        raise BadMessageError("not an object")
    return {_label(key): _line(text) for key, text in value.items()}


def _notice(value: Any) -> Notice:
    code, message, pages = _fields(value, 3)
    return Notice(_label(code), _line(message), page_numbers(pages))


def page_numbers(value: Any) -> tuple[int, ...]:
    """Numbers of pages, each in range.

    Raises:
        BadMessageError: they are none.
    """
    return tuple(_whole(page, 1, MAX_PAGES) for page in _items(value))


def _block(value: Any, length: int) -> Block:
    kind, start, end, level, page, flags, box, number = _fields(value, 8)
    first, last = _span(start, end, length)
    return Block(
        kind=_member(BlockKind, kind),
        start=first,
        end=last,
        level=_maybe(lambda given: _whole(given, 1, _MAX_LEVEL), level),
        page=_page_number(page),
        flags=frozenset(_label(flag) for flag in _items(flags)),
        box=_maybe(_box, box),
        number=_maybe(_label, number),
    )


def _word(value: Any, length: int) -> WordBox:
    start, end, *box = _fields(value, 6)
    return WordBox(*_span(start, end, length), box=_box(box))
