"""PDF files made for tests: pages drawn with reportlab, word by word where it matters."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

from PIL import Image
from reportlab.lib import pdfencrypt
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

WIDTH, HEIGHT = A4

Draw = Callable[[Canvas], None]


def pdf(*pages: Draw, **options: object) -> bytes:
    """A PDF with one page for each function, which draws it from the top (y downwards)."""
    target = io.BytesIO()
    canvas = Canvas(target, pagesize=A4, invariant=1, **options)
    for draw in pages:
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return target.getvalue()


def text(
    canvas: Canvas, x: float, top: float, words: str, *, font: str = "Helvetica", size: float = 11
) -> None:
    """Write a line with its base line `top` points below the upper edge."""
    canvas.setFont(font, size)
    canvas.drawString(x, HEIGHT - top, words)


def lines(
    canvas: Canvas,
    x: float,
    top: float,
    words: Sequence[str],
    *,
    step: float = 14,
    size: float = 11,
) -> None:
    """Write lines one below the other."""
    for index, line in enumerate(words):
        text(canvas, x, top + index * step, line, size=size)


def wrapped(words: str, width: int) -> list[str]:
    """Lines of at most `width` characters."""
    found = [""]
    for word in words.split():
        if len(found[-1]) + len(word) + 1 > width:
            found.append("")
        found[-1] = f"{found[-1]} {word}".strip()
    return found


def locked(password: str, *, owner: str = "owner") -> object:
    """Encryption with a user password; an empty one opens for everybody."""
    return pdfencrypt.StandardEncryption(password, ownerPassword=owner, canCopy=0)


def page_image(canvas: Canvas, *, share: float = 1.0) -> None:
    """A picture over a share of the page, as a scan has it."""
    picture = io.BytesIO()
    Image.effect_noise((60, 80), 60).convert("RGB").save(picture, "PNG")
    picture.seek(0)
    canvas.drawImage(ImageReader(picture), 0, 0, WIDTH, HEIGHT * share)
