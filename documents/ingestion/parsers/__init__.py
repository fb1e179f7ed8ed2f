"""One parser a media type, chosen by content; a name alone decides nothing.

`parse` runs in the process that calls it. What comes from outside goes through
`documents.ingestion.confined`, which calls it in a child process with limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from documents.errors import ParseError
from documents.ingestion.parsers.encoding import Decoded
from documents.ingestion.parsers.progress import Progress, no_progress
from documents.ingestion.parsers.sniff import Sniffed, sniff, sniff_signature
from documents.records import MediaType, ParsedDocument, RecognisedPage

_MAX_DECODED_AT_THE_DOOR = 1024 * 1024  # bytes


def parse(
    data: bytes,
    *,
    file_name: str,
    progress: Progress = no_progress,
    recognised: Sequence[RecognisedPage] = (),
) -> ParsedDocument:
    """Read a file into canonical text and blocks.

    Args:
        data: the file.
        file_name: its name, which breaks ties between kinds of text.
        progress: called with what is done of what there is.
        recognised: what text recognition read on pages that hold no text of their own.

    Raises:
        ParseError: `empty`, `encrypted`, `needs_ocr`, `unsupported` or `refused`; the message
            says what to do.
    """
    sniffed = sniff(data, file_name=file_name)
    parsed = _parse(sniffed, data, progress, recognised)
    if not parsed.text.strip():
        raise ParseError("The file holds no visible text.", code="empty")
    return replace(
        parsed,
        warnings=(*sniffed.warnings, *parsed.warnings),
        active_content=(*sniffed.active_content, *parsed.active_content),
    )


def check_is_readable(data: bytes, *, file_name: str) -> None:
    """Refuse at the door what `parse` would refuse for its kind, without parsing it.

    Of large text only the signature is looked at: decoding it is the worker's task.

    Raises:
        ParseError: as `parse`.
    """
    if len(data) <= _MAX_DECODED_AT_THE_DOOR:
        sniff(data, file_name=file_name)
    else:
        sniff_signature(data, file_name=file_name)


def _parse(
    sniffed: Sniffed, data: bytes, progress: Progress, recognised: Sequence[RecognisedPage]
) -> ParsedDocument:
    # Each parser is imported when it is needed: one process reads one kind of file.
    kind, decoded = sniffed.media_type, sniffed.decoded
    if kind is MediaType.PDF:
        from documents.ingestion.parsers.pdf import parse_pdf

        return parse_pdf(data, progress=progress, recognised=recognised)
    if kind is MediaType.DOCX:
        from documents.ingestion.parsers.docx import parse_docx

        return parse_docx(data)
    return _parse_text(kind, decoded or Decoded("", "utf-8"), data)


def _parse_text(kind: MediaType, decoded: Decoded, data: bytes) -> ParsedDocument:
    if kind is MediaType.HTML:
        from documents.ingestion.parsers.html import parse_html

        return parse_html(data, decoded)
    if kind is MediaType.LAW_JSON:
        from documents.ingestion.parsers.law_json import parse_law

        return parse_law(decoded)
    if kind is MediaType.MARKDOWN:
        from documents.ingestion.parsers.markdown import parse_markdown

        return parse_markdown(decoded)
    from documents.ingestion.parsers.plain import parse_plain

    return parse_plain(decoded)
