"""A Word file to canonical text and blocks: opens the parts, reads the body, says what to know."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence

from documents.errors import ParseError
from documents.ingestion.parsers.docx.active import find_active_content
from documents.ingestion.parsers.docx.context import Context
from documents.ingestion.parsers.docx.markup import (
    Element,
    W,
    child,
    is_on,
    value,
)
from documents.ingestion.parsers.docx.notes import Notes
from documents.ingestion.parsers.docx.numbering import Numbering
from documents.ingestion.parsers.docx.package import Package
from documents.ingestion.parsers.docx.properties import read_properties
from documents.ingestion.parsers.docx.runs import COMMENTED, NOT_READ, STRUCK, TRACKED
from documents.ingestion.parsers.docx.story import Story
from documents.ingestion.parsers.docx.styles import Styles
from documents.ingestion.parsers.scripts import detect_language
from documents.ingestion.parsers.writer import TextWriter
from documents.records import ActiveContent, MediaType, Notice, ParsedDocument

_MESSAGES = {
    TRACKED: (
        "The file holds tracked changes. They were read as accepted: insertions are in, deletions "
        "are out. Accept or reject them in Word, then upload the file again."
    ),
    COMMENTED: "The file holds comments. They were left out. Remove them if they are not meant.",
    STRUCK: (
        "The file holds text that is struck through. It is still text and was kept: delete it in "
        "Word if it no longer holds."
    ),
    NOT_READ: (
        "The file includes a chart, a diagram or content in another format that was not read. "
        "What it says must stand in the document as text to be found."
    ),
}
_MAX_HEADER = 500
_MAX_NAMED = 5


def parse_docx(data: bytes) -> ParsedDocument:
    """Read a Word document.

    Raises:
        ParseError: `empty`, `encrypted`, `needs_ocr`, `unsupported` or `refused`; the message
            says what to do.
    """
    try:
        return _parse(Package(data))
    except RecursionError as error:
        message = "The Word file is nested too deep to be read. Save it again in Word."
        raise ParseError(message, code="refused") from error


def _parse(package: Package) -> ParsedDocument:
    package.refuse_document_types()
    root = package.xml(package.main)
    body = child(root, "body")
    if body is None:
        message = "The file is no Word document: its main part holds no text body."
        raise ParseError(message, code="unsupported")
    settings = _optional(package, "settings")
    context = _context(package, settings)
    Story(context, root, background=_page_color(root, settings)).read(body)
    headers = _read_headers(context)
    text = context.writer.text()
    if not _has_visible(text):
        raise _nothing_to_read(package)
    active = find_active_content(package, context.instructions, root)
    metadata = _metadata(package, headers)
    return ParsedDocument(
        media_type=MediaType.DOCX,
        text=text,
        blocks=tuple(context.writer.blocks),
        title=context.title or metadata.get("title"),
        language=detect_language(text),
        warnings=_warnings(context, active),
        metadata=metadata,
        hidden=tuple(context.writer.hidden),
        active_content=active,
    )


def _optional(package: Package, kind: str) -> Element | None:
    """The root of a part that the main part may have."""
    for name in package.related(package.main, kind):
        return package.xml(name)
    return None


def _context(package: Package, settings: Element | None) -> Context:
    styles = Styles(_optional(package, "styles"))
    return Context(
        package=package,
        part=package.main,
        styles=styles,
        numbering=Numbering(_optional(package, "numbering"), styles),
        notes={
            kind: Notes(kind, _optional(package, f"{kind}s"), settings)
            for kind in ("footnote", "endnote")
        },
        writer=TextWriter(),
    )


def _page_color(root: Element, settings: Element | None) -> str | None:
    """The colour of the page, where Word is told to show it."""
    color = (value(child(root, "background"), "color") or "").upper()
    is_shown = is_on(settings, "displayBackgroundShape")
    is_color = len(color) == 6 and all(char in "0123456789ABCDEF" for char in color)
    return color if is_shown and is_color else None


def _read_headers(context: Context) -> list[str]:
    """The words of headers and footers: kept apart, for screening."""
    headers: list[str] = []
    for where in ("header", "footer"):
        seen: set[str] = set()
        for name in context.package.related(context.package.main, where):
            root = context.package.xml(name)
            context.part = name
            text = "\n".join(Story(context, root).lines(root))
            if text.strip() and text not in seen:
                seen.add(text)
                context.writer.hide(text, where)
                if where == "header":
                    headers.append(" ".join(text.split()))
    return headers


def _has_visible(text: str) -> bool:
    return any(unicodedata.category(char)[0] not in "CZ" for char in text)


def _nothing_to_read(package: Package) -> ParseError:
    if package.related(package.main, "image"):
        message = (
            "The Word file holds pictures but no text. Put the text into the document, or upload "
            "a PDF that has been through text recognition."
        )
        return ParseError(message, code="needs_ocr")
    return ParseError("The Word file holds no visible text.", code="empty")


def _metadata(package: Package, headers: Sequence[str]) -> Mapping[str, str]:
    metadata = dict(read_properties(package))
    if headers:
        metadata["header"] = " | ".join(headers)[:_MAX_HEADER]
    return metadata


def _warnings(context: Context, active: Sequence[ActiveContent]) -> tuple[Notice, ...]:
    if _has_comments(context.package):
        context.seen.add(COMMENTED)
    if any(context.package.related(context.package.main, kind) for kind in ("chart", "chartEx")):
        context.seen.add(NOT_READ)
    found = [Notice(code, _MESSAGES[code]) for code in _MESSAGES if code in context.seen]
    if context.missing:
        names = ", ".join(sorted(set(context.missing))[:_MAX_NAMED])
        message = (
            f"The file holds {len(context.missing)} fields without a stored result ({names}). "
            "Update the fields in Word (Ctrl+A, F9) and upload the file again."
        )
        found.append(Notice("fields_without_result", message))
    if any(item.where not in ("header", "footer", "alt_text") for item in context.writer.hidden):
        message = "The file holds text that a reader does not see. It was kept apart and screened."
        found.append(Notice("hidden_text", message))
    return (*found, *_active_warnings(active))


def _active_warnings(active: Sequence[ActiveContent]) -> list[Notice]:
    found = []
    acting = [item for item in active if item.kind != "embedded_file"]
    if acting:
        names = ", ".join(sorted({item.kind for item in acting}))
        message = f"The file holds active content ({names}). It was not run or fetched."
        found.append(Notice("active_content", message))
    if len(acting) < len(active):
        message = "The file holds embedded files. Their text was not read: upload them separately."
        found.append(Notice("embedded_files", message))
    return found


def _has_comments(package: Package) -> bool:
    for name in package.related(package.main, "comments"):
        return any(True for _ in package.xml(name).iter(W + "comment"))
    return False
