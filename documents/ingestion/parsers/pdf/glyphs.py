"""From the characters of a page to words.

pdfium tells each character's code point, box and text object. Characters are gathered into
runs that share one style and one base line; a run is cut into words at its blanks and, where
the file holds none, at gaps that are wide against the run's other gaps.
"""

from __future__ import annotations

import ctypes
import math
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median

import pypdfium2.raw as pdfium

from documents.ingestion.parsers.pdf.fonts import Fonts
from documents.ingestion.parsers.pdf.geometry import Matrix, box, point
from documents.ingestion.parsers.pdf.objects import Painted, address, fill_colour
from documents.ingestion.parsers.pdf.page import Colour, Font, Word
from documents.ingestion.parsers.pdf.tags import Tags
from documents.records import Box

_MAX_CHARACTERS = 400_000  # of one page
_BLANKS = frozenset("\t\n\x0b\x0c\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000") | {
    chr(code) for code in range(0x2000, 0x200B)
}
_NOTHING = frozenset("\x00\ufeff\u200b\u2060")
_CONTROLS = frozenset(map(chr, (*range(1, 32), *range(127, 160))))
_HYPHENS = frozenset("\x02\ufffe")  # what pdfium puts for a hyphen at a line's end
_PRESENTATION = ((0xFB00, 0xFB06), (0xFB13, 0xFB17), (0xFB50, 0xFDFF), (0xFE70, 0xFEFC))


@dataclass(frozen=True, slots=True)
class _Style:
    """What one text object says of its letters."""

    font: Font
    size: float
    colour: Colour
    mode: int
    rotation: int
    order: int
    tag: str | None


@dataclass(slots=True)  # not frozen: a frozen one takes three times as long to make
class _Glyph:
    text: str
    box: Box
    along: tuple[float, float]  # from and to in the direction of reading
    is_unmapped: bool


@dataclass(slots=True)
class _Run:
    """Letters of one style on one base line; `blanks` holds the indexes with a blank before."""

    style: _Style
    baseline: float
    glyphs: list[_Glyph] = field(default_factory=list)
    blanks: set[int] = field(default_factory=set)
    is_vertical: bool = False
    follows: bool = False  # no blank and no gap stands between this run and the one before


class Glyphs:
    """Reads the characters of one page."""

    def __init__(
        self, text_page: ctypes.c_void_p, to_shown: Matrix, painted: Painted, fonts: Fonts,
        tags: Tags,
    ) -> None:  # fmt: skip
        self._text_page = text_page
        self._to_shown = to_shown
        self._painted = painted
        self._fonts = fonts
        self._tags = tags
        self._styles: dict[int, _Style] = {}
        self._unmapped: dict[tuple[str, str], bool] = {}

    def words(self) -> list[Word]:
        """All words, in the order of the content stream."""
        words: list[Word] = []
        for run in self._runs():
            words.extend(_cut(run))
        return words

    def _runs(self) -> Iterator[_Run]:
        run: _Run | None = None
        blank, last = True, 0
        loose = pdfium.FS_RECTF()
        for index in range(min(self.count, _MAX_CHARACTERS)):
            text = chr(pdfium.FPDFText_GetUnicode(self._text_page, index) & 0x1FFFFF)
            if text in _NOTHING:
                continue
            item = pdfium.FPDFText_GetTextObject(self._text_page, index)
            if text in _BLANKS or not item:
                blank = blank or bool(item) or text in "\r\n"
                continue
            key = address(item)
            style = self._styles.get(key) or self._style(key, item, index)
            glyph = self._glyph(index, _shown(text), style, loose)
            baseline = self._baseline(index, style) if key != last or run is None else run.baseline
            if run is None or not _continues(run, style, baseline, glyph, is_same=key == last):
                follows = run is not None and not blank and _touches(run, baseline, glyph)
                if run is not None:
                    yield run
                run = _Run(style, baseline, follows=follows)
            elif blank:
                run.blanks.add(len(run.glyphs))
            run.glyphs.append(glyph)
            if len(run.glyphs) > 1 and glyph.box == run.glyphs[-2].box and _is_rtl(glyph):
                # pdfium turns the letters of a ligature round with the line.
                run.glyphs[-2:] = [glyph, run.glyphs[-2]]
            blank, last = False, key
        if run is not None:
            yield run

    @property
    def count(self) -> int:
        """How many characters the page holds, blanks that pdfium adds included."""
        return max(int(pdfium.FPDFText_CountChars(self._text_page)), 0)

    def _style(self, key: int, item: ctypes.c_void_p, index: int) -> _Style:
        matrix = pdfium.FS_MATRIX()
        pdfium.FPDFText_GetMatrix(self._text_page, index, matrix)
        across = _turned(self._to_shown, matrix.a, matrix.b)
        upwards = _turned(self._to_shown, matrix.c, matrix.d)
        height = math.hypot(*upwards) or math.hypot(*across)
        font, mode = self._fonts.of(item), pdfium.FPDFTextObj_GetTextRenderMode(item)
        if mode == pdfium.FPDF_TEXTRENDERMODE_FILL_STROKE and not font.is_bold:
            font = Font(font.name, True, font.is_italic, font.is_fixed)
        style = _Style(
            font=font,
            size=round(pdfium.FPDFText_GetFontSize(self._text_page, index) * height, 2),
            colour=fill_colour(item),
            mode=mode,
            rotation=_direction(*across),
            order=self._painted.orders.get(key, 0),
            tag=self._tags.of(item),
        )
        self._styles[key] = style
        return style

    def _glyph(self, index: int, text: str, style: _Style, loose: pdfium.FS_RECTF) -> _Glyph:
        pdfium.FPDFText_GetLooseCharBox(self._text_page, index, loose)
        area = box(self._to_shown, loose.left, loose.bottom, loose.right, loose.top)
        key = (style.font.name, text)
        unmapped = self._unmapped.get(key)
        if unmapped is None:
            unmapped = pdfium.FPDFText_HasUnicodeMapError(self._text_page, index) == 1
            self._unmapped[key] = unmapped
        return _Glyph(
            text if text < "\ufb00" else _decomposed(text),
            area,
            (area[0], area[2]) if style.rotation == 0 else _along(area, style.rotation),
            unmapped,
        )

    def _baseline(self, index: int, style: _Style) -> float:
        x, y = ctypes.c_double(), ctypes.c_double()
        pdfium.FPDFText_GetCharOrigin(self._text_page, index, x, y)
        shown = point(self._to_shown, x.value, y.value)
        return round(shown[0] if style.rotation in (90, 270) else shown[1], 2)


