"""Plain text: paragraphs between blank lines. Headings are found later, by `structure`."""

from __future__ import annotations

import re

from documents.ingestion.parsers.encoding import Decoded
from documents.ingestion.parsers.scripts import detect_language
from documents.records import Block, BlockKind, MediaType, ParsedDocument

_PARAGRAPH = re.compile(r"\S[^\n]*(?:\n(?=[^\S\n]*\S)[^\n]*)*")
_TITLE_WORDS = 15
_ENDS_SENTENCE = tuple(".;:!?,。；：！？，")


def parse_plain(decoded: Decoded) -> ParsedDocument:
    """Read plain text; the canonical text is the text itself without outer blank lines."""
    text = "\n".join(line.rstrip() for line in decoded.text.split("\n")).strip("\n")
    blocks = tuple(
        Block(BlockKind.PARAGRAPH, match.start(), match.end())
        for match in _PARAGRAPH.finditer(text)
    )
    return ParsedDocument(
        media_type=MediaType.PLAIN,
        text=text,
        blocks=blocks,
        title=_title(text, blocks),
        language=detect_language(text),
        encoding=decoded.encoding,
        warnings=decoded.warnings,
    )


def _title(text: str, blocks: tuple[Block, ...]) -> str | None:
    """The first line, where it stands like a title: alone or in capitals, without a full stop."""
    if len(blocks) < 2:
        return None
    first = text[blocks[0].start : blocks[0].end]
    line = first.split("\n", 1)[0].strip()
    is_alone = "\n" not in first
    if not (is_alone or line.isupper()) or line.endswith(_ENDS_SENTENCE):
        return None
    if len(line.split()) > _TITLE_WORDS or len(line) > 120 or not line[0].isalpha():
        return None
    return line
