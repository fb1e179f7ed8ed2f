"""Word documents."""

from __future__ import annotations

from documents.errors import ParseError
from documents.records import ParsedDocument


def parse_docx(data: bytes) -> ParsedDocument:
    """Read a Word document."""
    raise ParseError("Word documents cannot be read yet.", code="unsupported")