def _shown(text: str) -> str:
    """A letter as text may hold it: no control characters, which only broken fonts give."""
    if text in _HYPHENS:
        return "-"
    return "\ufffd" if text in _CONTROLS else text


def _turned(matrix: Matrix, x: float, y: float) -> tuple[float, float]:
    return matrix[0] * x + matrix[2] * y, matrix[1] * x + matrix[3] * y


def _direction(x: float, y: float) -> int:
    """Degrees clockwise as shown; a lean of up to five degrees is a crooked scan."""
    degrees = round(math.degrees(math.atan2(y, x))) % 360
    straight = 90 * round(degrees / 90) % 360
    return straight if min(abs(degrees - straight), 360 - abs(degrees - straight)) <= 5 else degrees


def _along(area: Box, rotation: int) -> tuple[float, float]:
    if rotation == 90:
        return area[1], area[3]
    if rotation == 180:
        return -area[2], -area[0]
    if rotation == 270:
        return -area[3], -area[1]
    return area[0], area[2]


def _decomposed(text: str) -> str:
    """A ligature or Arabic presentation form as the letters that it stands for."""
    if "\ufb00" <= text <= "\ufefc" and any(
        low <= ord(text) <= high for low, high in _PRESENTATION
    ):
        return unicodedata.normalize("NFKC", text)
    return text


def _continues(run: _Run, style: _Style, baseline: float, glyph: _Glyph, *, is_same: bool) -> bool:
    """Whether a letter goes on with a run."""
    if is_same:
        before = run.glyphs[-1]
        gap = glyph.along[0] - before.along[1]
        if -0.3 * style.size < gap < style.size and glyph.along[0] > before.along[0]:
            return True  # the usual case: the next letter of the same string
        if _goes_down(run, glyph):
            run.is_vertical = True
            return True
    mine = run.style
    if (style.font, style.size, style.colour, style.mode, style.rotation, style.tag) != (
        mine.font, mine.size, mine.colour, mine.mode, mine.rotation, mine.tag
    ):  # fmt: skip
        return False
    if run.is_vertical or abs(baseline - run.baseline) > max(0.08 * style.size, 0.3):
        return False
    gap = _gap(run.glyphs[-1], glyph)
    return gap <= 1.5 * max(style.size, 1.0) and not _goes_back(run.glyphs[-1], glyph, style.size)


def _goes_down(run: _Run, glyph: _Glyph) -> bool:
    """Whether a letter stands below the one before, as in vertical writing."""
    before = run.glyphs[-1].box
    height = max(before[3] - before[1], 1.0)
    return (
        run.style.rotation == 0
        and abs(glyph.box[0] - before[0]) < 0.6 * height
        and 0.4 * height < glyph.box[1] - before[1] < 2.5 * height
    )


