"""HTML pages."""

from __future__ import annotations

from documents.errors import ParseError
from documents.ingestion.parsers.encoding import Decoded
from documents.records import ParsedDocument


def parse_html(data: bytes, decoded: Decoded) -> ParsedDocument:
    """Read an HTML page."""
    raise ParseError("The file is an HTML page, which cannot be read yet.", code="unsupported")
