"""A file's bytes to everything the pure steps say about it: parse, structure, chunk, screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from documents.ingestion import parsers
from documents.ingestion.active import active_findings, active_warnings
from documents.ingestion.chunk import CountTokens, build_chunks
from documents.ingestion.clauses import find_clauses
from documents.ingestion.names import title_from_name
from documents.ingestion.references import find_references
from documents.ingestion.structure import build_sections, structure_warnings
from documents.records import (
    ChunkRecord,
    FindingRecord,
    Notice,
    ParsedDocument,
    ProcessedDocument,
    SectionRecord,
)

Screen = Callable[
    [ParsedDocument, Sequence[SectionRecord], Sequence[ChunkRecord], str, str],
    tuple[FindingRecord, ...],
]


class Parse(Protocol):
    """What reads a file: `parsers.parse` here, `parse_confined` in a child process."""

    def __call__(self, data: bytes, *, file_name: str) -> ParsedDocument:
        """Read a file.

        Raises:
            ParseError: the file gives no usable text.
        """
        ...


def process_document(
    data: bytes,
    *,
    file_name: str,
    title: str | None,
    count_tokens: CountTokens,
    screen: Screen,
    max_tokens: int = 254,
    parse: Parse = parsers.parse,
) -> ProcessedDocument:
    """Run the steps in order.

    Args:
        data: the file.
        file_name: its name, for choosing between Markdown and plain text and for screening.
        title: the policy's title, where it is known; else the document's own, else the name.
        count_tokens: the embedder's token count.
        screen: looks for passages that speak to an AI system.
        max_tokens: the embedder's window.
        parse: reads the file; what comes from outside is read in a child process.

    Raises:
        ParseError: the file gives no usable text.
    """
    parsed = parse(data, file_name=file_name)
    shown_title = title or parsed.title or title_from_name(file_name)
    sections = build_sections(parsed, fallback_title=shown_title)
    clauses = find_clauses(parsed, sections)
    references = find_references(parsed, sections, clauses)
    chunks = build_chunks(parsed, sections, count_tokens=count_tokens, max_tokens=max_tokens)
    findings = (
        *screen(parsed, sections, chunks, shown_title, file_name),
        *active_findings(parsed),
    )
    warnings = (
        *parsed.warnings,
        *active_warnings(parsed),
        *structure_warnings(parsed, sections),
        *_no_body(chunks),
    )
    parsed = replace(parsed, warnings=warnings)
    return ProcessedDocument(parsed, sections, chunks, findings, clauses, references)


def _no_body(chunks: Sequence[ChunkRecord]) -> tuple[Notice, ...]:
    if chunks:
        return ()
    return (Notice("headings_only", "The file holds headings but no text that can be cited."),)
