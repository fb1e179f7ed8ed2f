"""The order in which the lines of a page are read.

A page is cut where a white gutter runs down between two stretches of prose: what is above the
gutter comes first, then the left side, then the right, then what is below; each part is cut
again in the same way. The rows of a table, the marks of a list and terms beside their meaning
have a gutter too, but no prose on both sides, so they are read row by row.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from documents.ingestion.parsers.pdf.glyphs import is_cjk
from documents.ingestion.parsers.pdf.lines import make_line, text_of
from documents.ingestion.parsers.pdf.markers import opens_clause
from documents.ingestion.parsers.pdf.page import Line

_MAX_DEPTH = 12
_MIN_GUTTER = 0.8  # of the type's size: what most rows leave free
_MIN_STRETCH = 0.4  # what all of them do: a line may be a little too long
_MIN_COLUMN = 60.0  # points
_MIN_ROWS = 2
_MIN_LIST = 5
_MAX_LABEL = 5  # letters
_TABLE_LETTERS = 40  # a table counts as a long line
_MAX_LOOK = 8  # lines of other columns may lie between
_SURE_ROWS = 8
_MAX_TRIED = 12
_SHARED = 0.7  # of the blank stripes of a side, where blocks stand side by side
_LEVEL = 1.5  # points
_WIDE_PITCH = 1.45  # of the usual distance of lines: a gap between blocks


@dataclass(frozen=True, slots=True)
class Region:
    """Lines that are read from top to bottom, and how far to the left and right they may go."""

    lines: tuple[Line, ...]
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class _Zone:
    """Rows `first` to `last` (half open) with a common gutter."""

    first: int
    last: int
    left: float
    right: float


@dataclass(slots=True)
class _Part:
    """A stretch of a line without a wide gap."""

    left: float
    right: float
    letters: int


def reading_order(lines: Sequence[Line]) -> list[Region]:
    """The regions of a page, in reading order."""
    if not lines:
        return []
    found: list[Region] = []
    left = min(line.box[0] for line in lines)
    right = max(line.box[2] for line in lines)
    _order(sorted(lines, key=lambda line: line.baseline), left, right, found, 0)
    return found


def _order(lines: list[Line], left: float, right: float, found: list[Region], depth: int) -> None:
    if not lines:
        return
    zone = _best_zone(lines) if depth < _MAX_DEPTH and len(lines) > 1 else None
    if zone is None:
        found.append(Region(tuple(lines), left, right))
        return
    _order(lines[: zone.first], left, right, found, depth + 1)
    inside = lines[zone.first : zone.last]
    for band in _bands(inside, zone):
        before, after = _sides(band, zone)
        _order(before, left, zone.left, found, depth + 1)
        _order(after, zone.right, right, found, depth + 1)
    _order(lines[zone.last :], left, right, found, depth + 1)


def _best_zone(lines: list[Line]) -> _Zone | None:
    size = _usual_size(lines)
    zones: dict[tuple[int, int], _Zone] = {}
    gaps = [_gaps(line) for line in lines]
    for x in _candidates(lines, gaps, size):
        for zone in _zones_at(gaps, x, _MIN_STRETCH * size):
            known = zones.get((zone.first, zone.last))
            if known is None or zone.right - zone.left > known.right - known.left:
                zones[(zone.first, zone.last)] = zone
    ranked = sorted(zones.values(), key=lambda zone: -_shared_rows(lines, zone))
    for zone in ranked[:_MAX_TRIED]:
        trimmed = _trimmed(lines, zone)
        if trimmed is not None and _are_columns(lines, trimmed, size):
            return trimmed
    return None


_Gaps = list[tuple[float, float]]


def _candidates(lines: list[Line], gaps: list[_Gaps], size: float) -> list[float]:
    """Where a gutter may run: in a wide gap, or before the left end of a line."""
    leftmost = min(line.box[0] for line in lines)
    found = set()
    for row in gaps:
        for start, end in row:
            if math.isinf(start):
                found.add(round(end - 0.4 * size))
            elif not math.isinf(end) and end - start >= _MIN_GUTTER * size:
                found.add(round((start + end) / 2))
    return sorted(x for x in found if x > leftmost + _MIN_COLUMN)


def _gaps(line: Line) -> _Gaps:
    """The free stretches of a row, margins included."""
    gaps = [(-math.inf, line.box[0])]
    if line.words:
        reach = line.words[0].box[2]
        for word in line.words[1:]:
            if word.box[0] - reach > _MIN_STRETCH * line.size:
                gaps.append((reach, word.box[0]))
            reach = max(reach, word.box[2])
    gaps.append((line.box[2], math.inf))
    return gaps


def _zones_at(gaps: list[_Gaps], x: float, width: float) -> Iterable[_Zone]:
    """Runs of rows that leave a common stretch around `x` free."""
    first, left, right = 0, -math.inf, math.inf
    for index, row in enumerate(gaps):
        gap = next(((a, b) for a, b in row if a <= x <= b), None)
        if gap is None or min(right, gap[1]) - max(left, gap[0]) < width:
            if index > first:
                yield _Zone(first, index, left, right)
            first, left, right = (index, *gap) if gap else (index + 1, -math.inf, math.inf)
        else:
            left, right = max(left, gap[0]), min(right, gap[1])
    if len(gaps) > first:
        yield _Zone(first, len(gaps), left, right)


def _shared_rows(lines: list[Line], zone: _Zone) -> int:
    middle = _middle(zone)
    rows = lines[zone.first : zone.last]
    before = sum(line.box[0] < middle for line in rows)
    return min(before, sum(line.box[2] > middle for line in rows))


def _middle(zone: _Zone) -> float:
    if math.isinf(zone.left) or math.isinf(zone.right):
        return zone.left if math.isinf(zone.right) else zone.right
    return (zone.left + zone.right) / 2


def _trimmed(lines: list[Line], zone: _Zone) -> _Zone | None:
    """Without the rows at either end that belong to the full width.

    At the top those that stand on the right alone; at the bottom those on one side alone that
    a gap parts from the rest.
    """
    if math.isinf(zone.left) or math.isinf(zone.right):
        return None
    middle, first, last = _middle(zone), zone.first, zone.last
    pitch = _pitch([line for line in lines[first:last] if line.box[2] > middle])
    leading = first
    while leading < last and lines[leading].box[0] >= middle:
        leading += 1
        below = next((line for line in lines[leading:last] if line.box[2] > middle), None)
        if below and below.baseline - lines[leading - 1].baseline > _WIDE_PITCH * pitch:
            first = leading
    last_left = max((i for i in range(first, last) if lines[i].box[0] < middle), default=-1)
    last_right = max((i for i in range(first, last) if lines[i].box[2] > middle), default=-1)
    if last_left < 0 or last_right < 0:
        return None
    pitch = _pitch(lines[first:last])
    for index in range(min(last_left, last_right) + 1, last):
        if lines[index].baseline - lines[index - 1].baseline > _WIDE_PITCH * pitch:
            last = index
            break
    return _Zone(first, last, zone.left, zone.right)


def _sides(lines: Iterable[Line], zone: _Zone) -> tuple[list[Line], list[Line]]:
    middle = _middle(zone)
    before, after = [], []
    for line in lines:
        if line.box[2] <= middle:
            before.append(line)
        elif line.box[0] >= middle:
            after.append(line)
        else:
            before.append(make_line(word for word in line.words if word.box[0] < middle))
            after.append(make_line(word for word in line.words if word.box[0] >= middle))
    return before, after


def _are_columns(lines: list[Line], zone: _Zone, size: float) -> bool:
    before, after = _sides(lines[zone.first : zone.last], zone)
    rows = min(len(before), len(after))
    gutter = zone.right - zone.left
    if rows < _MIN_ROWS or (rows < 4 and gutter < 1.2 * size):
        return False
    if median(zone.right - line.box[2] for line in before) < _MIN_GUTTER * size:
        return False
    if gutter < _MIN_GUTTER * size and rows < _SURE_ROWS:
        return False
    if _are_lists(before, after):
        return True
    return _is_prose(before) and _is_prose(after) and not _is_grid(before, after)


def _are_lists(before: list[Line], after: list[Line]) -> bool:
    """Whether both sides are lists with labels of their own, such as a contents in columns."""
    return all(
        len(side) >= _MIN_LIST
        and sum(opens_clause(text_of(line)) for line in side) >= 0.6 * len(side)
        and sum(_letters(line) for line in side) >= 8 * len(side)
        for side in (before, after)
    )


def _is_prose(lines: list[Line]) -> bool:
    """Whether lines mostly fill their columns with words, as cells and marks do not."""
    parts = [part for line in lines for part in _parts(line)]
    groups = [group for group in _apart(parts) if len(group) > 1 or len(parts) == 1]
    return bool(groups) and all(_is_prose_column(group) for group in groups)


def _parts(line: Line) -> list[_Part]:
    """A line's stretches between wide gaps, without labels such as `(iv)`."""
    if not line.words:
        return [_Part(line.box[0], line.box[2], _TABLE_LETTERS)]
    parts: list[_Part] = []
    for word in line.words:
        count = sum(2 if is_cjk(c) else 1 for c in word.text)
        if parts and word.box[0] - parts[-1].right < _MIN_GUTTER * line.size:
            parts[-1].right = max(parts[-1].right, word.box[2])
            parts[-1].letters += count
        else:
            parts.append(_Part(word.box[0], word.box[2], count))
    return [p for p in parts if p.letters > _MAX_LABEL] or parts


