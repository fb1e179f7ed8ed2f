"""What a page's lines become: paragraphs made of pieces, each piece a word with its page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from documents.ingestion.parsers.pdf.page import Line, TableRegion, Word
from documents.records import BlockKind


@dataclass(slots=True)
class Piece:
    """A word, or a part of one, as it goes into the text; `word` is None for what is added."""

    text: str
    word: Word | None
    page: int
    has_blank: bool = True


@dataclass(slots=True)
class Paragraph:
    """One block of the text. `lines` are those it was made of, `cites` the notes it names."""

    kind: BlockKind = BlockKind.PARAGRAPH
    pieces: list[Piece] = field(default_factory=list)
    lines: list[tuple[int, Line]] = field(default_factory=list)
    level: int | None = None
    flags: set[str] = field(default_factory=set)
    cites: list[tuple[int, str]] = field(default_factory=list)
    table: TableRegion | None = None
    indent: int = 0
    is_tight: bool = False
    is_continued: bool = False  # it goes on with the one before, over a border of pages

    @property
    def page(self) -> int:
        """The page of its first line."""
        return self.lines[0][0]

    @property
    def size(self) -> float:
        """The size of its first line's type."""
        return self.lines[0][1].size

    def text(self) -> str:
        """Its words with the blanks between them."""
        return text_of_pieces(self.pieces)


@dataclass(frozen=True, slots=True)
class Note:
    """A footnote: its mark and its paragraph."""

    page: int
    mark: str
    paragraph: Paragraph


def text_of_pieces(pieces: Iterable[Piece]) -> str:
    """The text that pieces make."""
    parts: list[str] = []
    for piece in pieces:
        if parts and piece.has_blank:
            parts.append(" ")
        parts.append(piece.text)
    return "".join(parts)
