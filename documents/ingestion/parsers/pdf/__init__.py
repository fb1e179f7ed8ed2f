"""PDF: canonical text, blocks, words with boxes, and what a person should know of the file.

pdfium reads the pages (`extract`), pypdf looks through the object graph (`safety`); ADR 0010
says why. The text of a page is put in reading order (`columns`), freed of running heads
(`running`), and made into paragraphs, rows, notes and headings (`reader` and what it imports).
"""

from __future__ import annotations

from collections.abc import Sequence

from documents.errors import ParseError
from documents.ingestion.parsers.pdf import report, safety
from documents.ingestion.parsers.pdf.extract import PdfFile
from documents.ingestion.parsers.pdf.formwords import form_words
from documents.ingestion.parsers.pdf.reader import ReadText, read_layouts, read_text
from documents.ingestion.parsers.progress import Progress, no_progress
from documents.ingestion.parsers.scripts import detect_language
from documents.records import HiddenText, MediaType, PageRecord, ParsedDocument, RecognisedPage

_EMPTY = "The PDF holds no text and no images. Upload a file that holds text."


def parse_pdf(
    data: bytes,
    *,
    progress: Progress = no_progress,
    recognised: Sequence[RecognisedPage] = (),
) -> ParsedDocument:
    """Read a PDF, page by page; `recognised` is used where a page holds no text of its own.

    Raises:
        ParseError: `encrypted`, `needs_ocr`, `empty` or `refused`; the message says what to do.
    """
    inspection = safety.inspect(data)
    file = PdfFile(data)
    try:
        layouts, damaged = read_layouts(
            file, progress, form_words(inspection.form_texts), recognised
        )
        read = read_text(layouts, damaged, file.outline())
        metadata, named_language = file.metadata(), file.language()
    finally:
        file.close()
    report.check_has_text(read.layouts, inspection)
    text = read.assembler.text()
    if not text.strip():
        raise ParseError(_EMPTY, code="empty")
    return ParsedDocument(
        media_type=MediaType.PDF,
        text=text,
        blocks=tuple(read.assembler.blocks),
        title=report.title(metadata, read),
        language=detect_language(text) or report.language_code(named_language),
        warnings=report.warnings(read, inspection),
        metadata=metadata,
        hidden=_hidden(read) + inspection.hidden,
        pages=_pages(read, inspection),
        active_content=inspection.active_content,
    )


def _hidden(read: ReadText) -> tuple[HiddenText, ...]:
    return tuple(
        HiddenText(words.text, words.where, words.page)
        for layout in read.layouts
        for words in layout.hidden
        if words.text.strip()
    )


def _pages(read: ReadText, inspection: safety.Inspection) -> tuple[PageRecord, ...]:
    labels = inspection.page_labels
    return tuple(
        PageRecord(
            number=layout.number,
            width=layout.width,
            height=layout.height,
            words=read.assembler.page_words(layout.number),
            label=labels[layout.number - 1] if layout.number <= len(labels) else None,
            ocr_confidence=layout.ocr_confidence,
        )
        for layout in read.layouts
    )
