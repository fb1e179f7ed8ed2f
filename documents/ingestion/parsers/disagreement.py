"""Where a file's name says something else than its bytes: warned of, or refused.

What a file is follows from its content. A name that promises a program is refused all the same:
nobody names a policy so, and whoever downloads it later may run it.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from documents.errors import ParseError
from documents.ingestion.names import shown_name
from documents.records import MediaType, Notice

_PROGRAMS = frozenset({
    ".exe", ".scr", ".pif", ".bat", ".cmd", ".msi", ".msp", ".dll", ".sys", ".cpl", ".lnk",
    ".jar", ".class", ".apk", ".dmg", ".pkg", ".deb", ".rpm", ".appimage", ".js", ".jse",
    ".mjs", ".vbs", ".vbe", ".wsf", ".wsh", ".hta", ".ps1", ".psm1", ".sh", ".bash", ".zsh",
    ".csh", ".command", ".reg", ".scf", ".inf", ".chm", ".gadget", ".py", ".pyc", ".rb", ".php",
    ".phtml", ".asp", ".aspx", ".jsp", ".swf", ".dylib", ".wasm", ".elf", ".xll", ".iso",
    ".vhd",
})  # fmt: skip
_TEXT = frozenset({MediaType.PLAIN, MediaType.MARKDOWN})
_NEVER_READ = (
    ".doc", ".dot", ".rtf", ".odt", ".ott", ".xls", ".xlsx", ".ppt", ".pptx", ".epub", ".zip",
    ".gz", ".rar", ".7z", ".png", ".jpg", ".jpeg", ".gif", ".tif", ".tiff", ".bmp", ".webp",
    ".svg", ".mp3", ".mp4", ".mov", ".msg",
)  # fmt: skip
_MADE_OF_TEXT = _TEXT | {MediaType.HTML, MediaType.LAW_JSON}
_EXPECTED = {
    ".pdf": frozenset({MediaType.PDF}),
    ".docx": frozenset({MediaType.DOCX}),
    ".docm": frozenset({MediaType.DOCX}),
    ".dotx": frozenset({MediaType.DOCX}),
    ".html": frozenset({MediaType.HTML}),
    ".htm": frozenset({MediaType.HTML}),
    ".xhtml": frozenset({MediaType.HTML}),
    ".md": _TEXT,
    ".markdown": _TEXT,
    ".txt": _TEXT,
    ".text": _TEXT,
    ".json": frozenset({MediaType.LAW_JSON}),
    **dict.fromkeys(_NEVER_READ, frozenset[MediaType]()),
}
_NAMES = {
    MediaType.PDF: "a PDF",
    MediaType.DOCX: "a Word document",
    MediaType.HTML: "an HTML web page",
    MediaType.MARKDOWN: "Markdown text",
    MediaType.PLAIN: "plain text",
    MediaType.LAW_JSON: "a statute as JSON",
}
# What stands in every PDF and in few policies: what is left of one that lost its beginning.
_PDF_INSIDES = tuple(
    re.compile(pattern)
    for pattern in (
        r"\b\d+ \d+ obj\b", r"\bendobj\b", r"\btrailer\s*<<", r"\bstartxref\b", r"%%EOF",
        r"/\w+ \d+ \d+ R\b", r"/(?:Filter|Type)\s*/\w+",
    )
)  # fmt: skip
_FEW, _MANY = 2, 4


def check_name(file_name: str) -> None:
    """Refuse a name that ends as programs do.

    Raises:
        ParseError: `refused`.
    """
    suffix = suffix_of(file_name)
    if suffix in _PROGRAMS:
        raise ParseError(
            f"The name of the file ends in {suffix}, as programs do. Give a document its right "
            "name, then upload it.",
            code="refused",
        )


def wrong_extension(file_name: str, media_type: MediaType, text: str) -> tuple[Notice, ...]:
    """A warning where name and content disagree.

    Args:
        file_name: as uploaded.
        media_type: what the content is.
        text: its text, where it is made of text.

    Raises:
        ParseError: `refused`: the text is only what is left of a PDF.
    """
    suffix = suffix_of(file_name)
    insides = sum(bool(pattern.search(text)) for pattern in _PDF_INSIDES)
    if media_type is MediaType.PLAIN and insides >= (_FEW if suffix == ".pdf" else _MANY):
        message = "The PDF is damaged: its beginning is missing. Save or download it again, then "
        raise ParseError(message + "upload it.")
    expected = _EXPECTED.get(suffix)
    if expected is None or media_type in expected:
        return ()
    message = (
        f"The name ends in {suffix}, but the file is {_NAMES[media_type]} and was read as such. "
        "Check that it is the right file."
    )
    return (Notice("wrong_extension", message),)


def not_even_text(file_name: str, error: ParseError) -> ParseError:
    """The error for bytes that are no text: about the format that the name promises, if any."""
    suffix = suffix_of(file_name)
    if error.code != "refused" or suffix not in _EXPECTED or _EXPECTED[suffix] & _MADE_OF_TEXT:
        return error
    message = (
        f"The name ends in {suffix}, but the file is damaged, or something else. Save or download "
        "it again, then upload it."
    )
    return ParseError(message, code="refused")


def suffix_of(file_name: str) -> str:
    """The last suffix, in small letters, without anything that hides or turns it."""
    return PurePath(shown_name(file_name)).suffix.lower()
