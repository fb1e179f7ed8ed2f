"""The canonical text as it grows: blocks are appended, spans are kept."""

from __future__ import annotations

from documents.records import Block, BlockKind, HiddenText

PARAGRAPH_GAP = "\n\n"
LINE_GAP = "\n"


class TextWriter:
    """Collects the visible text with its blocks, and the hidden text apart.

    Between two blocks stands the gap that the later one asks for. A block's span leaves
    out its indent, so that `text[start:end]` begins with its first printed character.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self.blocks: list[Block] = []
        self.hidden: list[HiddenText] = []

    def add(
        self,
        kind: BlockKind,
        text: str,
        *,
        gap: str = PARAGRAPH_GAP,
        indent: str = "",
        level: int | None = None,
        flags: frozenset[str] = frozenset(),
        number: str | None = None,
    ) -> None:
        """Append one block; white space alone is nothing."""
        if not text.strip():
            return
        if self._length:
            self._append(gap)
        self._append(indent)
        start = self._length
        self._append(text)
        block = Block(kind, start, self._length, level=level, flags=flags, number=number)
        self.blocks.append(block)

    def hide(self, text: str, where: str) -> None:
        """Keep text that a person does not see."""
        stripped = text.strip()
        if stripped:
            self.hidden.append(HiddenText(stripped, where))

    def text(self) -> str:
        """The canonical text so far."""
        return "".join(self._pieces)

    def _append(self, piece: str) -> None:
        self._pieces.append(piece)
        self._length += len(piece)
