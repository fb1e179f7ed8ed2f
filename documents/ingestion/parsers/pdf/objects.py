"""What is painted on a page besides letters: rules, fills and images; and in which order.

Form XObjects are entered, so that a table frame or a letterhead kept in one is seen too. A page
with more objects than the limits allow is read up to them and marked as cut.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import pypdfium2.raw as pdfium

from documents.ingestion.parsers.pdf.geometry import Matrix, box, multiply, point
from documents.ingestion.parsers.pdf.page import Colour, Fill, ImageArea, Rule
from documents.records import Box

_MAX_OBJECTS = 100_000
_MAX_SEGMENTS = 50_000
_MAX_DEPTH = 8
_THIN = 3.0  # points: a filled box this thin is drawn to be a line
_STRAIGHT = 0.75  # points that a line may lean
_BLACK: Colour = (0, 0, 0, 255)


@dataclass(slots=True)
class Painted:
    """Everything painted on a page; `orders` gives each text object's place by its address."""

    rules: list[Rule] = field(default_factory=list)
    fills: list[Fill] = field(default_factory=list)
    images: list[ImageArea] = field(default_factory=list)
    orders: dict[int, int] = field(default_factory=dict)
    drawings: int = 0
    segments: int = 0
    is_cut: bool = False


def read_objects(page: ctypes.c_void_p, to_shown: Matrix) -> Painted:
    """Walk the objects of a page from the first painted to the last."""
    painted = Painted()
    for order, (item, matrix) in enumerate(_objects(page, to_shown)):
        if order >= _MAX_OBJECTS:
            painted.is_cut = True
            break
        _take(painted, item, matrix, order)
    return painted


def address(item: ctypes.c_void_p) -> int:
    """What tells one object of a page from another."""
    return ctypes.addressof(item.contents)  # type: ignore[attr-defined]  # pdfium hands pointers to structures; its binding has no types


def fill_colour(item: ctypes.c_void_p) -> Colour:
    """The fill colour of an object, black where it has none."""
    parts = [ctypes.c_uint() for _ in range(4)]
    if not pdfium.FPDFPageObj_GetFillColor(item, *parts):
        return _BLACK
    red, green, blue, alpha = (part.value for part in parts)
    return red, green, blue, alpha


def _objects(page: ctypes.c_void_p, to_shown: Matrix) -> Iterator[tuple[ctypes.c_void_p, Matrix]]:
    for index in range(pdfium.FPDFPage_CountObjects(page)):
        yield from _inside(pdfium.FPDFPage_GetObject(page, index), to_shown, 0)


def _inside(
    item: ctypes.c_void_p, matrix: Matrix, depth: int
) -> Iterator[tuple[ctypes.c_void_p, Matrix]]:
    if pdfium.FPDFPageObj_GetType(item) != pdfium.FPDF_PAGEOBJ_FORM:
        yield item, matrix
    elif depth < _MAX_DEPTH:
        inner = multiply(_matrix(item), matrix)
        for index in range(pdfium.FPDFFormObj_CountObjects(item)):
            yield from _inside(pdfium.FPDFFormObj_GetObject(item, index), inner, depth + 1)


def _take(painted: Painted, item: ctypes.c_void_p, matrix: Matrix, order: int) -> None:
    kind = pdfium.FPDFPageObj_GetType(item)
    if kind == pdfium.FPDF_PAGEOBJ_TEXT:
        painted.orders[address(item)] = order
    elif kind == pdfium.FPDF_PAGEOBJ_IMAGE:
        painted.images.append(ImageArea(_bounds(item, matrix), order))
    elif kind == pdfium.FPDF_PAGEOBJ_PATH:
        painted.drawings += 1
        _path(painted, item, matrix, order)
    else:
        painted.drawings += 1


def _matrix(item: ctypes.c_void_p) -> Matrix:
    found = pdfium.FS_MATRIX()
    pdfium.FPDFPageObj_GetMatrix(item, found)
    return (found.a, found.b, found.c, found.d, found.e, found.f)


def _bounds(item: ctypes.c_void_p, matrix: Matrix) -> Box:
    sides = [ctypes.c_float() for _ in range(4)]
    pdfium.FPDFPageObj_GetBounds(item, *sides)
    left, bottom, right, top = (side.value for side in sides)
    return box(matrix, left, bottom, right, top)


def _path(painted: Painted, item: ctypes.c_void_p, matrix: Matrix, order: int) -> None:
    mode, stroke = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDFPath_GetDrawMode(item, mode, stroke)
    if not mode.value and not stroke.value:
        return
    count = pdfium.FPDFPath_CountSegments(item)
    painted.segments += count
    if painted.segments > _MAX_SEGMENTS:
        painted.is_cut = True
        return
    width = ctypes.c_float()
    pdfium.FPDFPageObj_GetStrokeWidth(item, width)
    for points in _outlines(item, count, multiply(_matrix(item), matrix)):
        if stroke.value:
            _strokes(painted, points, max(width.value, 0.1), order)
        if mode.value:
            _filled(painted, points, fill_colour(item), order)


def _outlines(
    item: ctypes.c_void_p, count: int, matrix: Matrix
) -> Iterator[list[tuple[float, float]]]:
    """The straight parts of a path as runs of points; a curve breaks a run."""
    points: list[tuple[float, float]] = []
    x, y = ctypes.c_float(), ctypes.c_float()
    for index in range(count):
        segment = pdfium.FPDFPath_GetPathSegment(item, index)
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        here = point(matrix, x.value, y.value)
        if pdfium.FPDFPathSegment_GetType(segment) != pdfium.FPDF_SEGMENT_LINETO:
            if len(points) > 1:
                yield points
            points = [here]
        else:
            points.append(here)
        if pdfium.FPDFPathSegment_GetClose(segment) and len(points) > 2:
            points.append(points[0])
    if len(points) > 1:
        yield points


def _strokes(painted: Painted, points: list[tuple[float, float]], width: float, order: int) -> None:
    for (x0, y0), (x1, y1) in pairwise(points):
        across, down = abs(x1 - x0), abs(y1 - y0)
        if min(across, down) > _STRAIGHT or across == down == 0.0:
            continue
        area = (min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
        painted.rules.append(Rule(area, across >= down, width, order))


def _filled(
    painted: Painted, points: list[tuple[float, float]], colour: Colour, order: int
) -> None:
    xs, ys = zip(*points, strict=True)
    area = (min(xs), min(ys), max(xs), max(ys))
    across, down = area[2] - area[0], area[3] - area[1]
    if min(across, down) <= _THIN and max(across, down) >= 2 * min(across, down):
        painted.rules.append(Rule(area, across >= down, min(across, down), order))
    else:
        painted.fills.append(Fill(area, colour, order))
