"""Statutes as JSON."""

from __future__ import annotations

from documents.errors import ParseError
from documents.ingestion.parsers.encoding import Decoded
from documents.records import ParsedDocument


def parse_law(decoded: Decoded) -> ParsedDocument:
    """Read a statute."""
    raise ParseError("Statutes as JSON cannot be read yet.", code="unsupported")
