"""Plain text: paragraphs between blank lines. Headings are found later, by `structure`.

Lines that were broken to fit a width are joined. A title over a ruler is a heading, and the
ruler goes; every other character stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from documents.ingestion.parsers.encoding import Decoded
from documents.ingestion.parsers.scripts import detect_language
from documents.ingestion.parsers.wrapped import is_ruler, join_lines, wrap_width
from documents.ingestion.parsers.writer import TextWriter
from documents.records import Block, BlockKind, MediaType, ParsedDocument

_PARAGRAPH = re.compile(r"[^\S\n]*\S[^\n]*(?:\n(?=[^\S\n]*\S)[^\n]*)*")
_TITLE_WORDS = 15
_TITLE_CHARACTERS = 120
_ENDS_SENTENCE = tuple(".;:!?,。；：！？，")
_LEVELS = {"=": 1, "#": 1, "*": 1, "-": 2, "~": 3, "^": 3, "_": 2}


def parse_plain(decoded: Decoded) -> ParsedDocument:
    """Read plain text; apart from joined lines, rulers and blanks it is the text itself."""
    source = "\n".join(line.rstrip() for line in decoded.text.split("\n")).strip("\n")
    paragraphs = [match[0].split("\n") for match in _PARAGRAPH.finditer(source)]
    width = wrap_width(paragraphs)
    writer = TextWriter()
    for lines in paragraphs:
        for kind, level, part in _parts(lines):
            joined = join_lines(part, width, source) if width else part
            _write(writer, kind, level, joined)
    text = writer.text()
    blocks = tuple(writer.blocks)
    return ParsedDocument(
        media_type=MediaType.PLAIN,
        text=text,
        blocks=blocks,
        title=_title(text, blocks),
        language=detect_language(text),
        encoding=decoded.encoding,
        warnings=decoded.warnings,
    )


def _parts(lines: Sequence[str]) -> Iterator[tuple[BlockKind, int | None, list[str]]]:
    """A paragraph's lines, cut where a title stands over a ruler."""
    part: list[str] = []
    index = 0
    while index < len(lines):
        line = lines[index]
        if index + 1 < len(lines) and _is_underlined(line, lines[index + 1], is_first=not part):
            if part:
                yield BlockKind.PARAGRAPH, None, part
            part = []
            yield BlockKind.HEADING, _LEVELS[lines[index + 1].strip()[0]], [line.strip()]
            index += 2
        else:
            part.append(line)
            index += 1
    if part:
        yield BlockKind.PARAGRAPH, None, part


def _is_underlined(line: str, ruler: str, *, is_first: bool) -> bool:
    title = line.strip()
    return (
        is_first
        and is_ruler(ruler)
        and not is_ruler(line)
        and ruler.strip()[0] in _LEVELS
        and any(char.isalnum() for char in title)
        and len(title) <= _TITLE_CHARACTERS
        and abs(len(ruler.strip()) - len(title)) <= max(len(title) // 2, 5)
        and "  " not in title
        and "\t" not in title
        and "|" not in title
    )


def _write(writer: TextWriter, kind: BlockKind, level: int | None, lines: Sequence[str]) -> None:
    indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    text = "\n".join(lines)[len(indent) :]
    writer.add(kind, text, indent=indent, level=level)


def _title(text: str, blocks: tuple[Block, ...]) -> str | None:
    """The first line, where it stands like a title: alone or in capitals, without a full stop."""
    if len(blocks) < 2:
        return None
    first = text[blocks[0].start : blocks[0].end]
    line = first.split("\n", 1)[0].strip()
    is_alone = "\n" not in first
    if not (is_alone or line.isupper()) or line.endswith(_ENDS_SENTENCE):
        return None
    if len(line.split()) > _TITLE_WORDS or len(line) > _TITLE_CHARACTERS or not line[0].isalpha():
        return None
    return line
