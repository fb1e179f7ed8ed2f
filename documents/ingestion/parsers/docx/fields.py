"""Fields: what Word last computed is text, the instruction that it computed it from is not."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from documents.ingestion.parsers.docx.markup import Element, W, child, is_on, local, number, value

_DELETED = frozenset({"del", "moveFrom"})
# Fields that print nothing by nature, or only a number of the page they stand on.
_SILENT_WORDS = """
    XE TC TA RD SET ASK FILLIN ADVANCE PRIVATE NEXT NEXTIF SKIPIF PAGE NUMPAGES SECTIONPAGES
    BIDIOUTLINE GOTOBUTTON MACROBUTTON PRINT BARCODE DISPLAYBARCODE SHAPE INCLUDEPICTURE EMBED
    CONTROL ADDIN TOC INDEX TOA HTMLCONTROL FORMTEXT FORMCHECKBOX FORMDROPDOWN HYPERLINK
"""
_SILENT = frozenset(_SILENT_WORDS.split())
_CONTENTS = frozenset({"TOC", "INDEX", "TOA"})
_MAX_DEPTH = 50
_CHECKED, _UNCHECKED = "☒", "☐"


@dataclass(slots=True)
class _Field:
    begin: Element | None = None
    instruction: list[str] = field(default_factory=list)
    in_result: bool = False
    has_text: bool = False

    @property
    def code(self) -> str:
        words = "".join(self.instruction).split(None, 1)
        return words[0].upper().lstrip("\\=") if words else ""


def matched_marks(root: Element) -> frozenset[Element]:
    """The marks of fields that begin and end: a mark without its partner means nothing."""
    matched: set[Element] = set()
    open_marks: list[list[Element]] = []
    for mark in root.iter(W + "fldChar"):
        if _is_deleted(mark):
            continue
        kind = value(mark, "fldCharType")
        if kind == "begin":
            open_marks.append([mark])
        elif kind == "separate" and open_marks:
            open_marks[-1].append(mark)
        elif kind == "end" and open_marks:
            marks = open_marks.pop()
            if len(open_marks) < _MAX_DEPTH:
                matched.update((*marks, mark))
    return frozenset(matched)


def _is_deleted(mark: Element) -> bool:
    return any(local(ancestor) in _DELETED for ancestor in mark.iterancestors())


class Fields:
    """The fields that are open at one point of a text.

    `instructions` collects those met, `missing` the codes of fields that show nothing.
    """

    def __init__(self, marks: frozenset[Element]) -> None:
        self._marks = marks
        self._open: list[_Field] = []
        self.instructions: list[str] = []
        self.missing: list[str] = []

    @property
    def is_visible(self) -> bool:
        """Whether text now is the result of all open fields."""
        return all(entry.in_result for entry in self._open)

    @property
    def in_contents(self) -> bool:
        """Whether text now is a generated table of contents or index."""
        return any(entry.code in _CONTENTS for entry in self._open)

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the open fields, outermost first."""
        return tuple(entry.code for entry in self._open)

    def mark(self, element: Element) -> str:
        """Take a field mark; what a form field shows is returned."""
        if element not in self._marks:
            return ""
        kind = value(element, "fldCharType")
        if kind == "begin":
            self._open.append(_Field(element))
        elif kind == "separate" and self._open:
            self._open[-1].in_result = True
        elif kind == "end" and self._open:
            return self._close(self._open.pop())
        return ""

    def simple(self, instruction: str) -> int:
        """Open a field whose result stands inside its element; returns how deep it stands."""
        self._open.append(_Field(instruction=[instruction], in_result=True))
        return len(self._open)

    def end_simple(self, depth: int) -> None:
        """Close it, and what was left open inside."""
        while len(self._open) >= depth:
            self._close(self._open.pop())

    def instruct(self, text: str) -> None:
        """Add to the instruction of the innermost field."""
        if self._open:
            self._open[-1].instruction.append(text)

    def text(self, text: str) -> str:
        """Take text: what of it is visible. A field inside an instruction is part of it."""
        hiding = [entry for entry in self._open if not entry.in_result]
        if hiding:
            hiding[-1].instruction.append(text)
            return ""
        if text.strip():
            for entry in self._open:
                entry.has_text = True
        return text

    def _close(self, entry: _Field) -> str:
        self.instructions.append("".join(entry.instruction).strip())
        shown = _form_value(entry)
        if shown:
            return self.text(shown)
        code = entry.code
        if not entry.has_text and self.is_visible and code and code not in _SILENT:
            self.missing.append(code)
        return ""


def _form_value(entry: _Field) -> str:
    """What a check box or drop-down list shows: Word stores no result for them."""
    data = child(entry.begin, "ffData")
    box = child(data, "checkBox")
    if box is not None and entry.code == "FORMCHECKBOX":
        said = "checked" if child(box, "checked") is not None else "default"
        return _CHECKED if is_on(box, said) else _UNCHECKED
    choices = child(data, "ddList")
    if choices is None or entry.has_text:
        return ""
    entries = [value(choice) or "" for choice in choices.iterfind(W + "listEntry")]
    index = number(child(choices, "result")) or number(child(choices, "default")) or 0
    return entries[index] if 0 <= index < len(entries) else ""


_REMOTE = re.compile(r"(?:https?:|ftp:|file:|\\\\\\\\|//)[^\s\"]*", re.IGNORECASE)
_EXECUTING = frozenset({"DDE", "DDEAUTO"})
_FETCHING = frozenset({"INCLUDETEXT", "INCLUDEPICTURE", "IMPORT", "INCLUDE", "LINK", "DATABASE"})


def acting_fields(instructions: Iterable[str]) -> list[tuple[str, str, bool]]:
    """Fields that start a program or fetch: kind, instruction, whether it is dangerous."""
    found = []
    for instruction in instructions:
        words = instruction.split()
        code = words[0].upper() if words else ""
        is_remote = _REMOTE.search(instruction) is not None
        if code in _EXECUTING:
            found.append(("dde", instruction, True))
        elif code in _FETCHING and (is_remote or code in ("LINK", "DATABASE")):
            found.append(("external_link", instruction, code == "LINK" and is_remote))
    return found
