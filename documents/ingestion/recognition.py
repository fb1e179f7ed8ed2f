"""Reading a file whose pages are images, where Tesseract is installed.

A file is read twice: once to learn which pages hold no text, and again with the words that were
read from the images of those pages. Reading and drawing happen in confined children, and so
does Tesseract itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from documents.errors import ParseError
from documents.ingestion.ocr import SCALE, RunProgram, Tesseract, find_tesseract, read_image
from documents.ingestion.parsers.progress import Progress, no_progress
from documents.records import MediaType, ParsedDocument, RecognisedPage

# The image of a page: the file, the page's number from 1, pixels a point.
Draw = Callable[[bytes, int, float], bytes]
_WITHOUT_TEXT = "pages_without_text"


class ParseRecognised(Protocol):
    """A parser that also takes what was read from images."""

    def __call__(
        self, data: bytes, *, file_name: str, recognised: tuple[RecognisedPage, ...] = ()
    ) -> ParsedDocument:
        """Read a file."""
        ...


def parse_with_recognition(
    data: bytes,
    *,
    file_name: str,
    parse: ParseRecognised,
    draw: Draw,
    run: RunProgram,
    max_pages: int,
    language: str | None = None,
    progress: Progress = no_progress,
) -> ParsedDocument:
    """Read a file, and the images of its pages where these alone hold its text.

    Args:
        data: the file.
        file_name: its name.
        parse: reads it; called again with the recognised pages.
        draw: draws a page.
        run: runs Tesseract.
        max_pages: more pages than this are not recognised; 0 switches recognition off.
        language: of the text, as far as it is known.
        progress: called after each recognised page.

    Raises:
        ParseError: as `parse`; `needs_ocr` stays where no Tesseract is installed.
    """
    parsed: ParsedDocument | None = None
    refusal: ParseError | None = None
    try:
        parsed = parse(data, file_name=file_name)
        pages = _unread(parsed)
        language = language or parsed.language
    except ParseError as error:
        if error.code != "needs_ocr" or not error.pages:
            raise
        pages, refusal = error.pages, error
    tesseract = find_tesseract(run) if pages and max_pages else None
    if tesseract is None or len(pages) > max_pages:
        if parsed is not None:
            return parsed
        raise _with_advice(refusal, tesseract, max_pages)
    recognised = []
    for done, number in enumerate(pages, 1):
        image = draw(data, number, SCALE)
        recognised.append(
            read_image(image, number, tesseract=tesseract, language=language, run=run)
        )
        progress(done, len(pages))
    return parse(data, file_name=file_name, recognised=tuple(recognised))


def _unread(parsed: ParsedDocument) -> tuple[int, ...]:
    if parsed.media_type is not MediaType.PDF:
        return ()
    return tuple(
        page for note in parsed.warnings if note.code == _WITHOUT_TEXT for page in note.pages
    )


def _with_advice(
    refusal: ParseError | None, tesseract: Tesseract | None, max_pages: int
) -> ParseError:
    if refusal is None or tesseract is None or not max_pages:
        return refusal or ParseError("No page holds text.", code="needs_ocr")
    message = (
        f"{len(refusal.pages)} pages hold no text, and at most {max_pages} are read from images. "
        "Run text recognition on the file first, or raise LEGALQA_OCR_MAX_PAGES."
    )
    return ParseError(message, code="needs_ocr", pages=refusal.pages)
