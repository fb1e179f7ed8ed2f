"""Sections to chunks that fit the embedder's window.

A chunk is an exact slice of the canonical text inside one section. A section that fits is
one chunk; a longer one is divided between paragraphs, items, sub-clauses and table rows,
then between sentences (with one sentence of overlap), and only where a single sentence is
too long inside it. Every character that is not white space or heading is in a chunk.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from documents.ingestion.kinds import classify
from documents.ingestion.paging import Paging
from documents.ingestion.sentences import split_sentences
from documents.records import Block, BlockKind, ChunkRecord, ParsedDocument, SectionRecord

CountTokens = Callable[[str], int]

# A tokenizer may call a word of any length one unknown token, so length is limited too.
# Real text has fewer than seven characters a token.
_MAX_CHARACTERS_PER_TOKEN = 8
_ITEM_LINE = re.compile(
    r"\n(?=[^\S\n]*(?:[-*•‣▪●○–]\s|\(?(?:[a-z]{1,4}|[A-Z]|\d{1,3})[.)]\s|\d{1,3}(?:\.\d{1,3})+\.?\s"
    r"|[一二三四五六七八九十百]{1,4}、|[（(][一二三四五六七八九十]{1,3}[)）]))"
)
_WHOLE_KINDS = frozenset({BlockKind.TABLE_ROW, BlockKind.CODE})
_SOFT_ENDS = (";:；：", ",，、")
_LEAD_IN_ENDS = (":", "：")
_STUB_SHARE = 0.15


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch that is not divided. `is_sentence`: it follows another of its paragraph."""

    start: int
    end: int
    tokens: int
    is_sentence: bool = False


def build_chunks(
    parsed: ParsedDocument,
    sections: Sequence[SectionRecord],
    *,
    count_tokens: CountTokens,
    max_tokens: int = 254,
) -> tuple[ChunkRecord, ...]:
    """Divide the bodies of `sections` into chunks, in order.

    Args:
        parsed: the document, for its text and the borders of its blocks.
        sections: from `build_sections` of the same document.
        count_tokens: the embedder's count for a text, without its special tokens.
        max_tokens: no chunk counts more.
    """
    maker = _Maker(parsed, count_tokens, max_tokens)
    paging = Paging(parsed)
    chunks: list[ChunkRecord] = []
    for section in sections:
        for start, end, overlap in maker.spans(section.body_start, section.end):
            text = parsed.text[start:end]
            chunks.append(
                ChunkRecord(
                    ordinal=len(chunks),
                    section=section.ordinal,
                    kind=classify(text),
                    text=text,
                    start=start,
                    end=end,
                    tokens=count_tokens(text),
                    overlap=overlap,
                    pages=paging.pages(start, end),
                )
            )
    return tuple(chunks)