def _goes_back(before: _Glyph, glyph: _Glyph, size: float) -> bool:
    return glyph.along[0] < before.along[0] - 0.3 * size and not _is_rtl(glyph, before)


def _is_rtl(*glyphs: _Glyph) -> bool:
    return any(unicodedata.bidirectional(glyph.text[0]) in ("R", "AL") for glyph in glyphs)


def _gap(before: _Glyph, glyph: _Glyph) -> float:
    return max(glyph.along[0] - before.along[1], before.along[0] - glyph.along[1])


def _touches(run: _Run, baseline: float, glyph: _Glyph) -> bool:
    """Whether a letter of another style stands right behind a run, such as a raised mark."""
    size = max(run.style.size, 1.0)
    gap = _gap(run.glyphs[-1], glyph)
    return abs(baseline - run.baseline) < 0.7 * size and -0.5 * size < gap < 0.16 * size


def _cut(run: _Run) -> Iterator[Word]:
    limit = _blank_limit(run)
    begun = 0
    blank_before = not run.follows
    glyphs, blanks = run.glyphs, run.blanks
    for index in range(1, len(glyphs)):
        is_blank = index in blanks or _gap_at(run, index) > limit + _extra(glyphs, index, run)
        if is_blank or _is_border(glyphs[index - 1].text, glyphs[index].text):
            yield _word(run, glyphs[begun:index], blank_before=blank_before)
            begun, blank_before = index, is_blank
    yield _word(run, glyphs[begun:], blank_before=blank_before)


def _extra(glyphs: list[_Glyph], index: int, run: _Run) -> float:
    """CJK text is stretched to fill a line: only a wide gap stands for a blank there."""
    before, after = glyphs[index - 1].text, glyphs[index].text
    if before < "\u2e80" or after < "\u2e80":
        return 0.0
    return 0.4 * run.style.size


def _gap_at(run: _Run, index: int) -> float:
    if run.is_vertical:
        return run.glyphs[index].box[1] - run.glyphs[index - 1].box[3]
    return _gap(run.glyphs[index - 1], run.glyphs[index])


def _blank_limit(run: _Run) -> float:
    """How wide a gap must be to stand for a blank.

    Letters that are spaced out have equal gaps, so the usual gap is added. A run that holds
    real blanks has few others.
    """
    if run.style.rotation % 90:
        return math.inf
    gaps = [_gap_at(run, i) for i in range(1, len(run.glyphs)) if i not in run.blanks]
    size = max(run.style.size, 1.0)
    usual = max(median(gaps), 0.0) if len(gaps) >= 3 else 0.0
    if run.blanks:
        return max(0.17 * size, usual + 0.14 * size)
    return max(0.16 * size, usual + 0.12 * size)


def _is_border(before: str, after: str) -> bool:
    """CJK characters are words of their own, for their boxes; marks stay with their letter."""
    if before < "\u0300" and after < "\u0300":
        return False
    if unicodedata.combining(after[0]):
        return False
    return is_cjk(before[-1]) or is_cjk(after[0])


def is_cjk(character: str) -> bool:
    """Whether a character belongs to a script that is written without blanks."""
    code = ord(character)
    return (
        0x2E80 <= code <= 0xA4CF or 0xF900 <= code <= 0xFAFF or 0xFE30 <= code <= 0xFE4F
        or 0xFF00 <= code <= 0xFF60 or 0xFFE0 <= code <= 0xFFE6 or 0x20000 <= code <= 0x3FFFF
    )  # fmt: skip


def _word(run: _Run, glyphs: list[_Glyph], *, blank_before: bool) -> Word:
    boxes = [glyph.box for glyph in glyphs]
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    area = (min(lefts), min(tops), max(rights), max(bottoms))
    style = run.style
    return Word(
        text="".join(glyph.text for glyph in glyphs),
        box=_tidy(area, run.baseline, style),
        size=style.size,
        font=style.font,
        colour=style.colour,
        mode=style.mode,
        rotation=style.rotation,
        baseline=run.baseline,
        order=style.order,
        blank_before=blank_before,
        is_vertical=run.is_vertical,
        is_unmapped=any(glyph.is_unmapped for glyph in glyphs),
        tag=style.tag,
    )


def _tidy(area: Box, baseline: float, style: _Style) -> Box:
    """A box of a likely height, where the font's own ascent and descent are missing or wild."""
    height, size = area[3] - area[1], style.size
    left, top, right, bottom = area
    if style.rotation == 0 and not 0.4 * size <= height <= 2.0 * size and size > 0:
        top, bottom = baseline - 0.8 * size, baseline + 0.2 * size
    return (round(left, 2), round(top, 2), round(right, 2), round(bottom, 2))
