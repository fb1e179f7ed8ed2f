"""What a file is, by its content: the name only breaks ties between kinds of text.

A PDF may begin after some other bytes (ISO 32000-1, annex H). A zip archive is a Word document
where it holds `word/document.xml`. Text is a statute where it is a JSON object of the law
database, a web page where it begins like one, Markdown where the name ends in `.md` or
`.markdown` or where at least two `#` headings stand as Markdown wants them, and plain text
otherwise.
"""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import dataclass
from pathlib import PurePath

from documents.errors import ParseError
from documents.ingestion.parsers.encoding import Decoded, decode
from documents.records import MediaType

UPLOAD_INSTEAD = "Upload a PDF, Word (.docx), HTML, Markdown or plain text file."
_SIGNATURES = (
    (b"PK\x05\x06", "a zip archive"),
    (b"\xd0\xcf\x11\xe0", "an old Office document, or one that is protected by a password"),
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
# markdown-it needs time that grows faster than a line's length; no person writes such a line.
_MAX_MARKDOWN_LINE = 100_000


@dataclass(frozen=True, slots=True)
class Sniffed:
    """What a file is, with its text where it is made of text."""

    media_type: MediaType
    decoded: Decoded | None = None


def sniff(data: bytes, *, file_name: str) -> Sniffed:
    """Tell what `data` is.

    Raises:
        ParseError: `empty`, `unsupported` or `refused`; the message says what to do.
    """
    if not data.strip():
        raise ParseError("The file is empty. Upload a file that holds text.", code="empty")
    if b"%PDF-" in data[:1024]:
        return Sniffed(MediaType.PDF)
    if data.startswith(b"PK\x03\x04"):
        return Sniffed(_archive(data))
    for signature, name in _SIGNATURES:
        if data.startswith(signature):
            raise ParseError(f"The file is {name}. {UPLOAD_INSTEAD}", code="unsupported")
    decoded = decode(data)
    return Sniffed(_text_type(decoded.text, file_name), decoded)


def _archive(data: bytes) -> MediaType:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        message = "The file is a damaged Office document or archive. Save it again, then upload it."
        raise ParseError(message, code="refused") from error
    if "word/document.xml" in names:
        return MediaType.DOCX
    raise ParseError(
        f"The file is an archive or another kind of Office document. {UPLOAD_INSTEAD}",
        code="unsupported",
    )


def _text_type(text: str, file_name: str) -> MediaType:
    head = text[:4000]
    if head.lstrip().startswith(("{", "[")) and all(key.search(text) for key in _LAW_KEYS):
        return MediaType.LAW_JSON
    if _HTML_PAGE.match(head):
        return MediaType.HTML
    suffix = PurePath(file_name.lower()).suffix
    if suffix in (".html", ".htm", ".xhtml") and "<" in head:
        return MediaType.HTML
    return MediaType.MARKDOWN if _is_markdown(text, suffix) else MediaType.PLAIN


def _is_markdown(text: str, suffix: str) -> bool:
    if any(len(line) > _MAX_MARKDOWN_LINE for line in text.split("\n")):
        return False
    return suffix in _MARKDOWN_SUFFIXES or len(_ATX_HEADING.findall(text)) >= 2
