"""HTML pages: the text a person sees, without what surrounds it, nothing fetched.

The tree is what a browser would build. What is hidden goes apart, menus and banners go, and
the rest becomes blocks in reading order: headings, items with the numbers that the page
computes, table rows with their heads, notes after what cites them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from documents.ingestion.parsers.encoding import Decoded
from documents.ingestion.parsers.html.about import active_content, declared_language, metadata_of
from documents.ingestion.parsers.html.blocks import BlockWalk
from documents.ingestion.parsers.html.furniture import find_furniture
from documents.ingestion.parsers.html.looks import look_at
from documents.ingestion.parsers.html.notes import find_notes
from documents.ingestion.parsers.html.page import Page
from documents.ingestion.parsers.html.tree import Element, parse_tree
from documents.ingestion.parsers.plain import parse_plain
from documents.ingestion.parsers.scripts import detect_language
from documents.ingestion.parsers.writer import TextWriter
from documents.records import ActiveContent, BlockKind, MediaType, Notice, ParsedDocument


@dataclass(frozen=True, slots=True)
class ReadPage:
    """A page as blocks, before anything is said about the file as a whole."""

    root: Element
    writer: TextWriter
    active: tuple[ActiveContent, ...]
    warnings: tuple[Notice, ...]


def parse_html(data: bytes, decoded: Decoded) -> ParsedDocument:
    """Read an HTML page; `decoded` is its text, `data` is not read again.

    Raises:
        ParseError: `refused`, where the page nests or grows beyond what a page may.
    """
    page = read_page(decoded.text, is_site=True)
    metadata = metadata_of(page.root)
    for value in metadata.values():
        page.writer.hide(value, "metadata")
    text = page.writer.text()
    parsed = ParsedDocument(
        media_type=MediaType.HTML,
        text=text,
        blocks=tuple(page.writer.blocks),
        title=_title(page.writer, metadata),
        language=detect_language(text) or declared_language(page.root),
        encoding=decoded.encoding,
        warnings=decoded.warnings + page.warnings,
        metadata=metadata,
        hidden=tuple(page.writer.hidden),
        active_content=page.active,
    )
    return _as_plain(parsed) if _is_preformatted(parsed) else parsed


def read_page(markup: str, *, is_site: bool = False) -> ReadPage:
    """Read markup into blocks.

    Args:
        markup: a page, or what Markdown was rendered to.
        is_site: whether menus and other furniture of a site may surround the text. Otherwise
            all of it is text, and scripts in it are odd enough to be screened.

    Raises:
        ParseError: `refused`, where the page nests or grows beyond what a page may.
    """
    root = parse_tree(markup)
    looks = look_at(root)
    left_out: set[Element] = set()
    is_unclear = False
    if is_site:
        left_out, is_unclear = find_furniture(root, looks)
    notes = find_notes(root)
    writer = TextWriter()
    page = Page(looks, notes, writer, left_out | notes.left_out, keeps_scripts=not is_site)
    BlockWalk(page, writer).run(root)
    active = active_content(root)
    return ReadPage(root, writer, active, _warnings(page, active, is_unclear=is_unclear))


def _title(writer: TextWriter, metadata: dict[str, str]) -> str | None:
    """The first heading of level 1, otherwise what the page calls itself."""
    text = writer.text()
    for block in writer.blocks:
        if block.kind is BlockKind.HEADING and block.level == 1:
            return text[block.start : block.end]
    return metadata.get("title")


def _warnings(
    page: Page, active: tuple[ActiveContent, ...], *, is_unclear: bool
) -> tuple[Notice, ...]:
    notices = []
    if page.has_hidden:
        notices.append(
            Notice(
                "hidden_text",
                "The page holds text that a person does not see; it is screened and left out."
                " Look at it before you approve.",
            )
        )
    if page.has_struck:
        notices.append(
            Notice(
                "struck_text",
                "Text that is struck out or marked as deleted was left out. Check that the rest"
                " is the current wording.",
            )
        )
    if active:
        kinds = ", ".join(sorted({item.kind for item in active}))
        notices.append(
            Notice(
                "active_content",
                f"The page holds parts that act or load something ({kinds}); they were not run."
                " Check that the text is whole without them.",
            )
        )
    if is_unclear:
        notices.append(
            Notice(
                "main_content_unclear",
                "The main text could not be told from menus and footers, so all of it was kept."
                " Check the sections, or upload the text alone.",
            )
        )
    return tuple(notices)


def _is_preformatted(parsed: ParsedDocument) -> bool:
    """Whether the page is one plain text in `<pre>`, as old sites publish their rules."""
    code = sum(b.end - b.start for b in parsed.blocks if b.kind is BlockKind.CODE)
    has_heading = any(block.kind is BlockKind.HEADING for block in parsed.blocks)
    return code > len(parsed.text) / 2 and not has_heading


def _as_plain(parsed: ParsedDocument) -> ParsedDocument:
    plain = parse_plain(Decoded(parsed.text, parsed.encoding or "utf-8"))
    return replace(parsed, text=plain.text, blocks=plain.blocks, title=parsed.title or plain.title)
