"""What a file is, by its content: the name only breaks ties between kinds of text.

The leading signature decides (`signatures`). Without one the file is text: a statute where it
is JSON of the law database, a web page where it begins like one, Markdown where the name ends
in `.md` or `.markdown` or where at least two `#` headings stand as Markdown wants them, and
plain text otherwise.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from documents.errors import ParseError
from documents.ingestion.parsers.disagreement import (
    check_name,
    not_even_text,
    suffix_of,
    wrong_extension,
)
from documents.ingestion.parsers.encoding import Decoded, decode
from documents.ingestion.parsers.signatures import UPLOAD_INSTEAD, recognise
from documents.records import ActiveContent, MediaType, Notice

_MARKDOWN_SUFFIXES = frozenset({".md", ".markdown", ".mdown", ".mkd"})
_ATX_HEADING = re.compile(r"(?:\A|\n[^\S\n]*\n)#{1,6} \S[^\n]*(?=\n|\Z)")
_HTML_PAGE = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*(?:<!doctype html|<html[\s>])",
    re.IGNORECASE | re.DOTALL,
)
# The keys of the law database, in English, in Chinese, and in Chinese as JSON may escape it.
_LAW_KEYS = (
    re.compile(r'"(?:(?:Eng)?LawName|法規名稱|\\u6cd5\\u898f\\u540d\\u7a31)"\s*:', re.IGNORECASE),
    re.compile(
        r'"(?:(?:Eng)?LawArticles|法規內容|\\u6cd5\\u898f\\u5167\\u5bb9)"\s*:', re.IGNORECASE
    ),
)
# What mail programs write above a message, and people above a memo do not.
_MAIL_HEADERS = re.compile(
    r"^(?:received|return-path|message-id|mime-version|content-type|x-mailer|delivered-to):",
    re.IGNORECASE | re.MULTILINE,
)
_HEADER_LINES = re.compile(r"(?:[!-9;-~]+:[^\n]*\n(?:[ \t][^\n]*\n)*)+")
_SVG = re.compile(r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<svg[\s>]", re.DOTALL | re.IGNORECASE)
# markdown-it needs time that grows faster than a line's length; no person writes such a line.
_MAX_MARKDOWN_LINE = 100_000


@dataclass(frozen=True, slots=True)
class Sniffed:
    """What a file is, with its text where it is made of text, and what is odd about it."""

    media_type: MediaType
    decoded: Decoded | None = None
    warnings: tuple[Notice, ...] = ()
    active_content: tuple[ActiveContent, ...] = ()


def sniff(data: bytes, *, file_name: str) -> Sniffed:
    """Tell what `data` is.

    Raises:
        ParseError: `empty`, `encrypted`, `unsupported` or `refused`; the message says what to do.
    """
    found = sniff_signature(data, file_name=file_name)
    if found is not None and found.media_type is not MediaType.HTML:
        return found
    try:
        decoded = decode(data)
    except ParseError as error:
        raise not_even_text(file_name, error) from error
    kind = MediaType.HTML if found else _text_type(decoded.text, suffix_of(file_name))
    warnings = wrong_extension(file_name, kind, decoded.text)
    return Sniffed(kind, decoded, warnings, found.active_content if found else ())


def sniff_signature(data: bytes, *, file_name: str) -> Sniffed | None:
    """Tell what `data` is from its leading bytes alone; None: it may be text.

    Raises:
        ParseError: `empty`, `encrypted`, `unsupported` or `refused`.
    """
    if not data.strip():
        raise ParseError("The file is empty. Upload a file that holds text.", code="empty")
    found = recognise(data)
    check_name(file_name)
    if found is None:
        return None
    warnings = wrong_extension(file_name, found.media_type, "")
    active = () if found.also is None else (_polyglot(found.also),)
    return Sniffed(found.media_type, None, warnings, active)


def _polyglot(also: str) -> ActiveContent:
    detail = f"the file can be read as {also} as well"
    return ActiveContent("polyglot", detail, is_dangerous=True)


def _text_type(text: str, suffix: str) -> MediaType:
    head = text[:4000]
    if head.lstrip().startswith(("{", "[")):
        if all(key.search(text) for key in _LAW_KEYS):
            return MediaType.LAW_JSON
        if suffix == ".json":
            message = "The file is JSON, but no statute in the layout of Taiwan's law database. "
            raise ParseError(message + UPLOAD_INSTEAD, code="unsupported")
    _require_document(head, suffix)
    if _HTML_PAGE.match(head) or (suffix in (".html", ".htm", ".xhtml") and "<" in head):
        return MediaType.HTML
    return MediaType.MARKDOWN if _is_markdown(text, suffix) else MediaType.PLAIN


def _require_document(head: str, suffix: str) -> None:
    """Refuse text that is no document: a message with its transport, a drawing.

    Raises:
        ParseError: `unsupported`.
    """
    headers = _HEADER_LINES.match(head.lstrip())
    if suffix == ".eml" or (headers and _MAIL_HEADERS.search(headers[0])):
        message = "The file is an e-mail. Save its text as PDF or plain text, then upload that."
        raise ParseError(message, code="unsupported")
    if _SVG.match(head):
        raise ParseError(f"The file is an image. {UPLOAD_INSTEAD}", code="unsupported")


def _is_markdown(text: str, suffix: str) -> bool:
    if any(len(line) > _MAX_MARKDOWN_LINE for line in text.split("\n")):
        return False
    return suffix in _MARKDOWN_SUFFIXES or len(_ATX_HEADING.findall(text)) >= 2
