"""From the user space of a PDF page to the page as a person sees it."""

from __future__ import annotations

from dataclasses import dataclass

from documents.records import Box

Matrix = tuple[float, float, float, float, float, float]  # a b c d e f, as in ISO 32000 8.3.4

IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


def multiply(first: Matrix, then: Matrix) -> Matrix:
    """The matrix that applies `first`, then `then`."""
    a, b, c, d, e, f = first
    g, h, i, j, k, m = then
    return (
        a * g + b * i,
        a * h + b * j,
        c * g + d * i,
        c * h + d * j,
        e * g + f * i + k,
        e * h + f * j + m,
    )


def union(first: Box, second: Box) -> Box:
    """The smallest box around both."""
    return (
        min(first[0], second[0]),
        min(first[1], second[1]),
        max(first[2], second[2]),
        max(first[3], second[3]),
    )


@dataclass(frozen=True, slots=True)
class PageSpace:
    """Where the visible page lies in user space, and how far it is turned clockwise."""

    left: float
    bottom: float
    right: float
    top: float
    rotation: int  # 0, 90, 180 or 270

    @property
    def width(self) -> float:
        """Width as shown."""
        return self.top - self.bottom if self.rotation in (90, 270) else self.right - self.left

    @property
    def height(self) -> float:
        """Height as shown."""
        return self.right - self.left if self.rotation in (90, 270) else self.top - self.bottom

    @property
    def matrix(self) -> Matrix:
        """From user space to shown coordinates, y downwards."""
        if self.rotation == 90:
            return (0.0, 1.0, 1.0, 0.0, -self.bottom, -self.left)
        if self.rotation == 180:
            return (-1.0, 0.0, 0.0, 1.0, self.right, -self.bottom)
        if self.rotation == 270:
            return (0.0, -1.0, -1.0, 0.0, self.top, self.right)
        return (1.0, 0.0, 0.0, -1.0, -self.left, self.top)


def point(matrix: Matrix, x: float, y: float) -> tuple[float, float]:
    """A point after `matrix`."""
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def box(matrix: Matrix, x0: float, y0: float, x1: float, y1: float) -> Box:
    """The upright box around a rectangle after `matrix`."""
    a, b, c, d, e, f = matrix
    if b == c == 0.0:  # an upright page: the usual case, called for every letter
        left, right, top, bottom = a * x0 + e, a * x1 + e, d * y1 + f, d * y0 + f
    elif a == d == 0.0:
        left, right, top, bottom = c * y0 + e, c * y1 + e, b * x0 + f, b * x1 + f
    else:
        return _leaning_box(matrix, x0, y0, x1, y1)
    if left > right:
        left, right = right, left
    if top > bottom:
        top, bottom = bottom, top
    return left, top, right, bottom


def _leaning_box(matrix: Matrix, x0: float, y0: float, x1: float, y1: float) -> Box:
    xs, ys = zip(*(point(matrix, x, y) for x in (x0, x1) for y in (y0, y1)), strict=True)
    return (min(xs), min(ys), max(xs), max(ys))
