"""The words of a paragraph: what a person sees, and apart from it what is hidden.

Tracked changes are read as accepted, comments are left out, notes and text boxes are only
noted here and follow the paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from documents.ingestion.parsers.docx import equations
from documents.ingestion.parsers.docx.drawings import place_of, text_boxes
from documents.ingestion.parsers.docx.fields import Fields
from documents.ingestion.parsers.docx.looks import hiding
from documents.ingestion.parsers.docx.markup import (
    WP,
    Element,
    M,
    V,
    W,
    child,
    is_on,
    local,
    value,
)
from documents.ingestion.parsers.docx.styles import Look, Styles
from documents.ingestion.parsers.docx.symbols import symbol, translate

# What the reader says about the file as a whole.
TRACKED, STRUCK, COMMENTED = "has_tracked_changes", "struck_text", "has_comments"
NOT_READ = "content_not_read"
_REMOVED = frozenset({"del", "moveFrom"})
_ADDED = frozenset({"ins", "moveTo"})
_CHANGES = frozenset({"rPrChange", "pPrChange", "numberingChange", "sectPrChange"})
_IGNORED_WORDS = """
    pPr rPr sdtPr sdtEndPr proofErr bookmarkStart bookmarkEnd permStart permEnd
    commentRangeStart commentRangeEnd moveFromRangeStart moveFromRangeEnd moveToRangeStart
    moveToRangeEnd customXmlPr smartTagPr delText delInstrText annotationRef footnoteRef
    endnoteRef separator continuationSeparator lastRenderedPageBreak pgNum dayShort dayLong
    monthShort monthLong yearShort yearLong rt rubyPr altChunk subDoc
"""
_IGNORED = frozenset(_IGNORED_WORDS.split())
_RAISED = str.maketrans("0123456789+-−()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁽⁾ⁿ")
_LOWERED = str.maketrans("0123456789+-−()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₍₎")
_RAISABLE = re.compile(r"[0-9+\-−()]*[0-9][0-9+\-−()]*")
_LINE_BREAKS = re.compile(r"[\r\n\t]+")
_BLANKS = re.compile(r"[ \t]+")
_PAGE_AT_END = re.compile(r"[ \t.…_]*\t[ \t]*(?:\d{1,4}|[ivxlc]{1,7})\s*\Z")
_PLAIN_TAB = "\t"


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of visible text with one look."""

    text: str
    look: Look


@dataclass(frozen=True, slots=True)
class NoteMark:
    """Where a footnote or endnote is cited; `mark` is what the author typed instead of a count."""

    kind: str  # "footnote" or "endnote"
    id: str
    mark: str | None


@dataclass(slots=True)
class Inline:
    """What a paragraph holds."""

    pieces: list[Piece] = field(default_factory=list)
    notes: list[NoteMark] = field(default_factory=list)
    boxes: list[tuple[Element, str | None]] = field(default_factory=list)
    hidden: list[tuple[str, str]] = field(default_factory=list)
    diagrams: list[str] = field(default_factory=list)  # relationship ids of their data
    in_contents: bool = False

    @property
    def text(self) -> str:
        """The visible text, tidied."""
        return tidy("".join(piece.text for piece in self.pieces))

    def has_all(self, name: str) -> bool:
        """Whether all visible words are `bold`, `italic` or `struck`."""
        worded = [piece for piece in self.pieces if piece.text.strip()]
        return bool(worded) and all(getattr(piece.look, name) for piece in worded)


def tidy(text: str) -> str:
    """Text without blanks that only lay it out; a tab before a page number at the end stays."""
    text = text.replace("\u00ad", "").replace("\u200b", "")
    leader = _PAGE_AT_END.search(text)
    end = leader.start() if leader else len(text)
    lines = (_BLANKS.sub(" ", line).strip(" ") for line in text[:end].split("\n"))
    tail = f"{_PLAIN_TAB}{text[end:].strip(' .…_' + _PLAIN_TAB)}" if leader else ""
    return "\n".join(line for line in lines if line.strip()) + tail


