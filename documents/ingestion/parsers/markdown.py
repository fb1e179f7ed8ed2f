"""Markdown: CommonMark with tables and front matter, as the plain text a reader sees.

Headings keep their level, list items their markers, table rows their column heads. Link
targets, emphasis marks and fences are dropped; alternative texts, link titles, comments and
hidden HTML are kept apart. Front matter becomes metadata and is no part of the text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.front_matter import front_matter_plugin

from documents.ingestion.parsers.encoding import Decoded
from documents.ingestion.parsers.flow import Flow
from documents.ingestion.parsers.plain import parse_plain
from documents.ingestion.parsers.scripts import detect_language
from documents.ingestion.parsers.writer import LINE_GAP, PARAGRAPH_GAP, TextWriter
from documents.records import Block, BlockKind, MediaType, Notice, ParsedDocument

_INDENT = "  "
_MAX_NESTING = 60


def parse_markdown(decoded: Decoded) -> ParsedDocument:
    """Read Markdown; see the module for what is kept and what is dropped."""
    parser = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING})
    parser.enable("table").use(front_matter_plugin)
    environment: dict[str, object] = {}
    tokens = parser.parse(decoded.text, environment)
    if any(token.level >= _MAX_NESTING - 1 for token in tokens):
        return parse_plain(decoded)  # the parser leaves out what is nested deeper
    writer = TextWriter()
    walk = _Walk(writer)
    walk.read(tokens)
    _hide_reference_titles(environment, writer)
    front_matter = next((token.content for token in tokens if token.type == "front_matter"), "")
    metadata, warnings = _front_matter(front_matter)
    writer.hide(front_matter, "metadata")
    text = writer.text()
    return ParsedDocument(
        media_type=MediaType.MARKDOWN,
        text=text,
        blocks=tuple(writer.blocks),
        title=metadata.get("title") or _title(text, writer.blocks),
        language=detect_language(text),
        encoding=decoded.encoding,
        warnings=decoded.warnings + warnings,
        metadata=metadata,
        hidden=tuple(writer.hidden),
    )


def _title(text: str, blocks: Sequence[Block]) -> str | None:
    for block in blocks:
        if block.kind is BlockKind.HEADING:
            return text[block.start : block.end] if block.level == 1 else None
    return None


def _hide_reference_titles(environment: Mapping[str, object], writer: TextWriter) -> None:
    """Titles of link definitions are a known place for comments: `[//]: # (text)`."""
    references = environment.get("references")
    if isinstance(references, Mapping):
        for reference in references.values():
            writer.hide(str(reference.get("title", "")), "link_title")


def _front_matter(content: str) -> tuple[dict[str, str], tuple[Notice, ...]]:
    """Front matter as strings. Aliases are refused: a few lines of them can fill the memory."""
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(content)):
            raise yaml.YAMLError
        loaded = yaml.safe_load(content)
    except (yaml.YAMLError, ValueError, RecursionError):
        message = "The front matter is not valid YAML and was not read."
        return {}, (Notice("bad_front_matter", message),)
    if not isinstance(loaded, dict):
        return {}, ()
    return {str(key): _plain_value(value) for key, value in loaded.items()}, ()


def _plain_value(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    return str(value)


class _Walk:
    """Goes through the tokens in order and feeds the flow."""

    def __init__(self, writer: TextWriter) -> None:
        self._writer = writer
        self._flow = Flow(writer)
        self._markers: list[str] = []  # of the open lists' items; "" once printed
        self._quotes = 0
        self._tight_before = False

    def read(self, tokens: Sequence[Token]) -> None:
        for token in tokens:
            handler = getattr(self, f"_on_{token.type}", None)
            if handler is not None:
                handler(token)
        self._flow.finish()

    def _on_blockquote_open(self, _: Token) -> None:
        self._quotes += 1

    def _on_blockquote_close(self, _: Token) -> None:
        self._quotes -= 1

    def _on_ordered_list_open(self, _: Token) -> None:
        if not self._markers:
            self._tight_before = False

    def _on_bullet_list_open(self, token: Token) -> None:
        self._on_ordered_list_open(token)

    def _on_list_item_open(self, token: Token) -> None:
        self._markers.append(f"{token.info}{token.markup} " if token.info else "- ")

    def _on_list_item_close(self, _: Token) -> None:
        self._flow.close_block()
        self._markers.pop()

    def _on_heading_open(self, token: Token) -> None:
        self._tight_before = False
        if self._markers or self._quotes:
            self._open(BlockKind.PARAGRAPH)
        else:
            self._flow.open_block(BlockKind.HEADING, level=int(token.tag[1]))

    def _on_paragraph_open(self, token: Token) -> None:
        self._open(BlockKind.PARAGRAPH, tight=token.hidden)

    def _on_heading_close(self, _: Token) -> None:
        self._flow.close_block()

    def _on_paragraph_close(self, _: Token) -> None:
        self._flow.close_block()

    def _on_fence(self, token: Token) -> None:
        self._open(BlockKind.CODE)
        self._flow.text(token.content)
        self._flow.close_block()

    def _on_code_block(self, token: Token) -> None:
        self._on_fence(token)

    def _on_html_block(self, token: Token) -> None:
        self._flow.html(token.content)

    def _open(self, kind: BlockKind, *, tight: bool = False) -> None:
        """Begin a paragraph or fence, with the marker of a list item that it opens."""
        prefix, gap, flags = "", PARAGRAPH_GAP, frozenset[str]()
        depth = max(len(self._markers) - 1, 0)
        if self._markers and self._markers[-1]:
            prefix, self._markers[-1] = self._markers[-1], ""
            kind = BlockKind.LIST_ITEM if kind is BlockKind.PARAGRAPH else kind
            follows_item = bool(self._writer.blocks) and self._tight_before
            gap = LINE_GAP if tight and follows_item else PARAGRAPH_GAP
        elif self._markers:
            flags = frozenset({"continued"})
        if self._quotes and kind is not BlockKind.CODE:
            kind = BlockKind.QUOTE
        self._tight_before = tight
        self._flow.open_block(kind, prefix=prefix, indent=_INDENT * depth, gap=gap, flags=flags)

    def _on_inline(self, token: Token) -> None:
        for child in token.children or ():
            self._inline(child)
        if self._is_bold(token.children or ()):
            self._flow.flag("bold")

    def _inline(self, token: Token) -> None:
        if token.type in ("text", "code_inline", "text_special"):
            self._flow.text(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            self._flow.text("\n")
        elif token.type == "image":
            self._flow.aside(token.content, "alt_text")
            self._flow.aside(str(token.attrs.get("title", "")), "link_title")
        elif token.type == "link_open":
            self._flow.aside(str(token.attrs.get("title", "")), "link_title")
        elif token.type == "html_inline":
            self._flow.html(token.content)

    def _is_bold(self, children: Sequence[Token]) -> bool:
        shown = [child for child in children if child.type != "text" or child.content.strip()]
        return (
            len(shown) >= 3
            and shown[0].type == "strong_open"
            and shown[-1].type == "strong_close"
            and sum(child.type == "strong_open" for child in shown) == 1
        )

    def _on_table_open(self, _: Token) -> None:
        self._tight_before = False
        self._flow.close_block()
        self._flow.start_table()

    def _on_th_open(self, _: Token) -> None:
        self._flow.start_cell(is_header=True)

    def _on_td_open(self, _: Token) -> None:
        self._flow.start_cell(is_header=False)

    def _on_th_close(self, _: Token) -> None:
        self._flow.end_cell()

    def _on_td_close(self, _: Token) -> None:
        self._flow.end_cell()

    def _on_tr_close(self, _: Token) -> None:
        self._flow.end_row()

    def _on_table_close(self, _: Token) -> None:
        self._flow.end_table()
