"""What a font says of its letters: name, weight, slope."""

from __future__ import annotations

import ctypes
import re

import pypdfium2.raw as pdfium

from documents.ingestion.parsers.pdf.objects import address
from documents.ingestion.parsers.pdf.page import Font

_SUBSET = re.compile(r"^[A-Z]{6}\+")
_BOLD = re.compile(r"bold|black|heavy|demi(?!light)|(?<![a-z])[bh]d(?![a-z])", re.IGNORECASE)
_NOT_BOLD = re.compile(r"regular|roman|book|light|thin|medium(?!.*bold)", re.IGNORECASE)
_ITALIC = re.compile(r"italic|oblique|(?<![a-z])it(?![a-z])", re.IGNORECASE)
_FIXED_FLAG, _ITALIC_FLAG, _FORCED_BOLD_FLAG = 1, 1 << 6, 1 << 18  # ISO 32000-1, table 123
_BOLD_WEIGHT = 650
_UNKNOWN = Font("")


class Fonts:
    """The fonts of one page, each read once."""

    def __init__(self) -> None:
        self._known: dict[int, Font] = {}

    def of(self, text_object: ctypes.c_void_p) -> Font:
        """The font of a text object."""
        handle = pdfium.FPDFTextObj_GetFont(text_object)
        if not handle:
            return _UNKNOWN
        key = address(handle)
        if key not in self._known:
            self._known[key] = _read(handle)
        return self._known[key]


def _read(handle: ctypes.c_void_p) -> Font:
    buffer = ctypes.create_string_buffer(256)
    pdfium.FPDFFont_GetBaseFontName(handle, buffer, 256)
    name = _SUBSET.sub("", buffer.value.decode("utf-8", "replace"))
    flags = max(pdfium.FPDFFont_GetFlags(handle), 0)
    weighs_bold = pdfium.FPDFFont_GetWeight(handle) >= _BOLD_WEIGHT and not _NOT_BOLD.search(name)
    return Font(
        name=name,
        is_bold=bool(_BOLD.search(name) or flags & _FORCED_BOLD_FLAG or weighs_bold),
        is_italic=bool(_ITALIC.search(name) or flags & _ITALIC_FLAG),
        is_fixed=bool(flags & _FIXED_FLAG),
    )
