"""Paragraphs as blocks: which are headings, items or plain, and how they are printed."""

from __future__ import annotations

from documents.ingestion.parsers.docx.lists import Outline
from documents.ingestion.parsers.docx.markup import Element, child, number
from documents.ingestion.parsers.docx.numbering import Marker
from documents.ingestion.parsers.docx.runs import Inline
from documents.ingestion.parsers.docx.styles import MAX_HEADING_LEVEL, Style, left_indent
from documents.ingestion.parsers.docx.titles import reads_like_title
from documents.ingestion.parsers.writer import LINE_GAP, PARAGRAPH_GAP, TextWriter
from documents.records import BlockKind

_INDENT = "  "
_QUOTES = frozenset({"quote", "intense quote", "block text"})


class BlockWriter:
    """Writes the blocks of one text, and knows what they hang below."""

    def __init__(self, writer: TextWriter) -> None:
        self._writer = writer
        self.outline = Outline()

    def paragraph(
        self, properties: Element | None, style: Style, inline: Inline, marker: Marker | None
    ) -> None:
        """Write a paragraph as the heading, item or plain paragraph that it is."""
        text, flags = inline.text, _flags(inline)
        level = heading_level(properties, style)
        if level is not None and reads_like_title(text):
            shown = " ".join(text.split())
            label = self.outline.heading(marker if marker and marker.full else None, shown)
            shown = labelled(marker if label else None, shown)
            self._writer.add(BlockKind.HEADING, shown, level=level, flags=flags, number=label)
        elif marker is not None:
            self._item(properties, marker, text, flags, opens_section=level is not None)
        else:
            self._plain(properties, style, text, flags)

    def _item(
        self,
        properties: Element | None,
        marker: Marker,
        text: str,
        flags: frozenset[str],
        *,
        opens_section: bool,
    ) -> None:
        if opens_section:  # a whole clause in a heading style
            depth, label = 0, self.outline.heading(marker, text)
        else:
            depth, label = self.outline.item(marker, left_indent(properties))
        indent = _INDENT * depth
        follows = bool(self._writer.blocks) and (
            self._writer.blocks[-1].kind is BlockKind.LIST_ITEM
        )
        is_tight = follows and not marker.text[0].isdigit() and not marker.is_own
        shown = labelled(marker, text).replace("\n", f"\n{indent}")
        gap = LINE_GAP if is_tight else PARAGRAPH_GAP
        self._writer.add(
            BlockKind.LIST_ITEM, shown, gap=gap, indent=indent, flags=flags, number=label
        )

    def _plain(
        self, properties: Element | None, style: Style, text: str, flags: frozenset[str]
    ) -> None:
        self.outline.typed(text)
        left = left_indent(properties)
        depth = self.outline.depth_of_paragraph(style.left if left is None else left)
        if depth is not None:
            flags = flags | {"continued"}
        is_quote = style.name.lower() in _QUOTES
        kind = BlockKind.QUOTE if is_quote else BlockKind.PARAGRAPH
        indent = _INDENT * (depth or 0)
        self._writer.add(kind, text.replace("\n", f"\n{indent}"), indent=indent, flags=flags)


def heading_level(properties: Element | None, style: Style) -> int | None:
    """The level of a heading, counted from 1, by its own properties or its style's."""
    level = number(child(properties, "outlineLvl"))
    if level is None:
        return style.heading_level
    return level + 1 if 0 <= level < MAX_HEADING_LEVEL else None


def _flags(inline: Inline) -> frozenset[str]:
    names = ("bold", "italic", "struck")
    return frozenset(name for name in names if inline.has_all(name))


def labelled(marker: Marker | None, text: str) -> str:
    """The text with its printed label; a label is never glued to a word."""
    if marker is None or not marker.text:
        return text
    is_glued = marker.suffix == "nothing" and not (
        marker.text[-1].isalnum() and marker.text[-1].isascii()
    )
    return f"{marker.text}{'' if is_glued else ' '}{text}".rstrip()
