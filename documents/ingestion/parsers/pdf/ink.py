"""What a page looks like, coarsely: the proof that a word can be seen.

A page is drawn in grey at about one pixel a point. Where a word can be seen, brightness changes
along its rows; under a cover, on its own colour, clipped away or in a layer that is off, it does
not. Drawing is stopped after a while and left out for pages with enormous images.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

import pypdfium2.raw as pdfium

from documents.records import Box

_MAX_PIXELS = 4_000_000
_MAX_IMAGE_PIXELS = 60_000_000  # decoded, an image takes three or four bytes a pixel
_MAX_SECONDS = 2.0  # of one page; ordinary pages take some milliseconds
_MAX_OBJECTS = 20_000


@dataclass(frozen=True, slots=True)
class Ink:
    """A page drawn in grey: one byte a pixel, `stride` bytes a row, `scale` pixels a point."""

    pixels: bytes
    width: int
    height: int
    stride: int
    scale: float

    def contrast(
        self, area: Box, *, is_upright: bool = False, rows: int = 1, enough: int = 255
    ) -> int:
        """The change of brightness that so many rows of the area reach, 0 to 255.

        Along a row, and in more than one, so that a line drawn through or under the area does
        not count as its letters. For text that runs up or down (`is_upright`), along columns.
        A change of `enough` ends the search: most letters show on the first rows looked at.
        """
        left, top = max(int(area[0] * self.scale), 0), max(int(area[1] * self.scale), 0)
        right = min(int(area[2] * self.scale) + 1, self.width)
        bottom = min(int(area[3] * self.scale) + 1, self.height)
        if right <= left or bottom <= top:
            return 0
        pixels, stride = self.pixels, self.stride
        if is_upright:
            ends = (top * stride, bottom * stride)
            parts = (pixels[ends[0] + x : ends[1] : stride] for x in range(left, right))
        else:
            middle = (top + bottom) // 2  # letters are full there
            lines = chain(range(middle, bottom), range(middle - 1, top - 1, -1))
            parts = (pixels[line * stride + left : line * stride + right] for line in lines)
        return _reached(parts, rows, enough)


def _reached(parts: Iterable[bytes], rows: int, enough: int) -> int:
    """The change that the `rows` parts with the greatest changes all reach."""
    changes: list[int] = []
    full = 0
    for part in parts:
        change = max(part) - min(part)
        full += change >= enough
        if full >= rows:
            return change if rows == 1 else enough
        changes.append(change)
    changes.sort(reverse=True)
    return changes[min(rows, len(changes)) - 1] if changes else 0


def draw(page: ctypes.c_void_p, width: float, height: float) -> Ink | None:
    """Draw an open page of this shown size in points; None where that would take too much."""
    if width <= 0 or height <= 0 or _has_enormous_image(page):
        return None
    scale = min(1.0, (_MAX_PIXELS / (width * height)) ** 0.5)
    across, down = max(round(width * scale), 1), max(round(height * scale), 1)
    bitmap = pdfium.FPDFBitmap_CreateEx(across, down, pdfium.FPDFBitmap_Gray, None, 0)
    if not bitmap:
        return None
    try:
        pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, across, down, 0xFFFFFFFF)
        if not _render(bitmap, page, across, down):
            return None
        stride = pdfium.FPDFBitmap_GetStride(bitmap)
        pixels = ctypes.string_at(pdfium.FPDFBitmap_GetBuffer(bitmap), stride * down)
        return Ink(pixels, across, down, stride, scale)
    finally:
        pdfium.FPDFBitmap_Destroy(bitmap)


def _render(bitmap: ctypes.c_void_p, page: ctypes.c_void_p, across: int, down: int) -> bool:
    """Whether the drawing came to its end in time."""
    end = time.monotonic() + _MAX_SECONDS
    pause = pdfium.IFSDK_PAUSE(version=1)
    wait = type(pause.NeedToPauseNow)(lambda _: int(time.monotonic() > end))
    pause.NeedToPauseNow = wait  # `wait` must outlive the drawing
    state = pdfium.FPDF_RenderPageBitmap_Start(
        bitmap, page, 0, 0, across, down, 0, pdfium.FPDF_GRAYSCALE, pause
    )
    pdfium.FPDF_RenderPage_Close(page)
    return bool(state == pdfium.FPDF_RENDER_DONE)


def _has_enormous_image(page: ctypes.c_void_p) -> bool:
    across, down = ctypes.c_uint(), ctypes.c_uint()
    count = pdfium.FPDFPage_CountObjects(page)
    if count > 10 * _MAX_OBJECTS:
        return True
    for index in range(min(count, _MAX_OBJECTS)):
        item = pdfium.FPDFPage_GetObject(page, index)
        if (
            pdfium.FPDFPageObj_GetType(item) == pdfium.FPDF_PAGEOBJ_IMAGE
            and pdfium.FPDFImageObj_GetImagePixelSize(item, across, down)
            and across.value * down.value > _MAX_IMAGE_PIXELS
        ):
            return True
    return False
