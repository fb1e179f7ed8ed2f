"""Objects of a PDF below the page's text, read with pypdf inside limits.

pypdf resolves what is asked for and bounds each step (depth, stream length, tree entries). What
it does not bound is how much is asked: `Budget` does, in objects, and `walk` visits each object
once without recursion. A broken object is skipped, never fatal.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pypdf.errors import DependencyError, PyPdfError
from pypdf.generic import (
    ArrayObject,
    ByteStringObject,
    DictionaryObject,
    IndirectObject,
    StreamObject,
)

# pypdf says that broken files may cause other exceptions than its own: these are the ones seen
# with fuzzed files.
UNREADABLE = (
    PyPdfError, DependencyError, ValueError, TypeError, LookupError, AttributeError,
    ArithmeticError, AssertionError, RuntimeError, EOFError, OSError, zlib.error, struct.error,
)  # fmt: skip
# What these lead to acts nowhere and is large (fonts, images, structure), or leads back up.
_NOT_WALKED = frozenset({
    "/Parent", "/Resources", "/StructTreeRoot", "/Metadata", "/Thumb", "/AP", "/MK", "/Dests",
    "/PieceInfo", "/Group", "/DR", "/Dest", "/OCProperties", "/OutputIntents",
})  # fmt: skip


@dataclass(slots=True)
class Budget:
    """How many objects may still be looked at, and which have been."""

    objects: int
    seen: set[int] = field(default_factory=set)

    @property
    def is_spent(self) -> bool:
        """Whether something was left unseen because there was too much of it."""
        return self.objects <= 0


def resolved(item: object) -> object:
    """The object that `item` points at, `item` itself if it is no reference, None if broken."""
    try:
        return item.get_object() if isinstance(item, IndirectObject) else item
    except UNREADABLE:
        return None


def entry(node: DictionaryObject, key: str) -> object:
    """The value at `key`, resolved; None where there is none or it is broken."""
    return resolved(dict.get(node, key))


def text_entry(node: DictionaryObject, key: str) -> str:
    """The text at `key`, of a string or a stream; empty where there is none."""
    return as_text(entry(node, key))


def as_text(value: object) -> str:
    """A string or text stream as text; empty for anything else."""
    if isinstance(value, ByteStringObject):
        return bytes(value).decode("latin-1")
    if isinstance(value, StreamObject):
        return stream_bytes(value).decode("utf-8", errors="replace")
    return str(value) if isinstance(value, str) else ""


def stream_bytes(stream: StreamObject) -> bytes:
    """The decoded bytes of a stream; none where it is broken or larger than pypdf's limits."""
    try:
        return stream.get_data()
    except UNREADABLE:
        return b""


def walk(
    starts: Iterable[object], budget: Budget, *, page: int | None = None
) -> Iterator[tuple[DictionaryObject, int | None]]:
    """Every dictionary that `starts` lead to and that was not seen before, with `page`."""
    stack = list(starts)
    stack.reverse()
    while stack and not budget.is_spent:
        item = stack.pop()
        if isinstance(item, IndirectObject):
            if item.idnum in budget.seen:
                continue
            budget.seen.add(item.idnum)
        budget.objects -= 1
        node = resolved(item)
        if isinstance(node, DictionaryObject):
            yield node, page
        stack.extend(reversed(_children(node)))


def _children(node: object) -> list[object]:
    values: list[object] = []
    if isinstance(node, DictionaryObject):
        values = [value for key, value in node.items() if key not in _NOT_WALKED]
    elif isinstance(node, ArrayObject):
        values = list(node)
    return [v for v in values if isinstance(v, IndirectObject | DictionaryObject | ArrayObject)]
