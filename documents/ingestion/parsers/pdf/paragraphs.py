"""Lines to paragraphs.

Inside a column a line goes on with the paragraph before it unless something speaks for a new
one: a gap, another size or weight, an indent, a line before that had room for the next word, a
label. Over the border of a column or a page the sentence decides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from documents.ingestion.parsers.pdf.blocks import Paragraph
from documents.ingestion.parsers.pdf.columns import Region
from documents.ingestion.parsers.pdf.glyphs import is_cjk
from documents.ingestion.parsers.pdf.lines import in_reading_order, is_rtl, text_of
from documents.ingestion.parsers.pdf.markers import (
    ends_sentence,
    follows_label,
    is_closed,
    is_strong_label,
    opens_clause,
    opens_item,
)
from documents.ingestion.parsers.pdf.page import Line

_GAP = 1.32  # of the usual distance of lines
_INDENT = 0.9  # of the type's size
_SIZE_CHANGE = 0.08
_OPEN = re.compile(
    r"(?:[,\-\u2010(\u2013\u2014]|\b(?:the|a|an|of|to|and|or|in|for|by|with|from|on|at|as|that|its))$",
    re.IGNORECASE,
)
_LEADERS = re.compile(r"(?:\.\s?){5,}|…{2,}|[-_]{5,}\s*\d+$")
_PAGE = re.compile(r"\d{1,4}|[ivxlc]{1,6}")
_MAX_BOX = 25  # paragraphs of a box at the foot of a page
_SAME_COLUMN = 12.0  # points
_MAX_PITCH = 2.1  # of the type's size: lines further apart are no paragraph


@dataclass(frozen=True, slots=True)
class Setting:
    """How a document sets its text: the distance of lines for each size of type."""

    pitches: dict[float, float]

    def pitch(self, size: float) -> float:
        """The usual distance of lines of this size."""
        return self.pitches.get(round(size, 1), 1.25 * size)


def build_paragraphs(
    pages: Sequence[tuple[int, Sequence[Region]]], setting: Setting
) -> list[Paragraph]:
    """The paragraphs of all pages in reading order, joined over borders where a sentence runs."""
    return _Builder(setting).build(pages)


class _Builder:
    """Joins the paragraphs of regions over the borders between them."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._done: list[Paragraph] = []
        self._tails: list[tuple[Region, Paragraph]] = []  # of the page before
        self._continued: set[int] = set()

    def build(self, pages: Sequence[tuple[int, Sequence[Region]]]) -> list[Paragraph]:
        for page, regions in pages:
            tails: dict[int, tuple[Region, Paragraph]] = {}  # the lowest of each column
            for region in regions:
                inside = _of_region(page, region, self._setting)
                if not inside:
                    continue
                before = self._continues(region, inside[0])
                if before is not None:
                    before.lines.extend(inside[0].lines)
                    self._continued.add(id(before))
                    inside[0] = before
                self._done.extend(inside[before is not None :])
                tails[round(region.left / _SAME_COLUMN)] = (region, inside[-1])
                self._continued.discard(id(inside[-1]))
            self._tails = list(tails.values()) or self._tails
        return self._done

    def _continues(self, region: Region, first: Paragraph) -> Paragraph | None:
        """The paragraph that a region's first one goes on with.

        Texts that run side by side over a page (two languages, two versions) leave an open
        paragraph in each column; the one above in the same column comes first.
        """
        for other, tail in self._tails:
            is_same = abs(other.left - region.left) < _SAME_COLUMN and len(self._tails) > 1
            is_open = id(tail) not in self._continued and tail is not self._done[-1]
            starts_low = text_of(first.lines[0][1])[:1].islower() if not first.table else False
            if is_same and is_open and starts_low and _runs_on(tail, first):
                return tail
        if not self._done or not _runs_on(self._done[-1], first):
            return None
        if is_closed(text_of(self._done[-1].lines[-1][1])):
            return self._open_before_box(first) or self._done[-1]
        return self._done[-1]

    def _open_before_box(self, first: Paragraph) -> Paragraph | None:
        """The paragraph that a box or figure at the foot of its page cut off."""
        for paragraph in reversed(self._done[-_MAX_BOX:]):
            if paragraph.table is not None or len(paragraph.lines) < 2:
                continue
            lines = [line for _, line in paragraph.lines]
            is_full = lines[-1].box[2] > max(line.box[2] for line in lines) - 2 * lines[-1].size
            is_open = not ends_sentence(text_of(lines[-1])) and not opens_item(text_of(lines[0]))
            if is_full and is_open and _runs_on(paragraph, first):
                return paragraph
        return None


def _of_region(page: int, region: Region, setting: Setting) -> list[Paragraph]:
    found: list[Paragraph] = []
    for line in region.lines:
        if line.table is not None:
            found.append(Paragraph(lines=[(page, line)], table=line.table))
        elif found and found[-1].table is None and _belongs(found[-1], line, region, setting):
            found[-1].lines.append((page, line))
        else:
            is_tight = bool(found) and _is_near(found[-1].lines[-1][1], line, setting)
            found.append(Paragraph(lines=[(page, line)], is_tight=is_tight))
    return found


def _is_near(above: Line, line: Line, setting: Setting) -> bool:
    return line.baseline - above.baseline <= _GAP * setting.pitch(line.size)


