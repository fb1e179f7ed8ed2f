"""In the child: draw a page. The parent only names this module, so it loads no PDF library.

What the child needs is imported before it shuts itself in, so nothing is imported later.
"""

from __future__ import annotations

import base64

from documents.ingestion.parsers.pdf.render import render_page
from documents.ingestion.parsers.progress import Progress
from documents.records import Block, BlockKind, MediaType, ParsedDocument


def draw(data: bytes, *, file_name: str, progress: Progress) -> ParsedDocument:
    """The page that `file_name` says (`3@2.0`: page 3 at scale 2), in base64 as a text.

    Raises:
        ParseError: there is no such page, or it cannot be drawn.
    """
    number, _, scale = file_name.partition("@")
    text = base64.b64encode(render_page(data, int(number), float(scale))).decode("ascii")
    return ParsedDocument(MediaType.PDF, text, (Block(BlockKind.CODE, 0, len(text)),))
