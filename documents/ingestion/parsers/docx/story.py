"""One text of a Word file read to blocks: the body, and each text box inside it.

Order is kept. Notes follow the paragraph or table that cites them, text boxes the paragraph
that they are anchored to.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from documents.ingestion.parsers.docx import flow
from documents.ingestion.parsers.docx.blocks import BlockWriter, heading_level, labelled
from documents.ingestion.parsers.docx.context import Context
from documents.ingestion.parsers.docx.drawings import is_filled
from documents.ingestion.parsers.docx.fields import Fields, matched_marks
from documents.ingestion.parsers.docx.flow import Paragraph
from documents.ingestion.parsers.docx.looks import MARKED
from documents.ingestion.parsers.docx.markup import (
    A,
    Element,
    W,
    child,
    is_on,
    number,
    texts,
    value,
)
from documents.ingestion.parsers.docx.numbering import Marker
from documents.ingestion.parsers.docx.runs import NOT_READ, Inline, RunReader
from documents.ingestion.parsers.docx.styles import (
    Style,
    shading,
)
from documents.ingestion.parsers.docx.tables import CellText, Table
from documents.ingestion.parsers.docx.titles import is_contents_entry
from documents.ingestion.parsers.writer import LINE_GAP, PARAGRAPH_GAP
from documents.records import BlockKind

_INDENT = "  "
_FLAT = 40  # twentieths of a point: lines and rows of that height show nothing
_FAR = 20 * 72 * 15  # no text stands fifteen inches from where its page begins
_QUOTES = frozenset({"quote", "intense quote", "block text"})


class Story:
    """Reads one text into the writer, or into plain lines."""

    def __init__(self, context: Context, root: Element, *, background: str | None = None) -> None:
        self._context = context
        self._fields = Fields(matched_marks(root))
        self._runs = RunReader(context.styles, self._fields, context.seen)
        self._numbering = context.numbering.story()
        self._blocks = BlockWriter(context.writer)
        self._background = background
        self._notes: list[tuple[str, Element]] = []
        self._boxes: list[tuple[Element, str | None]] = []
        body = child(root, "body")
        self._sections = [] if body is None else list(body.iter(W + "sectPr"))
        self._is_first_section = True

    def read(self, container: Element) -> None:
        """Write the blocks of a container."""
        self._begin_section()
        self._read_blocks(container)
        self._close()

    def lines(self, container: Element) -> list[str]:
        """The paragraphs of a container as plain lines, tables and text boxes among them."""
        lines = [line for line, _ in self._lines(container)]
        self._notes.clear()
        self._close()
        return lines

    def _close(self) -> None:
        self._context.instructions += self._fields.instructions
        self._context.missing += self._fields.missing
        self._fields.instructions, self._fields.missing = [], []

    def _read_blocks(self, container: Element) -> None:
        for block in flow.blocks(container, self._context.seen):
            if isinstance(block, Paragraph):
                self._paragraph(block)
            elif block.tag == W + "tbl":
                self._table(block)
            else:
                self._other(block)
            self._write_notes()
            self._write_boxes()

    def _other(self, element: Element) -> None:
        if element.tag == W + "altChunk":
            self._context.seen.add(NOT_READ)

    def _begin_section(self) -> None:
        """Count notes as the section that begins says, whose properties stand at its end."""
        if self._sections:
            for notes in self._context.notes.values():
                notes.begin_section(self._sections[0], is_first=self._is_first_section)
            del self._sections[0]
        self._is_first_section = False

    # Paragraphs.

    def _paragraph(self, paragraph: Paragraph) -> None:
        style, inline, marker = self._read_paragraph(paragraph)
        text = inline.text
        if text and not self._is_contents(paragraph, style, inline, text):
            if style.name.lower() == "title" and self._context.title is None:
                self._context.title = " ".join(text.split())
            self._blocks.paragraph(paragraph.properties, style, inline, marker)
        elif marker is not None:
            self._blocks.outline.item(marker, None)
        if child(paragraph.properties, "sectPr") is not None:
            self._begin_section()

    def _read_paragraph(self, paragraph: Paragraph) -> tuple[Style, Inline, Marker | None]:
        properties = paragraph.properties
        style = self._context.styles.paragraph(value(child(properties, "pStyle")))
        fill = shading(child(properties, "shd")) or style.fill or self._background
        inline = self._runs.read(paragraph.elements, style.id or None, fill)
        where = _hiding_place(properties)
        if where is not None:
            inline.hidden.append((inline.text, where))
            inline.pieces.clear()
        self._take_asides(inline)
        place = self._numbering.place(properties, style)
        if place is None or (not inline.text and self._is_unseen(properties, style, inline)):
            return style, inline, None
        return style, inline, self._numbering.count(place)

    def _take_asides(self, inline: Inline) -> None:
        for text, where in _joined(inline.hidden):
            self._context.writer.hide(text, where)
        for mark in inline.notes:
            cited = self._context.notes[mark.kind].cite(mark.id, mark.mark)
            if cited is not None:
                self._notes.append(cited)
        self._boxes += inline.boxes
        for diagram in inline.diagrams:
            self._read_diagram(diagram)

    def _is_unseen(self, properties: Element | None, style: Style, inline: Inline) -> bool:
        """Whether a paragraph is hidden with its mark: Word then does not count it."""
        mark = child(properties, "rPr")
        is_hidden = self._context.styles.look(style.id or None, mark).hidden
        return is_hidden or any(where == "hidden" for _, where in inline.hidden)

    def _is_contents(self, paragraph: Paragraph, style: Style, inline: Inline, text: str) -> bool:
        """Whether a paragraph belongs to a generated table of contents: it repeats headings."""
        if style.is_contents_title:
            return True
        is_inside = paragraph.in_contents or inline.in_contents
        return (is_inside and (style.is_contents or is_contents_entry(text))) or (
            style.is_contents and is_contents_entry(text)
        )

    def heading_level(self, paragraph: Element) -> int | None:
        """The heading level of a paragraph element, counted from 1."""
        properties = child(paragraph, "pPr")
        style = self._context.styles.paragraph(value(child(properties, "pStyle")))
        return heading_level(properties, style)

    # Tables.

    def _table(self, element: Element) -> None:
        style = self._context.styles.table(value(child(element, "tblPr", "tblStyle")))
        table = Table(element, style, self._context.seen)
        for name in ("tblCaption", "tblDescription"):
            self._context.writer.hide(value(child(element, "tblPr", name)) or "", "alt_text")
        if table.is_layout(self.heading_level):
            for _, cells in table.rows:
                for cell in cells:
                    self._with_background(cell, style, self._read_blocks)
            return
        gap = PARAGRAPH_GAP
        for line in table.lines(partial(self._cell, style)):
            if line.is_clause:
                self._context.writer.add(BlockKind.PARAGRAPH, line.text)
            else:
                self._context.writer.add(BlockKind.TABLE_ROW, line.text, gap=gap)
                gap = LINE_GAP

    def _cell(self, style: Style, cell: Element) -> CellText:
        if self._is_hidden_row(cell):
            self._context.writer.hide(" ".join(texts(cell, W + "t")), "hidden")
            return CellText("", is_bold=False)
        found: list[tuple[str, bool]] = []
        self._with_background(cell, style, lambda element: found.extend(self._lines(element)))
        text = " ".join(" ".join(line.split()) for line, _ in found)
        return CellText(text, bool(found) and all(is_bold for _, is_bold in found))

    def _is_hidden_row(self, cell: Element) -> bool:
        row = cell.getparent()
        while row is not None and row.tag != W + "tr":
            row = row.getparent()
        height = child(row, "trPr", "trHeight")
        is_flat = value(height, "hRule") == "exact" and (number(height) or 0) <= _FLAT
        return is_flat or is_on(child(row, "trPr"), "hidden")

    def _with_background(self, cell: Element, style: Style, read: _Reading) -> None:
        outer = self._background
        fill = shading(child(cell, "tcPr", "shd"))
        self._background = fill or (MARKED if style.has_shading else outer)
        read(cell)
        self._background = outer

    def _lines(self, container: Element) -> list[tuple[str, bool]]:
        """Lines of text with whether they are bold; the numbering goes on through them."""
        found: list[tuple[str, bool]] = []
        for block in flow.blocks(container, self._context.seen):
            if isinstance(block, Paragraph):
                found += self._line(block)
            elif block.tag == W + "tbl":
                style = self._context.styles.table(value(child(block, "tblPr", "tblStyle")))
                table = Table(block, style, self._context.seen)
                lines = table.lines(partial(self._cell, style))
                found += [(line.text, False) for line in lines]
            else:
                self._other(block)
        return found

    def _line(self, paragraph: Paragraph) -> list[tuple[str, bool]]:
        _, inline, marker = self._read_paragraph(paragraph)
        text = labelled(marker, inline.text)
        is_bare_bullet = marker is not None and not inline.text and marker.full is None
        found = [] if not text or is_bare_bullet else [(text, inline.has_all("bold"))]
        boxes, self._boxes = self._boxes, []
        for box, where in boxes:
            lines = self._box(box).lines(box)
            if where is None:
                found += [(line, False) for line in lines]
            else:
                self._context.writer.hide("\n".join(lines), where)
        return found

    # What follows a paragraph.

    def _write_notes(self) -> None:
        notes, self._notes = self._notes, []
        for mark, element in notes:
            lines = Story(self._context, element).lines(element)
            if lines:
                self._context.writer.add(BlockKind.FOOTNOTE, f"{mark} ".lstrip() + "\n".join(lines))

    def _write_boxes(self) -> None:
        boxes, self._boxes = self._boxes, []
        for box, where in boxes:
            if where is None:
                self._box(box).read(box)
            else:
                self._context.writer.hide("\n".join(self._box(box).lines(box)), where)

    def _box(self, box: Element) -> Story:
        # A shape may be filled in a colour that its text stands out from.
        return Story(self._context, box, background=MARKED if is_filled(box) else None)

    def _read_diagram(self, relationship: str) -> None:
        package, part = self._context.package, self._context.part
        link = package.relationships(part).get(relationship)
        if link is None or link.is_external or not package.has(link.target):
            self._context.seen.add(NOT_READ)
            return
        for point in package.xml(link.target).iter(f"{_DIAGRAM}t"):
            self._context.writer.add(
                BlockKind.PARAGRAPH, " ".join("".join(texts(point, A + "t")).split())
            )


_Reading = Callable[[Element], None]
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"


def _hiding_place(properties: Element | None) -> str | None:
    """How a paragraph as a whole hides: in a frame off the page, or in lines without height."""
    frame = child(properties, "framePr")
    if any(abs(number(frame, name) or 0) > _FAR for name in ("x", "y")):
        return "off_page"
    spacing = child(properties, "spacing")
    line = number(spacing, "line")
    is_exact = value(spacing, "lineRule") == "exact"
    return "tiny" if is_exact and line is not None and line <= _FLAT else None


def _joined(hidden: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Neighbouring hidden runs of one kind as one text."""
    joined: list[tuple[str, str]] = []
    for text, where in hidden:
        if joined and joined[-1][1] == where and where != "alt_text":
            joined[-1] = (joined[-1][0] + text, where)
        else:
            joined.append((text, where))
    return joined