class _Maker:
    """Divides one stretch of text after another."""

    def __init__(self, parsed: ParsedDocument, count_tokens: CountTokens, max_tokens: int) -> None:
        self._text = parsed.text
        self._blocks = parsed.blocks
        self._starts = [block.start for block in parsed.blocks]
        self._notes = {b.start for b in parsed.blocks if b.kind is BlockKind.FOOTNOTE}
        self._count = count_tokens
        self._max_tokens = max_tokens
        self._max_characters = max_tokens * _MAX_CHARACTERS_PER_TOKEN

    def spans(self, start: int, end: int) -> list[tuple[int, int, int]]:
        """(start, end, overlapping characters) of the chunks of one body."""
        start, end = self._trim(start, end)
        if start == end:
            return []
        if self._fits(start, end):
            return [(start, end, 0)]
        return self._pack(list(self._pieces(start, end)))

    # Pieces that are not divided.

    def _pieces(self, start: int, end: int) -> Iterator[_Piece]:
        for first, last, may_split in self._units(start, end):
            tokens = self._tokens(first, last)
            if tokens is not None:
                yield _Piece(first, last, tokens)
            elif may_split:
                yield from self._sentences(first, last)
            else:
                yield from self._hard_pieces(first, last)

    def _units(self, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
        """Paragraphs, items, rows and fences, with whether sentences may be looked for."""
        position = start
        for block in self._blocks_between(start, end):
            if block.start > position:
                yield from self._lines(position, min(block.start, end))
            first, last = max(block.start, position), min(block.end, end)
            if block.kind in _WHOLE_KINDS:
                yield from self._whole(first, last)
            else:
                yield from self._lines(first, last)
            position = max(position, last)
        yield from self._lines(position, end)

    def _blocks_between(self, start: int, end: int) -> Sequence[Block]:
        first = max(bisect_left(self._starts, start) - 1, 0)
        last = bisect_left(self._starts, end)
        return [block for block in self._blocks[first:last] if block.end > start]

    def _lines(self, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
        """A paragraph, divided before the items that stand on lines of their own."""
        position = start
        for match in _ITEM_LINE.finditer(self._text, start, end):
            yield from self._trimmed(position, match.start(), may_split=True)
            position = match.end()
        yield from self._trimmed(position, end, may_split=True)

    def _whole(self, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
        """A row or fence; a fence that is too long is divided between its lines."""
        if self._fits(start, end):
            yield from self._trimmed(start, end, may_split=False)
            return
        position = start
        while position < end:
            newline = self._text.find("\n", position, end)
            stop = end if newline < 0 else newline
            yield from self._trimmed(position, stop, may_split=False)
            position = stop + 1

    def _trimmed(self, start: int, end: int, *, may_split: bool) -> Iterator[tuple[int, int, bool]]:
        start, end = self._trim(start, end)
        if start < end:
            yield start, end, may_split

    def _sentences(self, start: int, end: int) -> Iterator[_Piece]:
        is_later = False
        for first, last in split_sentences(self._text[start:end]):
            tokens = self._tokens(start + first, start + last)
            if tokens is not None:
                yield _Piece(start + first, start + last, tokens, is_sentence=is_later)
            else:
                yield from self._hard_pieces(start + first, start + last)
            is_later = True

    def _hard_pieces(self, start: int, end: int) -> Iterator[_Piece]:
        """Divide what is too long in itself, between words where it has any."""
        position, size = start, self._max_characters
        while position < end:
            stop = self._cut(position, min(position + size, end), end)
            tokens = self._tokens(position, stop)
            if tokens is None:
                size = max((stop - position) * 3 // 4, 1)
                if stop - position > 1:
                    continue
                tokens = self._max_tokens  # one character that alone is too much
            yield _Piece(position, stop, tokens)
            size = min(size * 5 // 4 + 1, self._max_characters)
            position, _ = self._trim(stop, end)

    def _cut(self, start: int, stop: int, end: int) -> int:
        """Where to end a piece that begins at `start` and may reach `stop`.

        After a semicolon or comma in its second half, else after a word, and only inside an
        endless word where there is nothing else.
        """
        if stop >= end:
            return stop
        half = start + (stop - start) // 2
        for marks in _SOFT_ENDS:
            found = max(self._text.rfind(mark, half, stop) for mark in marks)
            if found >= 0 and (self._text[found] > "\u2fff" or self._text[found + 1].isspace()):
                return found + 1
        if not self._text[stop].isspace():
            blank = max(self._text.rfind(char, start + 1, stop) for char in " \n\t\u3000")
            stop = blank if blank > half else stop
        return max(self._trim(start, stop)[1], start + 1)

    # Packing.

    def _pack(self, pieces: list[_Piece]) -> list[tuple[int, int, int]]:
        spans: list[tuple[int, int, int]] = []
        position = 0
        repeats: _Piece | None = None
        while position < len(pieces):
            group, position_after = self._group(pieces, position, repeats)
            first = repeats.start if repeats else pieces[position].start
            overlap = pieces[position].start - first
            spans.append((first, pieces[position_after - 1].end, overlap))
            repeats = self._overlap(pieces, position_after, group)
            position = position_after
        return spans

    def _group(
        self, pieces: list[_Piece], position: int, repeats: _Piece | None
    ) -> tuple[int, int]:
        """How many pieces from `position` make one chunk, and where the next one begins."""
        first = repeats.start if repeats else pieces[position].start
        total = repeats.tokens if repeats else 0
        stop = position
        while stop < len(pieces) and (
            stop == position or total + pieces[stop].tokens <= self._max_tokens
        ):
            total += pieces[stop].tokens
            stop += 1
        while stop - position > 1 and not self._fits(first, pieces[stop - 1].end):
            stop -= 1
        stop = self._keep_lead_in(pieces, position, stop)
        stop = self._keep_notes(pieces, position, stop)
        stop = self._leave_no_stub(pieces, position, stop)
        return stop - position, stop

    def _keep_lead_in(self, pieces: list[_Piece], position: int, stop: int) -> int:
        """A line that ends in a colon goes with the first of what it introduces."""
        if stop < len(pieces) and stop - position > 1:
            last = pieces[stop - 1]
            if self._text[last.start : last.end].endswith(_LEAD_IN_ENDS):
                return stop - 1
        return stop

    def _keep_notes(self, pieces: list[_Piece], position: int, stop: int) -> int:
        """What a footnote explains goes with it into the next chunk, where both fit there."""
        first = stop
        while position < first < len(pieces) and pieces[first].start in self._notes:
            first -= 1
        moved = sum(piece.tokens for piece in pieces[first : stop + 1])
        return first if position < first < stop and moved <= self._max_tokens else stop

    def _leave_no_stub(self, pieces: list[_Piece], position: int, stop: int) -> int:
        """Give up a piece rather than leave a tiny last chunk."""
        remaining = sum(piece.tokens for piece in pieces[stop : stop + 3])
        is_stub = stop + 3 >= len(pieces) and remaining < _STUB_SHARE * self._max_tokens
        if stop == len(pieces) or not is_stub or stop - position < 3:
            return stop
        given = pieces[stop - 1]
        return stop - 1 if given.tokens + remaining <= self._max_tokens else stop

    def _overlap(self, pieces: list[_Piece], position: int, group: int) -> _Piece | None:
        """The last sentence of the chunk before, where the cut is between two sentences."""
        if position >= len(pieces) or not pieces[position].is_sentence or group < 2:
            return None
        last = pieces[position - 1]
        if last.tokens + pieces[position].tokens > self._max_tokens:
            return None
        return last if self._fits(last.start, pieces[position].end) else None

    # Measuring.

    def _trim(self, start: int, end: int) -> tuple[int, int]:
        while start < end and self._text[start].isspace():
            start += 1
        while end > start and self._text[end - 1].isspace():
            end -= 1
        return start, end

    def _fits(self, start: int, end: int) -> bool:
        return self._tokens(start, end) is not None

    def _tokens(self, start: int, end: int) -> int | None:
        """The count of a stretch, None if it is too long; very long ones are not counted."""
        if end - start > self._max_characters:
            return None
        tokens = self._count(self._text[start:end])
        return tokens if tokens <= self._max_tokens else None
