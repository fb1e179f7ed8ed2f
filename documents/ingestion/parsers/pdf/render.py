"""A page of a PDF as an image, for the reader's page view.

Nothing of the file acts while it is drawn: scripts are not run, forms are not filled in, links
are not followed. The image is bounded, whatever size the page claims.
"""

from __future__ import annotations

import io

import pypdfium2 as pdfium2
from PIL import Image

from documents.errors import ParseError
from documents.ingestion.parsers.pdf.extract import opened

MAX_PIXELS = 12_000_000
_MIN_SCALE = 0.05
Image.preinit()  # Pillow loads its PNG writer when first asked; the child opens no file then


def render_page(data: bytes, number: int, scale: float) -> bytes:
    """Draw page `number`, counted from 1, as PNG; `scale` 1 is 72 pixels to the inch.

    The page is drawn as shown: cropped and turned, so that its pixels are the points of
    `WordBox.box` times the scale that the image's width gives. A scale that would need more
    than `MAX_PIXELS` is lowered.

    Raises:
        ParseError: `refused` when there is no such page or it cannot be drawn, `encrypted`.
    """
    document = opened(data)
    try:
        if not 1 <= number <= len(document):
            raise ParseError(f"The PDF has no page {number}.", code="refused")
        return _png(document[number - 1], scale)
    except (pdfium2.PdfiumError, MemoryError, ValueError) as error:
        raise ParseError(f"Page {number} cannot be drawn.", code="refused") from error
    finally:
        document.close()


def _png(page: pdfium2.PdfPage, scale: float) -> bytes:
    width, height = page.get_size()
    largest = (MAX_PIXELS / max(width * height, 1.0)) ** 0.5
    bitmap = page.render(
        scale=max(min(scale, largest), _MIN_SCALE),
        rev_byteorder=True,
        # Notes and form fields are no passages, so no reader gets them as text either.
        draw_annots=False,
        may_draw_forms=False,
    )
    image: Image.Image = bitmap.to_pil().convert("RGB")
    target = io.BytesIO()
    image.save(target, "PNG", compress_level=6)
    return target.getvalue()