def _apart(parts: list[_Part]) -> list[list[_Part]]:
    """Parts in groups that share no stretch of the page's width: columns."""
    groups: list[list[_Part]] = []
    reach = -math.inf
    for part in sorted(parts, key=lambda part: part.left):
        if part.left > reach:
            groups.append([])
        groups[-1].append(part)
        reach = max(reach, part.right)
    return groups


def _is_prose_column(parts: list[_Part]) -> bool:
    width = max(part.right for part in parts) - min(part.left for part in parts)
    if width < _MIN_COLUMN:
        return False
    letters = sum(part.letters for part in parts) / len(parts)
    full = sum(part.right - part.left >= 0.6 * width for part in parts) / len(parts)
    return letters >= 11 and full >= 0.45


def _letters(line: Line) -> int:
    return sum(2 if is_cjk(c) else 1 for word in line.words for c in word.text)


def _is_grid(before: list[Line], after: list[Line]) -> bool:
    """Whether both sides are made of blocks that begin on the same base lines: cells."""
    left, right = _block_tops(before), _block_tops(after)
    if len(left) < 3 or len(right) < 3:
        return False
    shared = sum(any(abs(a - b) < 2.0 for b in right) for a in left)
    return shared >= 3 and shared >= 0.7 * max(len(left), len(right))


