"""Visible and hidden text of Markdown with HTML in it, block by block.

Markdown and the HTML inside it share one flow, because either may open what the other
fills: a table whose rows stand in several HTML blocks, a hidden `<div>` around Markdown
paragraphs. `Flow` knows which elements are open, and sends text to the current block, to a
table cell, or to the hidden text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

from documents.ingestion.parsers.table import TableText
from documents.ingestion.parsers.writer import LINE_GAP, PARAGRAPH_GAP, TextWriter
from documents.records import BlockKind

_VOID = frozenset(
    [
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "source",
        "track",
        "wbr",
    ]
)
_NEVER_SHOWN = frozenset(
    ["script", "style", "template", "head", "title", "noscript", "iframe", "object"]
)
_BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "center",
        "dd",
        "details",
        "dialog",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "html",
        "legend",
        "li",
        "main",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
        "caption",
    ]
)
_CLOSES_ITSELF = frozenset({"p", "li", "dt", "dd", "tr", "td", "th", "option"})
_HEADING = re.compile("h([1-6])$")
_HIDING_STYLE = re.compile(
    r"display:none|visibility:hidden|font-size:0(?![.\d])|opacity:0(?![.\d])|left:-\d{3,}"
)
_WHITE_SPACE = re.compile(r"\s+")


@dataclass(slots=True)
class _Element:
    tag: str
    hidden: bool


@dataclass(slots=True)
class _OpenBlock:
    kind: BlockKind = BlockKind.PARAGRAPH
    prefix: str = ""
    indent: str = ""
    gap: str = PARAGRAPH_GAP
    level: int | None = None
    flags: frozenset[str] = frozenset()
    pieces: list[str] = field(default_factory=list)


class Flow:
    """Where text goes while a Markdown file is read from top to bottom."""

    def __init__(self, writer: TextWriter) -> None:
        self._writer = writer
        self._elements: list[_Element] = []
        self._block = _OpenBlock()
        self._hidden: list[str] = []
        self._tables: list[TableText] = []
        self._reader = _HtmlReader(self)

    def open_block(
        self,
        kind: BlockKind,
        *,
        prefix: str = "",
        indent: str = "",
        gap: str = PARAGRAPH_GAP,
        level: int | None = None,
        flags: frozenset[str] = frozenset(),
    ) -> None:
        """Begin a block; what was open is written first."""
        self.close_block()
        self._close_paragraph()
        self._block = _OpenBlock(kind, prefix, indent, gap, level, flags)

    def close_block(self) -> None:
        """Write the open block, and what was hidden in it."""
        self._flush_hidden()
        block, self._block = self._block, _OpenBlock()
        text = "".join(block.pieces)
        if block.kind is not BlockKind.CODE:
            text = "\n".join(line.strip() for line in text.strip().split("\n") if line.strip())
        if text.strip():
            self._writer.add(
                block.kind,
                block.prefix + text.strip("\n"),
                gap=block.gap,
                indent=block.indent,
                level=block.level,
                flags=block.flags,
            )

    def text(self, text: str) -> None:
        """Add text as it is to wherever the flow stands."""
        if self._is_hidden():
            self._hidden.append(text)
        elif self._tables and self._tables[-1].in_cell:
            self._tables[-1].text(text)
        else:
            self._block.pieces.append(text)

    def flag(self, name: str) -> None:
        """Note a style fact of the open block."""
        self._block.flags |= {name}

    def html(self, fragment: str) -> None:
        """Read a piece of HTML, which may open elements that later pieces close."""
        self._reader.read(fragment)

    def aside(self, text: str, where: str) -> None:
        """Keep text that stands beside the visible text: alternatives, titles, comments."""
        self._writer.hide(text, where)

    def finish(self) -> None:
        """Write what is still open at the end of the file."""
        self.close_block()
        while self._tables:
            self.end_table()

    def start_table(self) -> None:
        """Open a table; one inside a cell of another is kept in that cell's text."""
        self._tables.append(TableText())

    def start_cell(self, *, is_header: bool) -> None:
        """Open a table cell."""
        if self._tables:
            self._tables[-1].start_cell(is_header=is_header)

    def end_cell(self) -> None:
        """Close the open cell."""
        if self._tables:
            self._tables[-1].end_cell()

    def end_row(self) -> None:
        """Close the open row."""
        if self._tables:
            self._tables[-1].end_row()

    def end_table(self) -> None:
        """Write the table's rows."""
        if not self._tables:
            return
        lines = self._tables.pop().lines()
        if self._tables and self._tables[-1].in_cell:
            self._tables[-1].text(" ".join(lines))
            return
        for index, line in enumerate(lines):
            gap = LINE_GAP if index else PARAGRAPH_GAP
            self._writer.add(BlockKind.TABLE_ROW, line, gap=gap)

    # What the HTML reader calls.

    def start_element(self, tag: str, attributes: dict[str, str]) -> None:
        """Open an HTML element."""
        self.aside(attributes.get("title", ""), "link_title")
        self.aside(attributes.get("alt", ""), "alt_text")
        if tag == "br":
            self.text("\n")
        if tag in _BLOCKS and not self._inside_cell(tag):
            self.close_block()
            self._shape_block(tag)
        elif tag in _BLOCKS:
            self.text(" ")
        if tag in _VOID:
            return
        self._close_implied(tag)
        self._elements.append(_Element(tag, self._is_hidden() or _hides(tag, attributes)))
        if not self._is_hidden():
            self._start_table_part(tag)

    def end_element(self, tag: str) -> None:
        """Close an HTML element, and what was left open inside it."""
        if not any(element.tag == tag for element in self._elements):
            return
        if self._is_hidden():
            self._flush_hidden()
        elif tag in _BLOCKS and not self._inside_cell(tag):
            self.close_block()
        while self._elements:
            element = self._elements.pop()
            if element.tag == "table" and not element.hidden and self._tables:
                self.end_table()
            if element.tag == tag:
                break
        if tag in ("td", "th"):
            self.end_cell()
        if tag == "tr":
            self.end_row()

    def html_text(self, text: str) -> None:
        """Text between tags: white space is collapsed unless it stands in `<pre>`."""
        if not any(element.tag == "pre" for element in self._elements):
            text = _WHITE_SPACE.sub(" ", text)
        self.text(text)

    def _flush_hidden(self) -> None:
        if self._hidden:
            self._writer.hide("".join(self._hidden), "hidden")
            self._hidden = []

    def _shape_block(self, tag: str) -> None:
        heading = _HEADING.match(tag)
        if heading:
            self._block = _OpenBlock(BlockKind.HEADING, level=int(heading.group(1)))
        elif tag == "li":
            self._block = _OpenBlock(BlockKind.LIST_ITEM, prefix="- ", gap=LINE_GAP)
        elif tag == "pre":
            self._block = _OpenBlock(BlockKind.CODE)

    def _is_hidden(self) -> bool:
        return bool(self._elements) and self._elements[-1].hidden

    def _inside_cell(self, tag: str) -> bool:
        table_part = tag in ("table", "tr", "td", "th", "tbody", "thead", "tfoot", "caption")
        return bool(self._tables) and self._tables[-1].in_cell and not table_part

    def _close_paragraph(self) -> None:
        if self._elements and self._elements[-1].tag == "p":
            self._elements.pop()

    def _close_implied(self, tag: str) -> None:
        if not self._elements:
            return
        top = self._elements[-1].tag
        cell = top in ("td", "th") and tag in ("td", "th", "tr")
        if (top == "p" and tag in _BLOCKS) or (top == tag and tag in _CLOSES_ITSELF) or cell:
            self._elements.pop()

    def _start_table_part(self, tag: str) -> None:
        if tag == "table":
            self.start_table()
        elif tag == "tr":
            self.end_row()
        elif tag in ("td", "th"):
            self.start_cell(is_header=tag == "th")


def _hides(tag: str, attributes: dict[str, str]) -> bool:
    style = "".join(attributes.get("style", "").split()).lower()
    return (
        tag in _NEVER_SHOWN
        or "hidden" in attributes
        or attributes.get("aria-hidden", "").lower() == "true"
        or _HIDING_STYLE.search(style) is not None
    )


class _HtmlReader(HTMLParser):
    """Passes what the standard parser sees on to the flow."""

    def __init__(self, flow: Flow) -> None:
        super().__init__(convert_charrefs=True)
        self._flow = flow

    def read(self, fragment: str) -> None:
        self.feed(fragment)
        self.close()
        self.reset()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._flow.start_element(tag, {name: value or "" for name, value in attrs})

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self._flow.end_element(tag)

    def handle_endtag(self, tag: str) -> None:
        self._flow.end_element(tag)

    def handle_data(self, data: str) -> None:
        self._flow.html_text(data)

    def handle_comment(self, data: str) -> None:
        self._flow.aside(data, "comment")

    def unknown_decl(self, data: str) -> None:
        self._flow.aside(data, "comment")

    def handle_decl(self, decl: str) -> None:
        self._flow.aside(decl, "comment")

    def handle_pi(self, data: str) -> None:
        self._flow.aside(data, "comment")
