"""The lines of a parsed document, with what their surroundings say about them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from documents.ingestion.cuts import cut_points, titled_numbers
from documents.records import Block, BlockKind, ParsedDocument

_CUT_KINDS = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST_ITEM})


@dataclass(frozen=True, slots=True)
class Line:
    """One line that holds more than white space; a heading that the format marks is one line.

    `start` and `end` are offsets of the stripped line in the canonical text. `level` is the
    heading level that the format itself gives, `number` the label that it computes. A line
    `is_inline` where it is the rest of a printed line, cut where a section could begin.
    """

    start: int
    end: int
    text: str
    indent: int
    kind: BlockKind
    is_after_blank: bool
    is_before_blank: bool
    level: int | None = None
    is_bold: bool = False
    is_inline: bool = False
    lead: int = 0  # characters of a title that stands before its number


def read_lines(parsed: ParsedDocument) -> list[Line]:
    """The lines of the canonical text, in order."""
    blocks = parsed.blocks
    starts = [block.start for block in blocks]
    spans = _spans(parsed.text, blocks)
    titled = titled_numbers(parsed.text)
    lines: list[Line] = []
    for index, (start, end) in enumerate(spans):
        raw = parsed.text[start:end]
        stripped = raw.strip()
        first = start + len(raw) - len(raw.lstrip())
        position = bisect_right(starts, first) - 1
        block = blocks[position] if position >= 0 else None
        before = parsed.text[spans[index - 1][1] : start] if index else "\n\n"
        after = parsed.text[end : spans[index + 1][0]] if index + 1 < len(spans) else "\n\n"
        line = Line(
            start=first,
            end=first + len(stripped),
            text=" ".join(stripped.split("\n")),
            indent=len(raw) - len(raw.lstrip()),
            kind=block.kind if block else BlockKind.PARAGRAPH,
            is_after_blank=before.count("\n") > 1,
            is_before_blank=after.count("\n") > 1,
            level=block.level if block and block.kind is BlockKind.HEADING else None,
            is_bold=bool(block and "bold" in block.flags),
        )
        lines.extend(_cut(line, titled))
    return lines


def _cut(line: Line, titled: Mapping[int, int]) -> Iterator[Line]:
    """A line with the places where it could be several; nearly always the line itself."""
    points = cut_points(line.text) if line.kind in _CUT_KINDS and line.level is None else []
    if titled and line.level is None:
        points = _with_titles(line, points, titled)
    if not points and line.start not in titled:
        yield line
        return
    borders = [0, *points, len(line.text)]
    for number, (start, end) in enumerate(pairwise(borders)):
        text = line.text[start:end].rstrip()
        yield Line(
            start=line.start + start,
            end=line.start + start + len(text),
            text=text,
            indent=0 if number else line.indent,
            kind=line.kind,
            is_after_blank=line.is_after_blank and not number,
            is_before_blank=line.is_before_blank and end == len(line.text),
            level=line.level,
            is_bold=line.is_bold,
            is_inline=number > 0,
            lead=titled.get(line.start + start, line.start + start) - line.start - start,
        )


def _with_titles(line: Line, points: Sequence[int], titled: Mapping[int, int]) -> list[int]:
    """The cuts with those before titles, in place of those between a title and its number."""
    leads = {
        start - line.start: number - line.start
        for start, number in titled.items()
        if line.start <= start < line.end
    }
    within = {point for start, number in leads.items() for point in range(start + 1, number + 1)}
    return sorted({*points, *leads} - within - {0})


def _spans(text: str, blocks: tuple[Block, ...]) -> list[tuple[int, int]]:
    """Spans of the lines that are not blank; a marked heading stays in one piece."""
    headings = {block.start: block.end for block in blocks if block.kind is BlockKind.HEADING}
    spans = []
    position = 0
    while position < len(text):
        stop = text.find("\n", headings.get(position, position))
        stop = len(text) if stop < 0 else stop
        if text[position:stop].strip():
            spans.append((position, stop))
        position = stop + 1
    return spans
