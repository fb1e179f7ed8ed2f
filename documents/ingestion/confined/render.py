"""A page's image from the confined child, by the same way that a parsed document takes.

The child knows one kind of task: a file, a name, and what reads it. Page and scale go in the
place of the name, and the image comes back as the text of a document, in base64.
"""

from __future__ import annotations

import base64
import binascii

from documents.errors import ParseError
from documents.ingestion.confined.limits import Limits
from documents.ingestion.confined.run import parse_confined

_ENTRY = "documents.ingestion.confined.drawing:draw"
_LIMITS = Limits(cpu_seconds=20, memory_mb=512, output_mb=64)
_PNG = b"\x89PNG\r\n\x1a\n"


def render_confined(data: bytes, number: int, scale: float) -> bytes:
    """A page of a PDF as PNG.

    Args:
        data: the file.
        number: of the page, counted from 1.
        scale: pixels a point.

    Raises:
        ParseError: there is no such page, or it cannot be drawn within the limits.
    """
    document = parse_confined(data, file_name=f"{number}@{scale}", limits=_LIMITS, entry=_ENTRY)
    try:
        image = base64.b64decode(document.text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ParseError("The page cannot be drawn.") from error
    if not image.startswith(_PNG):
        raise ParseError("The page cannot be drawn.")
    return image
