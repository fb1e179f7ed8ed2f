"""From the tree of a page to blocks of text, in one walk from top to bottom.

Text flows into the open block; what begins or ends a block closes it. Lists, terms and notes
put a marker before the next block. Tables and notes are told by a walk of their own, whose
text is taken flat.
"""

from __future__ import annotations

import re

from documents.ingestion.parsers.html.lists import BULLET, OpenList, has_own_label, open_list
from documents.ingestion.parsers.html.looks import NEVER_SHOWN
from documents.ingestion.parsers.html.notes import Note, without_mark
from documents.ingestion.parsers.html.page import COLLAPSED, Marker, OpenBlock, Page
from documents.ingestion.parsers.html.raised import lowered_text, raised_text
from documents.ingestion.parsers.html.tables import Table, read_table
from documents.ingestion.parsers.html.tree import (
    Closed,
    Element,
    Opened,
    names,
    walk,
)
from documents.ingestion.parsers.wrapped import joined_breaks
from documents.ingestion.parsers.writer import LINE_GAP, PARAGRAPH_GAP, TextWriter
from documents.records import BlockKind

_BLOCKS = names(
    "address article aside blockquote body caption center dd details dialog dir div dl dt"
    " fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html"
    " legend li main menu nav ol optgroup option p pre listing xmp search section summary table"
    " tbody td tfoot th thead tr ul svg foreignobject"
)
_LISTS = names("ol ul menu dir")
_HEADINGS = names("h1 h2 h3 h4 h5 h6")
_MARKUP = re.compile(r"<[^>]*>")
_BY_STYLE = names("hidden tiny white off_page")
_ENDS_TERM = _HEADINGS | _LISTS | names("li pre listing xmp table blockquote dd")
_PARAGRAPHS = re.compile(r"\n{2,}")
_INVISIBLE = str.maketrans("", "", "\u00ad\u200b")  # places where a line may break
_MAX_TABLES_IN_TABLES = 8
_INDENT = "  "
_MAX_INDENT = 12
_EMPTY_BOX = re.compile(r"(?:\s*\[[ x]\]\s*)+\Z")


