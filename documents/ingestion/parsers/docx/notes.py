"""Footnotes and endnotes: their text by id, and the marks that they get in order."""

from __future__ import annotations

from documents.ingestion.parsers.docx.markup import Element, W, child, number, value
from documents.ingestion.parsers.docx.number_formats import format_number

_DEFAULT_FORMATS = {"footnote": "decimal", "endnote": "lowerRoman"}
_NO_NOTES = frozenset({"separator", "continuationSeparator", "continuationNotice"})


class Notes:
    """The notes of one kind (`footnote` or `endnote`)."""

    def __init__(self, kind: str, root: Element | None, settings: Element | None) -> None:
        self._kind = kind
        self._elements = _by_id(kind, root)
        self._settings = child(settings, f"{kind}Pr")
        self._section: Element | None = None
        self._shown: set[str] = set()
        self._count = self._start() - 1

    def _property(self, name: str) -> Element | None:
        own = child(self._section, name)
        return own if own is not None else child(self._settings, name)

    def _start(self) -> int:
        start = number(self._property("numStart"))
        return 1 if start is None else start

    def begin_section(self, properties: Element, *, is_first: bool) -> None:
        """Go on in a section with its own properties."""
        self._section = child(properties, f"{self._kind}Pr")
        if is_first or value(self._property("numRestart")) == "eachSect":
            self._count = self._start() - 1

    def cite(self, note_id: str, typed_mark: str | None) -> tuple[str, Element] | None:
        """The mark and the text of a note that is cited now.

        None where it is missing, or has been shown where it was cited before.
        """
        element = self._elements.get(note_id)
        if element is None or note_id in self._shown:
            return None
        self._shown.add(note_id)
        if typed_mark is not None:
            return typed_mark.strip(), element
        self._count += 1
        kind = value(self._property("numFmt")) or _DEFAULT_FORMATS[self._kind]
        return format_number(self._count, kind), element


def _by_id(kind: str, root: Element | None) -> dict[str, Element]:
    found: dict[str, Element] = {}
    if root is None:
        return found
    for element in root.iterfind(W + kind):
        note_id = value(element, "id")
        if note_id is not None and value(element, "type") not in _NO_NOTES:
            found.setdefault(note_id, element)
    return found
