"""Reading an uploaded file: in a confined child, with the images of pages where need be."""

from __future__ import annotations

from functools import partial

from documents.ingestion.confined.limits import Limits
from documents.ingestion.confined.program import run_program
from documents.ingestion.confined.render import render_confined
from documents.ingestion.confined.run import parse_confined
from documents.ingestion.parsers.progress import Progress, no_progress
from documents.ingestion.recognition import parse_with_recognition
from documents.records import ParsedDocument


def read_confined(
    data: bytes,
    *,
    file_name: str,
    limits: Limits,
    ocr_max_pages: int,
    language: str | None = None,
    progress: Progress = no_progress,
) -> ParsedDocument:
    """Read a file as `parse_confined` does, and pages that are images with Tesseract.

    Args:
        data: the file.
        file_name: its name.
        limits: what each child may use.
        ocr_max_pages: pages that may be read from images; 0: none.
        language: of the text, as far as it is known, for text recognition.
        progress: called with what is done of what there is.

    Raises:
        ParseError: the file gives no usable text; the message says what to do.
    """
    return parse_with_recognition(
        data,
        file_name=file_name,
        parse=partial(parse_confined, limits=limits, progress=progress),
        draw=render_confined,
        run=run_program,
        max_pages=ocr_max_pages,
        language=language,
        progress=progress,
    )
