"""Paragraphs to the canonical text, with a block for each and a box for every word."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from documents.ingestion.parsers.pdf.blocks import Note, Paragraph, Piece
from documents.ingestion.parsers.pdf.geometry import union
from documents.ingestion.parsers.pdf.turn import Turn
from documents.ingestion.parsers.writer import LINE_GAP, PARAGRAPH_GAP
from documents.records import Block, BlockKind, Box, WordBox

_INDENT = "  "


class Assembler:
    """Grows the canonical text; `blocks` and `words` hold exact spans of it."""

    def __init__(self, turns: Mapping[int, Turn]) -> None:
        self._turns = turns
        self._parts: list[str] = []
        self._length = 0
        self._last: BlockKind | None = None
        self.blocks: list[Block] = []
        self.words: dict[int, list[WordBox]] = defaultdict(list)

    def add(self, paragraph: Paragraph, notes: Sequence[Note] = ()) -> None:
        """Append a paragraph, then the notes that it cites."""
        self._append(paragraph)
        for note in notes:
            self._append(note.paragraph)

    def text(self) -> str:
        """The canonical text so far."""
        return "".join(self._parts)

    def page_words(self, page: int) -> tuple[WordBox, ...]:
        """The boxes of a page's words, by their place in the text."""
        return tuple(sorted(self.words[page], key=lambda word: word.start))

    def _append(self, paragraph: Paragraph) -> None:
        if not paragraph.text().strip():
            return
        if self._parts:
            is_row = paragraph.kind in (BlockKind.LIST_ITEM, BlockKind.TABLE_ROW)
            tight = paragraph.is_tight and is_row and paragraph.kind is self._last
            self._put(LINE_GAP if tight else PARAGRAPH_GAP)
        self._put(_INDENT * paragraph.indent)
        start = self._length
        boxes: dict[int, Box] = {}
        for index, piece in enumerate(paragraph.pieces):
            if index and piece.has_blank:
                self._put(" ")
            self._piece(piece, boxes)
        page = min(boxes, default=paragraph.page)
        self.blocks.append(
            Block(
                kind=paragraph.kind,
                start=start,
                end=self._length,
                level=paragraph.level,
                page=page,
                flags=frozenset(paragraph.flags),
                box=boxes.get(page),
            )
        )
        self._last = paragraph.kind

    def _piece(self, piece: Piece, boxes: dict[int, Box]) -> None:
        start = self._length
        self._put(piece.text)
        if piece.word is None:
            return
        turn = self._turns.get(piece.page)
        box = piece.word.box if turn is None else turn.shown(piece.word.box)
        self.words[piece.page].append(WordBox(start, self._length, box))
        boxes[piece.page] = union(boxes[piece.page], box) if piece.page in boxes else box

    def _put(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