def _belongs(paragraph: Paragraph, line: Line, region: Region, setting: Setting) -> bool:
    above = paragraph.lines[-1][1]
    step = line.baseline - above.baseline
    if not _is_alike(above, line) or step > _MAX_PITCH * line.size:
        return False
    if step < 0.3 * line.size:
        return True  # the same row, in pieces
    text, before = text_of(line), text_of(above)
    runs_on = text[:1].islower() and not ends_sentence(before) and not opens_clause(text)
    if step > (_GAP + 0.2 * runs_on) * _pitch_of(paragraph, line, setting):
        return False
    if is_contents_entry(above) or is_contents_entry(line):
        return False
    had_room = _had_room(above, line, region)
    if _changes_weight(paragraph, line, had_room=had_room):
        return False
    if follows_label(text_of(paragraph.lines[0][1]), text):
        return False
    if is_strong_label(text) and (had_room or ends_sentence(before)):
        return False
    if opens_clause(text) and (had_room or ends_sentence(before) or _outdents(paragraph, line)):
        return False
    if had_room and ends_sentence(before):
        return False
    if had_room and not text[:1].islower() and not _is_open(before):
        return _is_centred(above, line, region)
    return not _is_indented(paragraph, line, region, before)


def _is_open(text: str) -> bool:
    """Whether a line cannot be the end of anything."""
    return bool(_OPEN.search(text))


def _pitch_of(paragraph: Paragraph, line: Line, setting: Setting) -> float:
    lines = [line for _, line in paragraph.lines]
    if len(lines) >= 2 and paragraph.lines[-1][0] == paragraph.lines[-2][0]:
        own = lines[-1].baseline - lines[-2].baseline
        if own > 0.5 * line.size:
            return max(own, 0.9 * setting.pitch(line.size))
    return setting.pitch(line.size)


def _is_alike(above: Line, line: Line) -> bool:
    """Whether two lines are set in type of one size."""
    return abs(above.size - line.size) <= _SIZE_CHANGE * max(above.size, line.size)


def _changes_weight(paragraph: Paragraph, line: Line, *, had_room: bool) -> bool:
    """Whether bold type begins or ends with the line, as it does around a heading.

    A line that happens to be bold inside a sentence is no border.
    """
    is_low = text_of(line)[:1].islower()
    if all(is_bold(other) for _, other in paragraph.lines):
        return not is_bold(line) and (had_room or not is_low)
    above = paragraph.lines[-1][1]
    return is_bold(line) and not _is_partly_bold(above) and (had_room or not is_low)


def is_bold(line: Line) -> bool:
    """Whether every word with a letter in it is bold."""
    lettered = [word for word in line.words if any(c.isalnum() for c in word.text)]
    return bool(lettered) and all(word.font.is_bold for word in lettered)


def _is_partly_bold(line: Line) -> bool:
    return any(word.font.is_bold for word in line.words)


def _had_room(above: Line, line: Line, region: Region) -> bool:
    """Whether the next line's first word would have fitted on the line above."""
    words = in_reading_order(line)
    first = words[0].box[2] - words[0].box[0]
    for before, word in pairwise(words):
        if word.blank_before or is_cjk(before.text[-1]):
            break
        first += word.box[2] - word.box[0]
    is_right = is_rtl(line.words)
    room = above.box[0] - region.left if is_right else region.right - above.box[2]
    return room > first + (1.6 if is_cjk(words[0].text[0]) else 0.9) * line.size


def _outdents(paragraph: Paragraph, line: Line) -> bool:
    first = paragraph.lines[0][1]
    lefts = [other.box[0] for _, other in paragraph.lines[1:]]
    return (
        bool(lefts)
        and line.box[0] < min(lefts) - 0.5 * line.size
        and (abs(line.box[0] - first.box[0]) < line.size or opens_item(text_of(line)))
    )


def _is_centred(above: Line, line: Line, region: Region) -> bool:
    middle = (region.left + region.right) / 2
    return all(
        abs((one.box[0] + one.box[2]) / 2 - middle) < 0.8 * one.size
        and one.box[0] > region.left + 1.5 * one.size
        for one in (above, line)
    )


def _is_indented(paragraph: Paragraph, line: Line, region: Region, before: str) -> bool:
    """Whether the line begins further in than its paragraph does, or further out."""
    indent = _INDENT * line.size
    lines = [line for _, line in paragraph.lines]
    if len(lines) == 1:
        is_hanging = opens_clause(text_of(lines[0]))
        return not is_hanging and line.box[0] > lines[0].box[0] + indent and is_closed(before)
    left = min(other.box[0] for other in lines[1:])
    if line.box[0] > left + indent:
        return is_closed(before)
    return line.box[0] < left - indent and is_closed(before)


def is_contents_entry(line: Line) -> bool:
    """Whether a line leads to a page: by dots, or by a number far to the right."""
    if len(line.words) < 2:
        return False
    if _LEADERS.search(text_of(line)):
        return True
    last, before = line.words[-1], line.words[-2]
    is_far = last.box[0] - before.box[2] > 2.5 * line.size
    return is_far and bool(_PAGE.fullmatch(last.text)) and not before.text.isdigit()


def _runs_on(before: Paragraph, after: Paragraph) -> bool:
    """Whether a paragraph goes on over the border of a column or page."""
    if before.table is not None or after.table is not None:
        return False
    above, line = before.lines[-1][1], after.lines[0][1]
    if not _is_alike(above, line) or _changes_weight(before, line, had_room=False):
        return False
    text, last = text_of(line), text_of(above)
    if is_contents_entry(above) or is_contents_entry(line) or is_strong_label(text):
        return False
    if text[:1].islower() and not opens_item(text):
        return not is_closed(last) or len(before.lines) > 1 or len(last) > 30
    if opens_clause(text) or ends_sentence(last) or is_bold(line):
        return False
    if is_cjk(text[0]) and is_cjk(last[-1]):
        return above.box[2] - above.box[0] > 12 * above.size
    return last.endswith(("-", "\u2010", ",")) or len(before.lines) > 1 or len(last) > 45
