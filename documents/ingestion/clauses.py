"""Clauses below the level of sections, so that each can be cited: `4(i)(ii)`, `第五條第二項第一款`.

Printed marks are put into levels by their sequence; where the format itself computed a label
(`Block.number`), that label holds. The unmarked paragraphs of a Chinese article are counted,
since they are cited by their number (項).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from documents.ingestion.levels import Clause, Join, arrange
from documents.ingestion.markers import Marker, find_markers
from documents.ingestion.numbering import parse_label
from documents.ingestion.numerals import han_numeral, han_value
from documents.ingestion.sentences import split_sentences
from documents.records import Block, BlockKind, ClauseRecord, ParsedDocument, SectionRecord

_HAN_ARTICLE = re.compile(r"第.+[條条](?:之.+|-\d+)?$")
_HAN_UNITS = ("款", "目")
_PARAGRAPH_ENDS = tuple("。：；！？」』）:;.")
_NUMBER_PARTS = re.compile(r"\w+(?:\.\w+)*")
_MARK_LENGTH = 12  # characters at a line's beginning that can hold its mark
_LABEL_LENGTH = 80


def find_clauses(
    parsed: ParsedDocument, sections: Sequence[SectionRecord]
) -> tuple[ClauseRecord, ...]:
    """The labelled clauses of every section, in order; a clause holds those inside it."""
    reader = _Reader(parsed)
    return tuple(clause for section in sections for clause in reader.read(section))


class _Reader:
    """Reads one section after another."""

    def __init__(self, parsed: ParsedDocument) -> None:
        self._text = parsed.text
        self._blocks = parsed.blocks
        self._starts = [block.start for block in parsed.blocks]

    def read(self, section: SectionRecord) -> list[ClauseRecord]:
        start, end = self._body(section)
        if start >= end:
            return []
        computed = [block for block in self._blocks_between(start, end) if _is_computed(block)]
        if computed:
            return list(self._computed(section, computed, end))
        number = section.number or ""
        if _HAN_ARTICLE.match(number):
            return self._article(section, number, start, end)
        return self._marked(section, number, start, end, _join_printed)

    def _body(self, section: SectionRecord) -> tuple[int, int]:
        """The section's words, without the label that an untitled clause begins with."""
        start, end = section.body_start, section.end
        if section.number and section.body_start == section.start:
            line = self._text[start : min(start + _LABEL_LENGTH, end)]
            offset = len(line) - len(line.lstrip())
            label = parse_label(line.lstrip().split("\n", 1)[0])
            start += offset + label.rest_start if label else 0
        while end > start and self._text[end - 1].isspace():
            end -= 1
        while start < end and self._text[start].isspace():
            start += 1
        return start, end

    def _blocks_between(self, start: int, end: int) -> Sequence[Block]:
        return self._blocks[bisect_left(self._starts, start) : bisect_left(self._starts, end)]

    # Labels that the format computed.

    def _computed(
        self, section: SectionRecord, blocks: Sequence[Block], end: int
    ) -> Iterator[ClauseRecord]:
        """A clause for each labelled block, as far as the next label that is not inside it."""
        parts = [_parts(block.number or "") for block in blocks]
        ends = _ends([block.start for block in blocks], parts, end)
        for block, stop in zip(blocks, ends, strict=True):
            label = _full_label(section.number or "", block.number or "")
            stop = self._trim(block.start, self._last_end(block, stop) if stop == end else stop)
            marker = self._text[block.start : block.end].split(maxsplit=1)[0]
            yield ClauseRecord(section.ordinal, label, marker, block.start, stop)

    def _last_end(self, block: Block, end: int) -> int:
        """Where the last item of a list ends: with the paragraphs that the format counts to it."""
        following = bisect_right(self._starts, block.start)
        stop = block.end
        while following < len(self._blocks) and self._blocks[following].start < end:
            other = self._blocks[following]
            if not (other.number or "continued" in other.flags):
                break
            stop, following = other.end, following + 1
        return min(stop, end)

    # Printed marks.

    def _marked(
        self, section: SectionRecord, prefix: str, start: int, end: int, join: Join
    ) -> list[ClauseRecord]:
        markers = [m for m in find_markers(self._text, start, end) if self._may_mark(m)]
        clauses = arrange(markers, prefix, end, join)
        stops = [self._stop(clause, end) for clause in clauses]
        for clause, stop in zip(reversed(clauses), reversed(stops), strict=True):
            if clause.parent is not None:  # the clause around reaches as far
                stops[clause.parent] = max(stops[clause.parent], stop)
        return [
            ClauseRecord(
                section.ordinal,
                clause.label,
                self._text[clause.marker.start : clause.marker.end],
                clause.marker.start,
                self._trim(clause.marker.start, stop),
            )
            for clause, stop in zip(clauses, stops, strict=True)
        ]

    def _may_mark(self, marker: Marker) -> bool:
        position = bisect_right(self._starts, marker.start) - 1
        block = self._blocks[position] if position >= 0 else None
        return block is None or marker.start >= block.end or block.kind is not BlockKind.CODE

    def _stop(self, clause: Clause, end: int) -> int:
        """Where a clause ends: the last one of a run with its paragraph or sentence."""
        if not clause.is_last:
            return clause.end
        marker = clause.marker
        position = bisect_right(self._starts, marker.start) - 1
        stop = self._last_end(self._blocks[position], end) if position >= 0 else end
        stop = min(max(stop, marker.end), end)
        if marker.is_inline and not marker.is_set_off:
            spans = split_sentences(self._text[marker.end : stop])
            stop = marker.end + spans[0][1] if spans else stop
        return stop

    def _trim(self, start: int, end: int) -> int:
        while end > start and self._text[end - 1].isspace():
            end -= 1
        return end

    # Articles of Chinese statutes.

    def _article(
        self, section: SectionRecord, number: str, start: int, end: int
    ) -> list[ClauseRecord]:
        """Paragraphs (項) counted where there are several, with their 款 and 目 inside."""
        paragraphs = list(self._paragraphs(start, end))
        if len(paragraphs) < 2:
            return self._marked(section, number, start, end, _join_article)
        records: list[ClauseRecord] = []
        for count, (first, last) in enumerate(paragraphs, 1):
            label = f"{number}第{_numeral(number, count)}項"
            records.append(ClauseRecord(section.ordinal, label, None, first, last))
            records.extend(self._marked(section, label, first, last, _join_article))
        return records

    def _paragraphs(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Spans of the paragraphs: each line without a mark begins one, if it begins a sentence."""
        first, last, is_ended = start, start, True
        for line_start, line_end in self._lines(start, end):
            line = self._text[line_start:line_end]
            is_drawn = any("\u2500" <= char <= "\u257f" for char in line[:3])
            is_marked = bool(find_markers(line[:_MARK_LENGTH], 0, _MARK_LENGTH))
            if last == first:
                first = line_start
            elif is_ended and not is_marked and not is_drawn:
                yield first, last
                first = line_start
            is_ended, last = is_drawn or line.endswith(_PARAGRAPH_ENDS), line_end
        if last > first:
            yield first, last

    def _lines(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        position = start
        while position < end:
            newline = self._text.find("\n", position, end)
            stop = end if newline < 0 else newline
            raw = self._text[position:stop]
            if raw.strip():
                first = position + len(raw) - len(raw.lstrip())
                yield first, first + len(raw.strip())
            position = stop + 1


def _is_computed(block: Block) -> bool:
    return bool(block.number) and block.kind is not BlockKind.HEADING


def _parts(number: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", number))


def _ends(starts: Sequence[int], parts: Sequence[tuple[str, ...]], end: int) -> list[int]:
    """Where each labelled block ends: at the next one whose label does not extend its own."""
    ends = [end] * len(starts)
    open_items: list[int] = []
    for index, label in enumerate(parts):
        while open_items and label[: len(parts[open_items[-1]])] != parts[open_items[-1]]:
            ends[open_items.pop()] = starts[index]
        open_items.append(index)
    return ends


def _full_label(section: str, number: str) -> str:
    """The computed label with its section's number before it, where it lacks it."""
    own, outer = _parts(number), _parts(section)
    if outer and own[: len(outer)] == outer:
        return number
    if not section:
        return number
    pieces = _NUMBER_PARTS.findall(number)
    return section + "".join(f"({piece})" for piece in pieces)


def _join_printed(outer: str, depth: int, marker: Marker) -> str:
    """`4(i)(ii)`; in a Chinese outline a mark keeps its own form: `一（二）1`."""
    if marker.core.isascii() and outer.isascii():
        return f"{outer}({marker.core})"
    return f"{outer}（{marker.core}）" if marker.form == "()" else f"{outer}{marker.core}"


def _join_article(outer: str, depth: int, marker: Marker) -> str:
    """`第五條第一款第二目`; what is deeper is named by its mark."""
    if depth >= len(_HAN_UNITS):
        return f"{outer}之{marker.core}"
    if marker.core.isascii() and not marker.core.isdigit():
        return _join_printed(outer, depth, marker)
    values = [han_value(part) for part in marker.core.split("之")]
    number = _numeral(outer, values[0])
    suffix = "".join(f"之{_numeral(outer, value)}" for value in values[1:])
    return f"{outer}第{number}{_HAN_UNITS[depth]}{suffix}"


def _numeral(like: str, value: int) -> str:
    """A number as the article's own number is written."""
    return str(value) if re.search(r"\d", like) else han_numeral(value)