class BlockWalk:
    """Writes the blocks below one element."""

    def __init__(self, page: Page, writer: TextWriter, *, depth: int = 0) -> None:
        self._page = page
        self._writer = writer
        self._depth = depth  # walks around this one
        self._path: list[Element] = []
        self._block = OpenBlock()
        self._marker = Marker()
        self._lists: list[OpenList] = []
        self._quotes = 0
        self._in_term = False
        self._muted: Element | None = None
        self._raised: list[int] = []
        self._hidden: list[str] = []
        self._tight_before = False
        self.cited: list[Note] = []

    def run(self, root: Element) -> None:
        """Write everything below `root`."""
        for event in walk(root, skipped=self._page.left_out):
            if isinstance(event, Opened):
                self._path.append(event.element)
                if self._muted is None and event.element is not root:
                    self._enter(event.element)
            elif isinstance(event, Closed):
                if self._muted is None and event.element is not root:
                    self._leave(event.element)
                if self._muted is event.element:
                    self._muted = None
                self._path.pop()
            elif self._muted is None:
                self._text(event)
        self._end_block()
        self._write_terms()

    # Text

    def _text(self, text: str) -> None:
        element = self._path[-1]
        if element in self._page.looks.hidden:
            self._hidden.append(text)
            return
        if element in self._page.looks.struck:
            self._page.has_struck = True
            self._page.hide(text, "struck")
            return
        text = text.translate(_INVISIBLE)
        if element not in self._page.looks.preformatted:
            text = COLLAPSED.sub(" ", text)
        self._block.pieces.append(text)
        size = len(text.strip())
        if element in self._page.looks.bold:
            self._block.bold += size
        else:
            self._block.plain += size

    # Elements

    def _enter(self, element: Element) -> None:
        self._asides(element)
        if element in self._page.looks.hidden:
            return
        if element in self._page.notes.cited:
            note = self._page.notes.cited[element]
            self._muted = element
            if note is not None and note.holder not in self._page.told:
                self._page.told.add(note.holder)
                self.cited.append(note)
            return
        if self._in_term and element.tag in _ENDS_TERM:
            self._in_term = False
        if element.tag in _BLOCKS:
            self._end_block()
        if element.tag == "table":
            self._enter_table(element)
        elif element.tag in _LISTS:
            self._open_list(element)
        else:
            self._enter_plain(element)

    def _enter_plain(self, element: Element) -> None:
        tag = element.tag
        if tag in _HEADINGS:
            self._block = OpenBlock(BlockKind.HEADING, int(tag[1]))
        elif tag == "li":
            self._open_item(element)
        elif tag in ("pre", "listing", "xmp"):
            self._block = OpenBlock(BlockKind.CODE)
        elif tag == "blockquote":
            self._quotes += 1
        elif tag == "dt":
            self._in_term = True
        elif tag == "p":
            self._block.is_tight = False
        elif tag == "br":
            self._block.pieces.append("\v" if "data-soft" in element.attributes else "\n")
        elif tag == "q":
            self._block.pieces.append("“")
        elif tag in ("sup", "sub"):
            self._raised.append(len(self._block.pieces))
        elif tag == "input" and element.get("type").lower() in ("checkbox", "radio"):
            self._block.pieces.append("[x] " if "checked" in element.attributes else "[ ] ")

    def _leave(self, element: Element) -> None:
        tag = element.tag
        if element in self._page.looks.hidden:
            if len(self._path) < 2 or self._path[-2] not in self._page.looks.hidden:
                self._hide(element)
            return
        if tag == "q":
            self._block.pieces.append("”")
        elif tag in ("sup", "sub") and self._raised:
            self._lower(tag, self._raised.pop())
        elif tag == "dt":
            self._close_term()
        elif tag in _BLOCKS:
            self._end_block()
        if tag == "dl":
            self._write_terms()
        elif tag == "blockquote":
            self._quotes -= 1
        elif tag == "li":
            self._write_terms()
            self._marker = Marker()
        elif tag in _LISTS and self._lists:
            self._lists.pop()

    def _hide(self, element: Element) -> None:
        """Put apart what was hidden in an element that is shown to stand in none hidden."""
        text, self._hidden = "".join(self._hidden), []
        where = self._page.looks.hidden[element]
        self._page.hide(text, where)
        if text.strip() and where in _BY_STYLE and element.tag not in NEVER_SHOWN:
            self._page.has_hidden = True

    def _asides(self, element: Element) -> None:
        for name, where in (("title", "link_title"), ("alt", "alt_text")):
            if name in element.attributes:
                self._page.hide(element.get(name), where)
        if "srcdoc" in element.attributes:
            self._page.hide(_MARKUP.sub(" ", element.get("srcdoc")), "hidden")
        if element.tag == "input" and element.get("type").lower() != "hidden":
            self._page.hide(element.get("value"), "form_field")
            self._page.hide(element.get("placeholder"), "form_field")

    def _lower(self, tag: str, start: int) -> None:
        pieces = self._block.pieces
        if start <= len(pieces):
            before, raised = "".join(pieces[:start])[-20:], "".join(pieces[start:])
            pieces[start:] = [
                raised_text(before, raised) if tag == "sup" else lowered_text(before, raised)
            ]

    # Lists and terms

    def _open_list(self, element: Element) -> None:
        self._write_terms()
        if not self._lists:
            self._tight_before = False
        outer = self._lists[-1].label if self._lists else ""
        self._lists.append(open_list(element, self._page.looks, outer=outer))

    def _open_item(self, element: Element) -> None:
        self._write_terms()
        around = self._marker.text
        if not self._lists:
            self._marker = Marker(BULLET, is_item=True)
            return
        current = self._lists[-1]
        current.is_headed = False
        printed = current.open_item(element, self._page.looks)
        number = current.label if printed and printed != BULLET else None
        if around not in ("", BULLET):  # an item that begins with a list shows both markers
            printed = f"{around} {printed}".rstrip()
        self._marker = Marker(printed, number, is_item=True)

    def _close_term(self) -> None:
        if self._in_term:
            term = " ".join("".join(self._block.pieces).split())
            if term:
                self._marker.terms.append(term)
            self._block = OpenBlock()
        self._in_term = False
        self._end_block()

    def _write_terms(self) -> None:
        """Terms that no definition followed."""
        if self._marker.terms:
            terms = ", ".join(self._marker.terms)
            self._marker.terms = []
            self._block = OpenBlock(pieces=[f"{terms.rstrip(':： ')}:"])
            self._end_block()

    # Blocks

    def _end_block(self) -> None:
        """Write the open block, and the notes that it cites."""
        if self._in_term:
            self._block.pieces.append(" ")
            return
        block, self._block = self._block, OpenBlock()
        self._raised.clear()
        if block.pieces:
            self._write_text(block)
        if self.cited and self._depth == 0:
            self._write_notes()

    def _write_text(self, block: OpenBlock) -> None:
        text = "".join(block.pieces)
        if block.kind is BlockKind.CODE:
            self._write(block, text.strip("\n").rstrip())
        else:
            text = joined_breaks(text)
            lines = (COLLAPSED.sub(" ", line).strip() for line in text.split("\n"))
            for paragraph in _PARAGRAPHS.split("\n".join(lines).strip("\n")):
                self._write(block, paragraph)

    def _write(self, block: OpenBlock, text: str) -> None:
        if not text.strip() or _EMPTY_BOX.match(text):
            return
        kind = self._kind(block.kind)
        marker, self._marker = self._marker, Marker()
        prefix = marker.prefix
        if marker.text == BULLET and has_own_label(text):
            prefix = prefix.removeprefix(f"{BULLET} ")
        if marker.text and kind is BlockKind.HEADING and self._lists:
            self._lists[-1].is_headed = True
        elif marker.is_item and kind is BlockKind.PARAGRAPH:
            kind = BlockKind.LIST_ITEM
        self._writer.add(
            kind,
            prefix + text,
            gap=self._gap(block, has_marker=marker.is_item),
            indent="" if kind is BlockKind.HEADING else self._indent(),
            level=block.level if kind is BlockKind.HEADING else None,
            flags=self._flags(block, kind),
            number=marker.number,
        )
        self._tight_before = block.is_tight and bool(self._lists)

    def _kind(self, kind: BlockKind) -> BlockKind:
        is_quoted = self._quotes > 0 and kind is not BlockKind.CODE
        return BlockKind.QUOTE if is_quoted else kind

    def _indent(self) -> str:
        return _INDENT * min(
            max(sum(not item.is_headed for item in self._lists) - 1, 0), _MAX_INDENT
        )

    def _gap(self, block: OpenBlock, *, has_marker: bool) -> str:
        is_next_item = has_marker and block.is_tight and self._tight_before
        return LINE_GAP if is_next_item else PARAGRAPH_GAP

    def _flags(self, block: OpenBlock, kind: BlockKind) -> frozenset[str]:
        flags = set()
        if block.bold and not block.plain:
            flags.add("bold")
        inside = self._lists and not self._lists[-1].is_headed
        if inside and kind in (BlockKind.PARAGRAPH, BlockKind.CODE):
            flags.add("continued")
        return frozenset(flags)

    # Notes and tables

    def _write_notes(self) -> None:
        while self.cited:
            note = self.cited.pop(0)
            for index, text in enumerate(self._flat_blocks(note.holder)):
                bare = text if index else f"{note.mark} {without_mark(text, note.mark)}"
                self._writer.add(BlockKind.FOOTNOTE, bare)

    def _flat_blocks(self, root: Element) -> list[str]:
        """The blocks below an element as text; what they cite is cited here."""
        inner = BlockWalk(self._page, TextWriter(), depth=self._depth + 1)
        inner.run(root)
        self.cited += inner.cited
        text = inner._writer.text()
        return [text[block.start : block.end] for block in inner._writer.blocks]

    def _flat(self, root: Element) -> str:
        """The text below an element on one line."""
        return " ".join(" ".join(text.split("\n")) for text in self._flat_blocks(root))

    def _enter_table(self, element: Element) -> None:
        if self._depth >= _MAX_TABLES_IN_TABLES:
            return
        table = read_table(element, self._flat, self._page.looks)
        if table is not None:
            self._muted = element
            self._write_table(table)

    def _write_table(self, table: Table) -> None:
        self._tight_before = False
        if table.caption:
            self._writer.add(BlockKind.PARAGRAPH, self._marker.prefix + table.caption)
            self._marker = Marker()
        for index, line in enumerate(table.lines):
            prefix, self._marker = self._marker.prefix, Marker()
            gap = LINE_GAP if index else PARAGRAPH_GAP
            self._writer.add(BlockKind.TABLE_ROW, prefix + line, gap=gap)
        if self._depth == 0:
            self._write_notes()
