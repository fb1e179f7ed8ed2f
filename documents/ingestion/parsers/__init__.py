"""One parser a media type, chosen by content; a name alone decides nothing.

`parse` refuses what is no text (PDF, Word, images, HTML pages) and says what to do. Text is
Markdown where the name ends in `.md` or `.markdown`, or where a file of another name has at
least two `#` headings that stand as Markdown wants them (after a blank line, with a blank);
anything else is plain text.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from documents.errors import ParseError
from documents.ingestion.parsers.encoding import Decoded, decode
from documents.ingestion.parsers.markdown import parse_markdown
from documents.ingestion.parsers.plain import parse_plain
from documents.records import ParsedDocument

_UPLOAD_TEXT = "Upload it as Markdown or plain text."
_SIGNATURES = (
    (b"PK\x03\x04", "a zip archive or an Office document"),
    (b"PK\x05\x06", "a zip archive"),
    (b"\xd0\xcf\x11\xe0", "an old Office document"),
    (b"{\\rtf", "an RTF document"),
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
    (b"II*\x00", "an image"),
    (b"MM\x00*", "an image"),
    (b"RIFF", "an image or sound"),
    (b"\x1f\x8b", "a compressed file"),
    (b"7z\xbc\xaf", "a compressed file"),
    (b"Rar!", "a compressed file"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
)
_MARKDOWN_SUFFIXES = frozenset({".md", ".markdown", ".mdown", ".mkd"})
_ATX_HEADING = re.compile(r"(?:\A|\n[^\S\n]*\n)#{1,6} \S[^\n]*(?=\n|\Z)")
_HTML_PAGE = re.compile(r"\s*(?:<!--.*?-->\s*)?(?:<!doctype html|<html[\s>])", re.IGNORECASE)
# markdown-it needs time that grows faster than a line's length; no person writes such a line.
_MAX_MARKDOWN_LINE = 100_000
_MAX_DECODED_AT_THE_DOOR = 1024 * 1024  # bytes


def parse(data: bytes, *, file_name: str) -> ParsedDocument:
    """Read a file into canonical text and blocks.

    Raises:
        ParseError: `empty`, `encrypted`, `unsupported` or `refused`; the message says what
            to do.
    """
    _refuse_binary(data)
    decoded = decode(data)
    _refuse_page(decoded)
    parsed = parse_markdown(decoded) if _is_markdown(decoded, file_name) else parse_plain(decoded)
    if not parsed.text.strip():
        raise ParseError("The file holds no visible text.", code="empty")
    return parsed


def check_is_text(data: bytes) -> None:
    """Refuse at the door what `parse` would refuse for its bytes, without parsing it.

    Of large files only the signature is looked at: decoding them is the worker's task.

    Raises:
        ParseError: as `parse`.
    """
    _refuse_binary(data)
    if len(data) <= _MAX_DECODED_AT_THE_DOOR:
        _refuse_page(decode(data))


def _refuse_page(decoded: Decoded) -> None:
    if _HTML_PAGE.match(decoded.text[:2000]):
        raise ParseError(f"The file is an HTML page. {_UPLOAD_TEXT}", code="unsupported")


def _refuse_binary(data: bytes) -> None:
    if b"%PDF-" in data[:1024]:
        if b"/Encrypt" in data:
            message = "The PDF is protected by a password. Remove the password first."
            raise ParseError(message, code="encrypted")
        raise ParseError(f"PDF files cannot be read yet. {_UPLOAD_TEXT}", code="unsupported")
    for signature, name in _SIGNATURES:
        if data.startswith(signature):
            raise ParseError(f"The file is {name}. {_UPLOAD_TEXT}", code="unsupported")


def _is_markdown(decoded: Decoded, file_name: str) -> bool:
    if any(len(line) > _MAX_MARKDOWN_LINE for line in decoded.text.split("\n")):
        return False
    if PurePath(file_name.lower()).suffix in _MARKDOWN_SUFFIXES:
        return True
    return len(_ATX_HEADING.findall(decoded.text)) >= 2
