"""The structure that a tagged PDF names around its text: `H1`, `P`, `LI`, `Artifact`.

Tags are written by the program that made the file and are often wrong, so they are evidence for
the steps that follow, never the last word.
"""

from __future__ import annotations

import ctypes

import pypdfium2.raw as pdfium

_MAX_DEPTH = 40
_MAX_ELEMENTS = 50_000
_INLINE = frozenset({"Span", "Link", "Reference", "Em", "Strong", "Sub", "Annot", "Quote", ""})


class Tags:
    """The structure elements of one page by their marked-content ids."""

    def __init__(self, page: ctypes.c_void_p, *, is_tagged: bool) -> None:
        self._by_id: dict[int, str] = {}
        self._seen = 0
        if is_tagged:
            self._read(page)

    def of(self, text_object: ctypes.c_void_p) -> str | None:
        """The element that a text object belongs to; `Artifact` for running heads and feet."""
        if _is_artifact(text_object):
            return "Artifact"
        if not self._by_id:
            return None
        return self._by_id.get(pdfium.FPDFPageObj_GetMarkedContentID(text_object))

    def _read(self, page: ctypes.c_void_p) -> None:
        tree = pdfium.FPDF_StructTree_GetForPage(page)
        if not tree:
            return
        for index in range(pdfium.FPDF_StructTree_CountChildren(tree)):
            child = pdfium.FPDF_StructTree_GetChildAtIndex(tree, index)
            if child:
                self._walk(child, "", 0)
        pdfium.FPDF_StructTree_Close(tree)

    def _walk(self, element: ctypes.c_void_p, around: str, depth: int) -> None:
        self._seen += 1
        if depth > _MAX_DEPTH or self._seen > _MAX_ELEMENTS:
            return
        own = _kind(element)
        name = around if own in _INLINE else own
        for index in range(max(pdfium.FPDF_StructElement_CountChildren(element), 0)):
            marked = pdfium.FPDF_StructElement_GetChildMarkedContentID(element, index)
            if marked >= 0:
                self._by_id[marked] = name
            child = pdfium.FPDF_StructElement_GetChildAtIndex(element, index)
            if child:
                self._walk(child, name, depth + 1)


def _kind(element: ctypes.c_void_p) -> str:
    buffer = ctypes.create_string_buffer(128)
    size = pdfium.FPDF_StructElement_GetType(element, buffer, 128)
    return buffer.raw[: max(min(size, 128) - 2, 0)].decode("utf-16-le", "replace")


def _is_artifact(item: ctypes.c_void_p) -> bool:
    buffer = (pdfium.FPDF_WCHAR * 32)()
    length = ctypes.c_ulong()
    for index in range(max(pdfium.FPDFPageObj_CountMarks(item), 0)):
        mark = pdfium.FPDFPageObj_GetMark(item, index)
        if pdfium.FPDFPageObjMark_GetName(mark, buffer, ctypes.sizeof(buffer), length):
            name = bytes(buffer)[: max(length.value - 2, 0)].decode("utf-16-le", "replace")
            if name == "Artifact":
                return True
    return False
