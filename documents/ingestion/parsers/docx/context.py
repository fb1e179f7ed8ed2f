"""What all texts of one Word file share while they are read."""

from __future__ import annotations

from dataclasses import dataclass, field

from documents.ingestion.parsers.docx.notes import Notes
from documents.ingestion.parsers.docx.numbering import Numbering
from documents.ingestion.parsers.docx.package import Package
from documents.ingestion.parsers.docx.styles import Styles
from documents.ingestion.parsers.writer import TextWriter


@dataclass(slots=True)
class Context:
    """The file's parts, what is written so far, and what is to be said about it."""

    package: Package
    part: str  # the name of the part that is read
    styles: Styles
    numbering: Numbering
    notes: dict[str, Notes]
    writer: TextWriter
    seen: set[str] = field(default_factory=set)
    instructions: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    title: str | None = None
