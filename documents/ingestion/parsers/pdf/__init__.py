"""PDF."""

from __future__ import annotations

from documents.errors import ParseError
from documents.ingestion.parsers.progress import Progress, no_progress
from documents.records import ParsedDocument


def parse_pdf(data: bytes, *, progress: Progress = no_progress) -> ParsedDocument:
    """Read a PDF."""
    raise ParseError("PDF files cannot be read yet.", code="unsupported")
