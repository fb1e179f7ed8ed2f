"""Words that a person does not see on the page, told from those that a person does.

Signs that need no picture: an invisible render mode, full transparency, the colour of what lies
below, a size or place beyond reading, a cover painted later. The drawn page, where there is one,
has the last word on colour and covers, since fills may be clipped or blended and images may be
clear; it also finds text that is clipped away or in a layer that is off. The invisible text of
a scan is what its image shows, so it counts as visible.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from documents.ingestion.parsers.pdf.ink import Ink
from documents.ingestion.parsers.pdf.page import (
    INVISIBLE_MODES,
    Colour,
    Fill,
    HiddenWords,
    ImageArea,
    PageContent,
    Word,
)
from documents.records import Box

_TINY = 2.0  # points on an A4 page; less on smaller ones
_NEAR = 16  # steps of a colour channel: grey 239 on white is not read
_SEEN = 24  # steps of brightness along a row of letters
_FAINT = 10  # below this nothing at all is drawn
_BAND = 24.0  # points: areas are looked up by bands of the page's height
_MAX_AREAS = 20_000
_WHITE: Colour = (255, 255, 255, 255)
_CLIP_MODE = 7
_OUTLINE_MODES = frozenset({1, 2, 5, 6})  # the colour of the letters' insides says nothing


def split_hidden(
    page: PageContent, *, ink: Ink | None = None
) -> tuple[tuple[Word, ...], list[HiddenWords]]:
    """The words that a person sees, and the others joined into texts by how they hide.

    Args:
        page: the page with all of its words.
        ink: the page as drawn, where there is a drawing; without one only what the records
            themselves prove counts.
    """
    sight = _Sight(page, ink)
    ways = [
        sight.way(word, contrast)
        for word, contrast in zip(page.words, sight.contrasts, strict=True)
    ]
    visible = tuple(word for word, way in zip(page.words, ways, strict=True) if way is None)
    hidden = []
    for way, pairs in groupby(zip(ways, page.words, strict=True), key=lambda pair: pair[0]):
        if way is not None:
            text = _joined(word for _, word in pairs)
            hidden.append(HiddenWords(text, way, page.number))
    return visible, hidden


def is_ocr_layer(page: PageContent) -> bool:
    """Whether the page is a scan: its invisible words lie on images and few others stand there."""
    unseen = [word for word in page.words if word.mode in INVISIBLE_MODES]
    if not unseen or len(unseen) < 3 * (len(page.words) - len(unseen)):
        return False
    places = _Places(page.images)
    return sum(bool(places.around(_centre(word.box))) for word in unseen) >= 0.9 * len(unseen)


class _Places:
    """Areas by the bands of the page that they touch, each with its paint order."""

    def __init__(self, areas: Iterable[Fill | ImageArea]) -> None:
        self._bands: dict[int, list[Fill | ImageArea]] = defaultdict(list)
        for area in sorted(areas, key=lambda area: area.order)[:_MAX_AREAS]:
            top, bottom = max(area.box[1], -_BAND), min(area.box[3], 20_000.0)
            for band in range(int(top // _BAND), int(bottom // _BAND) + 1):
                self._bands[band].append(area)

    @property
    def is_empty(self) -> bool:
        """Whether the page has no such areas."""
        return not self._bands

    def around(self, point: tuple[float, float]) -> list[Fill | ImageArea]:
        """The areas that hold the point, first painted first."""
        x, y = point
        return [
            area
            for area in self._bands.get(int(y // _BAND), ())
            if area.box[0] <= x <= area.box[2] and area.box[1] <= y <= area.box[3]
        ]


@dataclass(frozen=True, slots=True)
class _Doubt:
    """A sign of hiding that the drawn page may overrule."""

    where: str
    holds_undrawn: bool


class _Sight:
    """Says of each word of one page whether it can be seen.

    `contrasts` holds what is drawn at each word, in their order; None without a drawing.
    """

    def __init__(self, page: PageContent, ink: Ink | None) -> None:
        self._page = page
        self._places = _Places((*page.fills, *page.images))
        self._is_scan = is_ocr_layer(page)
        self._tiny = min(_TINY, max(page.height, page.width) / 400)
        self.contrasts = [_contrast(ink, word) if ink else None for word in page.words]
        self._drawn_fonts = {
            word.font.name
            for word, contrast in zip(page.words, self.contrasts, strict=True)
            if contrast is not None and contrast >= _SEEN
        }

    def way(self, word: Word, contrast: int | None) -> str | None:
        """How the word hides, None where it can be seen."""
        is_drawn = contrast is not None and contrast >= _SEEN
        if _is_outside(word.box, self._page):
            return "off_page"
        if word.mode in INVISIBLE_MODES and not self._is_scan:
            return None if word.mode == _CLIP_MODE and is_drawn else "hidden"
        if 0 < word.size < self._tiny:
            return "tiny"
        if word.mode in INVISIBLE_MODES or (is_drawn and self._places.is_empty):
            return None
        doubt = self._doubt(word)
        if contrast is None:
            return doubt.where if doubt and doubt.holds_undrawn else None
        if doubt:
            return None if is_drawn else doubt.where
        return "hidden" if contrast < _FAINT and self._can_be_drawn(word) else None

    def _doubt(self, word: Word) -> _Doubt | None:
        around = self._places.around(_centre(word.box))
        cover = [area for area in around if area.order > word.order and _covers(area, word.box)]
        if cover:
            is_fill = any(isinstance(area, Fill) and area.colour[3] > 250 for area in cover)
            return _Doubt("behind", is_fill)
        if word.colour[3] < _NEAR and word.mode not in _OUTLINE_MODES:
            return _Doubt("hidden", holds_undrawn=True)
        below = _below([area for area in around if area.order < word.order])
        if below is None:
            return _Doubt("white", holds_undrawn=False)
        if word.mode not in _OUTLINE_MODES and _is_near(_blend(word.colour, below), below):
            return _Doubt("white", holds_undrawn=True)
        return None

    def _can_be_drawn(self, word: Word) -> bool:
        """Whether letters of this font are drawn elsewhere on the page, as these are not."""
        is_plain = word.text.isascii() and word.text.isalnum()
        return is_plain and word.font.name in self._drawn_fonts


def _contrast(ink: Ink, word: Word) -> int:
    is_upright = word.rotation in (90, 270) or word.is_vertical
    # Letters change brightness on several rows, a line under them on one or two; so do dashes.
    is_tall = word.size * ink.scale >= 8 and not is_upright
    rows = 3 if is_tall and word.text.isalnum() else 1
    return ink.contrast(word.box, is_upright=is_upright, rows=rows, enough=_SEEN)


def _centre(box: Box) -> tuple[float, float]:
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def _is_outside(box: Box, page: PageContent) -> bool:
    x, y = _centre(box)
    return not (0 <= x <= page.width and 0 <= y <= page.height)


def _covers(area: Fill | ImageArea, box: Box) -> bool:
    """Whether an area lies over the letters; their box is taller than they are."""
    slack = 0.2 * (box[3] - box[1])
    return (
        area.box[0] <= box[0] + slack
        and area.box[1] <= box[1] + slack
        and area.box[2] >= box[2] - slack
        and area.box[3] >= box[3] - slack
    )


def _below(areas: list[Fill | ImageArea]) -> Colour | None:
    """The colour that lies under a word, or None where that is an image's."""
    below: Colour | None = _WHITE
    for area in areas:
        if isinstance(area, ImageArea):
            below = None
        elif area.colour[3] > 250:
            below = area.colour
        elif below is not None:
            below = _blend(area.colour, below)
    return below


def _blend(colour: Colour, below: Colour) -> Colour:
    share = colour[3] / 255
    red, green, blue = (
        round(over * share + under * (1 - share))
        for over, under in zip(colour[:3], below[:3], strict=True)
    )
    return red, green, blue, 255


def _is_near(colour: Colour, below: Colour) -> bool:
    return all(abs(a - b) <= _NEAR for a, b in zip(colour[:3], below[:3], strict=True))


def _joined(words: Iterable[Word]) -> str:
    """Words as a text: blanks where they stood, a new line where the base line changes."""
    parts: list[str] = []
    last: Word | None = None
    for word in words:
        if last is not None:
            is_same_line = abs(word.baseline - last.baseline) <= 0.5 * max(word.size, 1.0)
            parts.append("" if not word.blank_before else " " if is_same_line else "\n")
        parts.append(word.text)
        last = word
    return "".join(parts)
