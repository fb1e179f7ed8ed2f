"""Words to lines: what stands on one base line, from left to right.

Raised marks stand on a base line of their own in the file; they are put back into the line that
they belong to, so that the steps after this one see where a mark stands.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from documents.ingestion.parsers.pdf.glyphs import is_cjk
from documents.ingestion.parsers.pdf.page import Line, TableRegion, Word
from documents.records import Box

_SMALL = 0.86  # of the size of the line: type of marks
_MAX_MARK = 6  # letters of a mark, such as 12, a,b or (iii)
_RAISED_DIGITS = re.compile(r"[\u00b9\u00b2\u00b3\u2070\u2074-\u2079]+")


def read_lines(words: Sequence[Word], tables: Iterable[TableRegion] = ()) -> list[Line]:
    """The lines of a page from the top, tables among them; words that run upright alone."""
    rows = _with_marks(_rows([part for word in words for part in _split_raised(word)]))
    lines = [make_line(row) for row in rows if row]
    lines.extend(Line((), table.box, table.box[1], 0.0, table=table) for table in tables)
    return sorted(lines, key=lambda line: line.baseline)


def make_line(words: Iterable[Word]) -> Line:
    """One line of these words."""
    ordered = tuple(sorted(words, key=lambda word: word.box[0]))
    size = _usual_size(ordered)
    baseline = _usual_baseline(ordered, size)
    raised = {i for i, word in enumerate(ordered) if is_raised(word, baseline, size)}
    lowered = {
        i
        for i, word in enumerate(ordered)
        if word.size <= _SMALL * size and word.baseline > baseline + 0.08 * size
    }
    return Line(ordered, box_of(ordered), baseline, size, frozenset(raised), frozenset(lowered))


def box_of(words: Iterable[Word]) -> Box:
    """The box around words."""
    lefts, tops, rights, bottoms = zip(*(word.box for word in words), strict=True)
    return (min(lefts), min(tops), max(rights), max(bottoms))


def is_raised(word: Word, baseline: float, size: float) -> bool:
    """Whether a word stands above a line as a mark does."""
    if _RAISED_DIGITS.fullmatch(word.text):
        return True
    above = baseline - word.baseline
    is_small = word.size <= _SMALL * size and above > 0.1 * size
    return is_small or (len(word.text) <= _MAX_MARK and above > 0.22 * size)


def text_of(line: Line) -> str:
    """The words of a line with the blanks between them."""
    ordered = in_reading_order(line)
    pieces = []
    for index, word in enumerate(ordered):
        if index and has_blank(ordered[index - 1], word):
            pieces.append(" ")
        pieces.append(word.text)
    return "".join(pieces)


def in_reading_order(line: Line) -> tuple[Word, ...]:
    """From left to right; a line of a right-to-left script the other way round."""
    if not is_rtl(line.words):
        return line.words
    ordered: list[Word] = []
    latin: list[Word] = []
    for word in reversed(line.words):
        if _is_rtl_word(word) or not any(c.isalnum() for c in word.text):
            ordered.extend(reversed(latin))
            latin = []
            ordered.append(word)
        else:
            latin.append(word)
    ordered.extend(reversed(latin))
    return tuple(ordered)


def is_rtl(words: Sequence[Word]) -> bool:
    """Whether most letters belong to a script that is read from right to left."""
    if all(word.text < "\u0590" for word in words):
        return False
    letters = [c for word in words for c in word.text if c.isalpha()]
    return 2 * sum(unicodedata.bidirectional(c) in ("R", "AL") for c in letters) > len(letters)


def has_blank(before: Word, after: Word) -> bool:
    """Whether a blank stands between two neighbours of a line."""
    gap = max(after.box[0] - before.box[2], before.box[0] - after.box[2])
    size = max(min(before.size, after.size), 1.0)
    if is_cjk(before.text[-1]) and is_cjk(after.text[0]):
        return after.blank_before and gap > 0.2 * size
    return after.blank_before or gap > 0.3 * size


def _is_rtl_word(word: Word) -> bool:
    return any(unicodedata.bidirectional(c) in ("R", "AL") for c in word.text)


def _split_raised(word: Word) -> list[Word]:
    """`500¹` as the number and its mark; `m²` stays whole."""
    found = _RAISED_DIGITS.search(word.text)
    if found is None or found.start() == 0 or word.text[: found.start()] in _UNITS:
        return [word]
    left, top, right, bottom = word.box
    pieces, length, begun = [], len(word.text), 0
    for start, end in ((0, found.start()), found.span(), (found.end(), length)):
        if start < end:
            step = (right - left) / length
            area = (left + start * step, top, left + end * step, bottom)
            blank = word.blank_before if not begun else False
            pieces.append(replace(word, text=word.text[start:end], box=area, blank_before=blank))
            begun += 1
    return pieces


_UNITS = frozenset({"m", "km", "cm", "mm", "ft", "in", "yd", "mi", "s"})


def _rows(words: Sequence[Word]) -> list[list[Word]]:
    rows: list[list[Word]] = []
    last = 0.0
    for word in sorted(words, key=lambda word: word.baseline):
        tolerance = 0.25 * min(word.size, rows[-1][-1].size) if rows else 0.0
        if rows and word.baseline - last <= max(tolerance, 0.5):
            rows[-1].append(word)
        else:
            rows.append([word])
        last = word.baseline
    return rows


def _with_marks(rows: list[list[Word]]) -> list[list[Word]]:
    """Put each raised or lowered mark into the row of the word that it touches."""
    largest = [max(word.size for word in row) for row in rows]
    for index, row in enumerate(rows):
        near = max(largest[max(index - 3, 0) : index + 5])
        for word in list(row):
            if len(word.text) > _MAX_MARK or word.size > _SMALL * near:
                continue
            home = _home(word, rows, index)
            if home is not None:
                row.remove(word)
                rows[home].append(word)
    return rows


def _home(mark: Word, rows: list[list[Word]], index: int) -> int | None:
    below = list(range(index + 1, min(index + 5, len(rows))))
    above = list(range(index - 1, max(index - 4, -1), -1))
    for other in below + above:
        if any(_is_mark_of(mark, word) for word in rows[other]):
            return None if _has_neighbour(mark, rows[index]) else other
    return None


def _is_mark_of(mark: Word, word: Word) -> bool:
    rise = word.baseline - mark.baseline
    is_near = -0.4 * word.size < rise < 0.8 * word.size
    return is_near and mark.size <= _SMALL * word.size and _touches(mark, word)


def _touches(mark: Word, word: Word) -> bool:
    behind = mark.box[0] - word.box[2]
    before = word.box[0] - mark.box[2]
    size = word.size
    return -0.3 * size < behind < 0.45 * size or -0.2 * size < before < 0.9 * size


def _has_neighbour(mark: Word, row: list[Word]) -> bool:
    """Whether a mark stands in running text of its own size."""
    return any(
        other is not mark
        and other.size <= mark.size * 1.1
        and len(other.text) > 2
        and max(other.box[0] - mark.box[2], mark.box[0] - other.box[2]) < 0.6 * mark.size
        for other in row
    )


def _usual_size(words: Sequence[Word]) -> float:
    sizes: Counter[float] = Counter()
    for word in words:
        sizes[word.size] += len(word.text)
    return max(sizes, key=lambda size: (sizes[size], size))


def _usual_baseline(words: Sequence[Word], size: float) -> float:
    lines: Counter[float] = Counter()
    for word in words:
        if word.size == size:
            lines[word.baseline] += len(word.text)
    return max(lines, key=lambda line: lines[line])
