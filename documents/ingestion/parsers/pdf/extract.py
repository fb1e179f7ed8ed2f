"""From the bytes of a PDF to its pages, one at a time.

pdfium is spoken to here and in `objects`, `glyphs`, `fonts` and `tags` alone. A page is closed
before the next is opened, so that memory is bound by a page and not by the file.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pypdfium2 as pdfium2
import pypdfium2.raw as pdfium

from documents.errors import ParseError
from documents.ingestion.parsers.pdf.fonts import Fonts
from documents.ingestion.parsers.pdf.geometry import PageSpace
from documents.ingestion.parsers.pdf.glyphs import Glyphs
from documents.ingestion.parsers.pdf.ink import Ink, draw
from documents.ingestion.parsers.pdf.objects import read_objects
from documents.ingestion.parsers.pdf.page import PageContent, Word
from documents.ingestion.parsers.pdf.tags import Tags

MAX_PAGES = 10_000
_MAX_OUTLINE = 20_000  # entries
_META = ("Title", "Author", "Subject", "Keywords", "Creator", "Producer", "CreationDate", "ModDate")
_ENCRYPTED = "The PDF asks for a password. Remove the password and upload it again."
_DAMAGED = "The PDF is damaged and cannot be opened. Save it again from its source and upload it."


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A bookmark: its words, how deep it lies (from 1), the page it opens and how far down."""

    title: str
    level: int
    page: int | None
    top: float | None = None


class PdfFile:
    """An open PDF."""

    def __init__(self, data: bytes) -> None:
        """Open it.

        Raises:
            ParseError: `encrypted` when it asks for a password, `refused` when it is damaged or
                has too many pages.
        """
        self._document = opened(data)
        self.page_count = len(self._document)
        if self.page_count > MAX_PAGES:
            self.close()
            message = f"The PDF has more than {MAX_PAGES} pages. Split it and upload the parts."
            raise ParseError(message, code="refused")
        self._is_tagged = bool(pdfium.FPDFCatalog_IsTagged(self._document.raw))

    def close(self) -> None:
        """Give its memory back."""
        self._document.close()

    def page(self, number: int) -> PageContent | None:
        """Read a page, counted from 1; None where it is damaged."""
        with self._opened(number) as page:
            return self._read(page, number) if page else None

    def page_and_ink(self, number: int) -> tuple[PageContent, Ink | None] | None:
        """Read a page, counted from 1, and draw it; None where it is damaged."""
        with self._opened(number) as page:
            if not page:
                return None
            content = self._read(page, number)
            return content, draw(page, content.width, content.height)

    def ink(self, content: PageContent) -> Ink | None:
        """The page as drawn, for what words and records alone cannot prove."""
        with self._opened(content.number) as page:
            return draw(page, content.width, content.height) if page else None

    @contextmanager
    def _opened(self, number: int) -> Iterator[Any]:
        """The library's own page, counted from 1, closed in the end; false where it is damaged."""
        page = pdfium.FPDF_LoadPage(self._document.raw, number - 1)
        try:
            yield page
        finally:
            if page:
                pdfium.FPDF_ClosePage(page)

    def metadata(self) -> dict[str, str]:
        """The document information that is set, by its key in lower case."""
        found = {key: _meta(self._document.raw, key) for key in _META}
        return {key.lower(): value for key, value in found.items() if value}

    def language(self) -> str | None:
        """The language that the file itself names."""
        size = 64
        buffer = (pdfium.FPDF_WCHAR * size)()
        length = pdfium.FPDFCatalog_GetLanguage(self._document.raw, buffer, ctypes.sizeof(buffer))
        return _utf16(bytes(buffer), length) or None

    def outline(self) -> list[OutlineEntry]:
        """The bookmarks in order."""
        entries = []
        for item in islice(self._document.get_toc(max_depth=8), _MAX_OUTLINE):
            target = item.get_dest()
            index = None if target is None else target.get_index()
            page = None if index is None or index < 0 else index + 1
            entries.append(OutlineEntry(item.get_title(), item.level + 1, page))
        return entries

    def _read(self, page: ctypes.c_void_p, number: int) -> PageContent:
        space = _space(page)
        painted = read_objects(page, space.matrix)
        text_page = pdfium.FPDFText_LoadPage(page)
        words: list[Word] = []
        if text_page:
            tags = Tags(page, is_tagged=self._is_tagged)
            words = Glyphs(text_page, space.matrix, painted, Fonts(), tags).words()
            pdfium.FPDFText_ClosePage(text_page)
        return PageContent(
            number=number,
            width=round(space.width, 2),
            height=round(space.height, 2),
            label=self._label(number),
            words=tuple(words),
            rules=tuple(painted.rules),
            fills=tuple(painted.fills),
            images=tuple(painted.images),
            rotation=space.rotation,
            drawings=painted.drawings,
            is_cut=painted.is_cut,
        )

    def _label(self, number: int) -> str | None:
        buffer = (pdfium.FPDF_WCHAR * 32)()
        length = pdfium.FPDF_GetPageLabel(
            self._document.raw, number - 1, buffer, ctypes.sizeof(buffer)
        )
        return _utf16(bytes(buffer), length) or None


def opened(data: bytes) -> pdfium2.PdfDocument:
    """Open a PDF; an empty user password opens a file that only its owner may change.

    Raises:
        ParseError: `encrypted` when it asks for a password, `refused` when it is damaged.
    """
    try:
        return pdfium2.PdfDocument(data)
    except pdfium2.PdfiumError as error:
        if error.err_code == pdfium.FPDF_ERR_PASSWORD:
            raise ParseError(_ENCRYPTED, code="encrypted") from error
        if error.err_code == pdfium.FPDF_ERR_SECURITY:
            message = "The PDF is protected in a way that cannot be read. Remove the protection."
            raise ParseError(message, code="encrypted") from error
        raise ParseError(_DAMAGED, code="refused") from error


def _space(page: ctypes.c_void_p) -> PageSpace:
    area = pdfium.FS_RECTF()
    pdfium.FPDF_GetPageBoundingBox(page, area)
    rotation = 90 * max(pdfium.FPDFPage_GetRotation(page), 0)
    return PageSpace(area.left, area.bottom, area.right, area.top, rotation % 360)


def _meta(document: ctypes.c_void_p, key: str) -> str:
    tag = key.encode()
    size = min(pdfium.FPDF_GetMetaText(document, tag, None, 0), 8192)
    buffer = ctypes.create_string_buffer(size or 2)
    length = pdfium.FPDF_GetMetaText(document, tag, buffer, size)
    return _utf16(buffer.raw, length).strip()


def _utf16(raw: bytes, length: int) -> str:
    return raw[: max(min(length, len(raw)) - 2, 0)].decode("utf-16-le", "replace").rstrip("\x00")
