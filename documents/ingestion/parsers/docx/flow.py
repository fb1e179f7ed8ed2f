"""The blocks of a text in order: paragraphs, tables, and what stands around them.

Content controls, custom markup and insertions are looked through, removed rows and paragraphs
are left out, and paragraphs whose mark is removed are joined to the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from documents.ingestion.parsers.docx.markup import Element, W, child, is_on, local, value
from documents.ingestion.parsers.docx.runs import TRACKED

_REMOVED = frozenset({"del", "moveFrom"})
_ADDED = frozenset({"ins", "moveTo"})
_WRAPPERS = frozenset({"customXml", "smartTag", "ins", "moveTo", "sdtContent"})


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph as read: its elements (several where a removed mark joined them)."""

    elements: tuple[Element, ...]
    in_contents: bool = False

    @property
    def holder(self) -> Element:
        """The element whose properties hold for the whole: the last, unless it is empty."""
        if len(self.elements) == 1:
            return self.elements[0]
        for element in reversed(self.elements):
            if has_words(element):
                return element
        return self.elements[-1]

    @property
    def properties(self) -> Element | None:
        """Its properties."""
        return child(self.holder, "pPr")


def has_words(element: Element) -> bool:
    """Whether something of a paragraph remains when changes are accepted."""
    for found in element.iter(W + "t", W + "tab", W + "sym", W + "drawing", W + "pict"):
        if not any(local(ancestor) in _REMOVED for ancestor in found.iterancestors()):
            return True
    return False


def blocks(container: Element, seen: set[str]) -> Iterator[Paragraph | Element]:
    """Paragraphs, and tables and other elements as they are."""
    pending: list[Element] = []
    in_contents = False
    for element, in_contents in _flat(container, seen, in_contents=False):
        if element.tag == W + "p":
            pending.append(element)
            if not _mark_is_removed(element, seen):
                yield Paragraph(tuple(pending), in_contents)
                pending = []
            continue
        if pending:
            yield Paragraph(tuple(pending), in_contents)
            pending = []
        yield element
    if pending:
        yield Paragraph(tuple(pending), in_contents)


def _flat(
    container: Element, seen: set[str], *, in_contents: bool
) -> Iterator[tuple[Element, bool]]:
    for element in container:
        name = local(element)
        if name in _REMOVED:
            seen.add(TRACKED)
        elif name == "sdt":
            content = control_content(element)
            if content is not None:
                is_contents = in_contents or _is_contents(element)
                yield from _flat(content, seen, in_contents=is_contents)
        elif name in _WRAPPERS:
            if name in _ADDED:
                seen.add(TRACKED)
            yield from _flat(element, seen, in_contents=in_contents)
        else:
            yield element, in_contents


def control_content(control: Element) -> Element | None:
    """What a content control holds; None while it only shows what to fill in."""
    if is_on(child(control, "sdtPr"), "showingPlcHdr"):
        return None
    return child(control, "sdtContent")


def _is_contents(control: Element) -> bool:
    gallery = value(child(control, "sdtPr", "docPartObj", "docPartGallery")) or ""
    return gallery in ("Table of Contents", "Bibliographies Index", "Index")


def _mark_is_removed(paragraph: Element, seen: set[str]) -> bool:
    properties = child(paragraph, "pPr")
    mark = child(properties, "rPr")
    if properties is not None and child(properties, "pPrChange") is not None:
        seen.add(TRACKED)
    if mark is None:
        return False
    names = {local(element) for element in mark}
    if names & (_REMOVED | _ADDED | {"rPrChange"}):
        seen.add(TRACKED)
    return bool(names & _REMOVED)


def rows(table: Element, seen: set[str]) -> Iterator[Element]:
    """The rows of a table that remain."""
    return _remaining(table, seen, tag="tr", removed="del", added="ins")


def cells(row: Element, seen: set[str]) -> Iterator[Element]:
    """The cells of a row that remain."""
    return _remaining(row, seen, tag="tc", removed="cellDel", added="cellIns")


def _remaining(
    parent: Element, seen: set[str], *, tag: str, removed: str, added: str
) -> Iterator[Element]:
    """The parts of a table with this tag, less those whose properties say that they are removed."""
    for part, _ in _flat(parent, seen, in_contents=False):
        if part.tag != W + tag:
            continue
        properties = child(part, f"{tag}Pr")
        if child(properties, removed) is not None:
            seen.add(TRACKED)
            continue
        if child(properties, added) is not None:
            seen.add(TRACKED)
        yield part