class RunReader:
    """Reads paragraphs of one text (body, note, box), one after the other."""

    def __init__(self, styles: Styles, fields: Fields, seen: set[str]) -> None:
        self._styles = styles
        self.fields = fields
        self._seen = seen
        self._inline = Inline()
        self._paragraph_style: str | None = None
        self._background: str | None = None
        self._drops_mark = False

    def read(
        self, paragraphs: Iterable[Element], style: str | None, background: str | None = None
    ) -> Inline:
        """The content of one paragraph, which tracked deletions may have joined from several.

        Args:
            paragraphs: its elements in order.
            style: the id of its style.
            background: the fill behind it, RRGGBB; None is white.
        """
        self._inline, self._paragraph_style, self._background = Inline(), style, background
        self._inline.in_contents = self.fields.in_contents
        for paragraph in paragraphs:
            self._walk(paragraph)
        return self._inline

    def _walk(self, parent: Element) -> None:
        for element in parent:
            name = local(element)
            handler = self._HANDLERS.get(name)
            if element.tag.startswith(M):
                self._equation(element)
            elif name in _REMOVED:
                self._seen.add(TRACKED)
            elif handler is not None:
                handler(self, element)
            elif name == "subDoc":
                self._seen.add(NOT_READ)
            elif name not in _IGNORED:
                self._note_change(name)
                self._walk(element)

    def _note_change(self, name: str) -> None:
        if name in _ADDED:
            self._seen.add(TRACKED)

    def _run(self, run: Element) -> None:
        properties = child(run, "rPr")
        if properties is not None and child(properties, "rPrChange") is not None:
            self._seen.add(TRACKED)
        if properties is not None and any(child(properties, name) is not None for name in _REMOVED):
            self._seen.add(TRACKED)
            return
        look = self._styles.look(self._paragraph_style, properties)
        self._drops_mark = False
        for element in run:
            self._part(element, look)

    def _part(self, element: Element, look: Look) -> None:
        name = local(element)
        if name == "t":
            if not self._drops_mark:
                text = _LINE_BREAKS.sub(" ", element.text or "")  # of the XML, not of the author
                self._add(translate(text, look.font), look)
        elif name in _BREAKS:
            self._add(_BREAKS[name], look)
        elif name == "sym":
            self._add(_symbol(element), look)
        elif name == "fldChar":
            self._add_shown(self.fields.mark(element), look)
            self._inline.in_contents = self._inline.in_contents or self.fields.in_contents
        elif name == "instrText":
            self.fields.instruct(element.text or "")
        elif name in ("footnoteReference", "endnoteReference"):
            self._note(element, name.removesuffix("Reference"))
        elif name == "commentReference":
            self._seen.add(COMMENTED)
        elif name in ("drawing", "pict", "object"):
            self._drawing(element, look)
        elif name == "ruby":
            for base in element.iterfind(W + "rubyBase"):
                self._walk(base)
        elif element.tag == M + "oMath":
            self._equation(element)
        elif name not in _IGNORED:
            for part in element:
                self._part(part, look)

    def _add(self, text: str, look: Look) -> None:
        self._add_shown(self.fields.text(text), look)

    def _add_shown(self, text: str, look: Look) -> None:
        if not text or ("NOTEREF" in self.fields.codes and look.raised == "superscript"):
            return
        where = hiding(look, self._background)
        if where is not None:
            self._inline.hidden.append((text, where))
            return
        if look.struck and text.strip():
            self._seen.add(STRUCK)
        self._inline.pieces.append(Piece(_raise(text, look), look))

    def _note(self, element: Element, kind: str) -> None:
        if not self.fields.is_visible:
            return
        is_custom = value(element, "customMarkFollows") in ("1", "true", "on")
        mark = None
        if is_custom:
            parent = element.getparent()
            following = [] if parent is None else parent.findall(W + "t")
            mark = "".join(text.text or "" for text in following) or None
            self._drops_mark = True
        self._inline.notes.append(NoteMark(kind, value(element, "id") or "", mark))

    def _simple_field(self, element: Element) -> None:
        depth = self.fields.simple(value(element, "instr") or "")
        self._inline.in_contents = self._inline.in_contents or self.fields.in_contents
        self._walk(element)
        self.fields.end_simple(depth)

    def _control(self, element: Element) -> None:
        """A content control; what it asks to be filled in is not text."""
        if is_on(child(element, "sdtPr"), "showingPlcHdr"):
            return
        content = child(element, "sdtContent")
        if content is not None:
            self._walk(content)

    def _equation(self, element: Element) -> None:
        text = equations.linear(element)
        look = self._styles.look(self._paragraph_style, None)
        self._add(text, look)

    def _drawing(self, element: Element, look: Look) -> None:
        where = "hidden" if look.hidden else place_of(element)
        for described in element.iter(WP + "docPr", V + "shape", V + "rect"):
            for name in ("descr", "title", "alt"):
                if described.get(name):
                    self._inline.hidden.append((described.get(name, ""), "alt_text"))
        for data in element.iter(_DIAGRAM):
            self._inline.diagrams.append(data.get(_DIAGRAM_DATA, ""))
        for art in element.iter(V + "textpath"):
            if art.get("string"):
                self._add(art.get("string", ""), look)
        self._inline.boxes += [(box, where) for box in text_boxes(element)]

    _HANDLERS: Mapping[str, Callable[[RunReader, Element], None]] = {
        "r": _run,
        "fldSimple": _simple_field,
        "sdt": _control,
    }


_BREAKS = {
    "tab": "\t",
    "ptab": "\t",
    "br": "\n",
    "cr": "\n",
    "noBreakHyphen": "-",
    "softHyphen": "",
}
_DIAGRAM_NAMESPACE = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_DIAGRAM = f"{_DIAGRAM_NAMESPACE}relIds"
_DIAGRAM_DATA = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}dm"


def _symbol(element: Element) -> str:
    code = value(element, "char") or ""
    if not re.fullmatch("[0-9A-Fa-f]{1,6}", code):
        return ""
    return symbol(int(code, 16), value(element, "font"))


def _raise(text: str, look: Look) -> str:
    """Raised and lowered figures in characters of their own: `m²` is not `m2`."""
    if look.raised in ("superscript", "subscript") and _RAISABLE.fullmatch(text.strip()):
        return text.translate(_RAISED if look.raised == "superscript" else _LOWERED)
    return text