def _block_tops(lines: list[Line]) -> list[float]:
    pitch = _pitch(lines)
    tops = [lines[0].baseline]
    for above, line in pairwise(lines):
        if line.baseline - above.baseline > 1.25 * pitch:
            tops.append(line.baseline)
    return tops


def _bands(lines: list[Line], zone: _Zone) -> list[list[Line]]:
    """Parts of a zone from top to bottom, cut where white runs across both sides.

    Two columns of running text share a white stripe only by chance. Texts that stand side by
    side, with headings over them that are too short to close the gutter, share most of theirs,
    and below each both sides begin on one base line or one side stands alone.
    """
    before, after = _sides(lines, zone)
    pitch = min(_pitch(before), _pitch(after))
    left, right = _wide_steps(before, pitch), _wide_steps(after, pitch)
    ends = [start for start, _ in _wide_steps(lines, pitch)]
    if len(ends) < 2 or len(ends) < _SHARED * min(len(left), len(right)):
        return [lines]
    bands: list[list[Line]] = [[]]
    for line in lines:
        if ends and line.baseline > ends[0] + 0.01:
            ends.pop(0)
            bands.append([])
        bands[-1].append(line)
    fitting = sum(_stands_level(band, zone) for band in bands[1:])
    return bands if fitting >= len(bands) - 2 else [lines]


def _stands_level(band: list[Line], zone: _Zone) -> bool:
    before, after = _sides(band, zone)
    return not before or not after or abs(before[0].baseline - after[0].baseline) < _LEVEL


def _wide_steps(lines: Sequence[Line], pitch: float) -> list[tuple[float, float]]:
    """Base lines with a blank stripe between them."""
    return [
        (above.baseline, below.baseline)
        for above, below in pairwise(lines)
        if _top(below) - _bottom(above) > 0.75 * pitch
    ]


def _top(line: Line) -> float:
    return line.box[1] if line.table else line.baseline - 0.75 * line.size


def _bottom(line: Line) -> float:
    return line.box[3] if line.table else line.baseline + 0.2 * line.size


def _pitch(lines: Sequence[Line]) -> float:
    """The usual distance from a line to the next one below it in its own column."""
    steps = []
    for index, above in enumerate(lines):
        for below in lines[index + 1 : index + _MAX_LOOK]:
            step = below.baseline - above.baseline
            if step > 0.5 * min(above.size or 10.0, below.size or 10.0) and _overlap(above, below):
                steps.append(step)
                break
    return median(steps) if steps else 1.2 * _usual_size(lines)


def _overlap(one: Line, other: Line) -> bool:
    return min(one.box[2], other.box[2]) > max(one.box[0], other.box[0])


def _usual_size(lines: Sequence[Line]) -> float:
    return (
        median(line.size for line in lines if line.words)
        if any(line.words for line in lines)
        else 10.0
    )
