"""Markdown: CommonMark with tables, footnotes, definition lists and front matter.

It is rendered to HTML as any reader would render it, and that page is read like other pages, so
that Markdown and the HTML inside it are one. Printed numbers of items stay as written. Raw HTML
that would swallow what follows it is closed where its block ends, and a placeholder such as
`<Company name>` that no page would show stays as text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

from documents.ingestion.parsers.encoding import Decoded
from documents.ingestion.parsers.front_matter import split_front_matter
from documents.ingestion.parsers.html import read_page
from documents.ingestion.parsers.html.elements import KNOWN
from documents.ingestion.parsers.plain import parse_plain
from documents.ingestion.parsers.scripts import detect_language
from documents.ingestion.parsers.writer import TextWriter
from documents.records import Block, BlockKind, MediaType, ParsedDocument

_MAX_NESTING = 60
_ATTRIBUTES = re.compile(r"\s*\{:?\s*[#.][^{}\n]*\}\s*\Z")
_TAG = re.compile(r"<(/?)([A-Za-z][\w:.\-]*)")
_SWALLOWS = re.compile(
    r"<(script|style|textarea|title|xmp|iframe|noembed|noframes|noscript|template|select|plaintext)"
    r"\b(?![^<]*</\1)",
    re.IGNORECASE,
)


def parse_markdown(decoded: Decoded) -> ParsedDocument:
    """Read Markdown; see the module for what is kept and what is dropped."""
    front_matter = split_front_matter(decoded.text)
    parser = _parser()
    environment: dict[str, object] = {}
    tokens = parser.parse(front_matter.body, environment)
    if any(token.level >= _MAX_NESTING - 1 for token in tokens):
        return parse_plain(decoded)  # the parser leaves out what is nested deeper
    _prepare(tokens, front_matter.body)
    page = read_page(parser.renderer.render(tokens, parser.options, environment))
    _hide_reference_titles(environment, page.writer)
    page.writer.hide(front_matter.source, "metadata")
    text = page.writer.text()
    return ParsedDocument(
        media_type=MediaType.MARKDOWN,
        text=text,
        blocks=tuple(page.writer.blocks),
        title=front_matter.values.get("title") or _title(text, page.writer.blocks),
        language=detect_language(text),
        encoding=decoded.encoding,
        warnings=decoded.warnings + front_matter.warnings + page.warnings,
        metadata=front_matter.values,
        hidden=tuple(page.writer.hidden),
        active_content=page.active,
    )


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING})
    parser.enable(["table", "strikethrough"])
    parser.use(footnote_plugin, inline=False, move_to_end=False).use(deflist_plugin)
    parser.add_render_rule("softbreak", _render_soft_break)
    parser.add_render_rule("footnote_ref", _render_citation)
    parser.add_render_rule("footnote_reference_open", _render_note)
    parser.add_render_rule("footnote_reference_close", _render_note_end)
    return parser


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


# What the renderer calls: `self` is the renderer, which is not needed.


def _render_soft_break(*_: object) -> str:
    return "<br data-soft>"


def _render_citation(_self: object, tokens: Sequence[Token], index: int, *_: object) -> str:
    meta = tokens[index].meta
    number, label = meta["id"] + 1, _fragment(str(meta["label"]))
    return f'<sup class="footnote-ref"><a href="#fn-{label}" role="doc-noteref">{number}</a></sup>'


def _render_note(_self: object, tokens: Sequence[Token], index: int, *_: object) -> str:
    return f'<div class="footnotes" id="fn-{_fragment(str(tokens[index].meta["label"]))}">'


def _render_note_end(*_: object) -> str:
    return "</div>"


def _fragment(label: str) -> str:
    return "".join(char if char.isalnum() else f"-{ord(char):x}-" for char in label.casefold())


# Before rendering


def _prepare(tokens: Sequence[Token], source: str) -> None:
    closed = {match[2] for match in _TAG.finditer(source) if match[1]}
    in_heading = False
    for token in tokens:
        if token.type == "list_item_open" and token.info:
            token.attrSet("value", token.info)
            token.attrSet("data-suffix", token.markup)
        elif token.type == "html_block":
            token.content = _closed(_with_placeholders(token.content, closed))
        elif token.type in ("heading_open", "heading_close"):
            in_heading = token.type == "heading_open"
        elif token.type == "inline":
            _prepare_inline(token.children or [], closed, is_heading=in_heading)


def _prepare_inline(children: list[Token], closed: set[str], *, is_heading: bool) -> None:
    raw = "".join(child.content for child in children if child.type == "html_inline")
    for child in children:
        if child.type == "html_inline" and (
            (_SWALLOWS.search(child.content) and _SWALLOWS.search(raw))
            or _with_placeholders(child.content, closed) != child.content
        ):
            child.type = "text"
    if is_heading and children and children[-1].type == "text":
        children[-1].content = _ATTRIBUTES.sub("", children[-1].content)


def _with_placeholders(html: str, closed: set[str]) -> str:
    """HTML in which a name in angle brackets that is no element stays as text."""

    def shown(match: re.Match[str]) -> str:
        name = match[2].lower()
        is_element = name in KNOWN or match[2] in closed
        return match[0] if is_element else match[0].replace("<", "&lt;")

    return _TAG.sub(shown, html)


def _closed(html: str) -> str:
    """A block of HTML that keeps to itself what a browser would take for its content."""
    if html.rfind("<!--") > html.rfind("-->"):
        html += "-->"
    for match in _SWALLOWS.finditer(html):
        html += f"</{match[1]}>"
    return html
