"""What is kept of each page until all pages are known: its lines, and what it lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from documents.ingestion.parsers.pdf.formwords import FORM_FONT
from documents.ingestion.parsers.pdf.hidden import split_hidden
from documents.ingestion.parsers.pdf.ink import Ink
from documents.ingestion.parsers.pdf.lines import make_line, read_lines
from documents.ingestion.parsers.pdf.page import HiddenWords, Line, PageContent, Word
from documents.ingestion.parsers.pdf.tables import PageTables, read_tables, words_of
from documents.ingestion.parsers.pdf.turn import Turn, main_rotation

_MIN_COVER = 0.05  # of the page: less is a logo
_FULL_COVER = 0.5  # of the page: a scan
_MANY_DRAWINGS = 60  # letters drawn as outlines
_FEW_LETTERS = 25  # such as a stamp on a scanned page
_GARBLED = 0.4  # of the letters
_SAME_PLACE = 0.12  # of the type's size: a word drawn twice to look bold


@dataclass(slots=True)
class PageLayout:
    """One page: its lines from the top, text that runs another way, and what it holds besides."""

    number: int
    width: float
    height: float
    label: str | None
    turn: Turn
    lines: list[Line]
    aside: list[Line] = field(default_factory=list)
    hidden: list[HiddenWords] = field(default_factory=list)
    image_cover: float = 0.0
    drawings: int = 0
    letters: int = 0
    broken: int = 0
    has_lost_table: bool = False
    is_garbled: bool = False
    ocr_confidence: float | None = None

    @property
    def is_unread(self) -> bool:
        """Whether the page shows something, but gives no text: it needs to be recognised."""
        if self.ocr_confidence is not None:
            return False  # it was: a picture without words stays without
        if self.is_garbled:
            return True
        if self.image_cover >= _FULL_COVER and self.letters < _FEW_LETTERS:
            return True
        has_picture = self.image_cover >= _MIN_COVER or self.drawings >= _MANY_DRAWINGS
        return self.letters == 0 and has_picture

    @property
    def is_blank(self) -> bool:
        """Whether nothing stands on the page."""
        return self.letters == 0 and not self.is_unread


def lay_out(page: PageContent, ink: Ink | None, typed: Sequence[Word] = ()) -> PageLayout:
    """Take from a page what the later steps need; `typed` stands in its form fields."""
    visible, hidden = split_hidden(page, ink=ink)
    words = _without_doubles((*visible, *typed))
    is_garbled = _is_garbled(words)
    if is_garbled:
        words = []
    turn = Turn(main_rotation(words), page.width, page.height)
    found = PageTables() if turn.rotation else read_tables(_seen(page, words))
    inside = {id(word) for table in found.tables for word in words_of(table)}
    free = [word for word in words if id(word) not in inside]
    lines = read_lines(turn.words([w for w in free if w.rotation == turn.rotation]), found.tables)
    return PageLayout(
        number=page.number,
        width=page.width,
        height=page.height,
        label=page.label,
        turn=turn,
        lines=lines,
        aside=_aside([w for w in free if w.rotation != turn.rotation], page),
        hidden=hidden,
        image_cover=_cover(page),
        drawings=page.drawings,
        # What is typed into a scanned form does not make the scan readable.
        letters=sum(c.isalnum() for w in words if w.font is not FORM_FONT for c in w.text),
        broken=sum(_broken(word) for word in visible),
        has_lost_table=found.is_lost,
        is_garbled=is_garbled,
    )


def _seen(page: PageContent, words: Sequence[Word]) -> PageContent:
    return PageContent(
        page.number, page.width, page.height, page.label, tuple(words), page.rules, page.fills,
        page.images, page.rotation, page.drawings, page.is_cut,
    )  # fmt: skip


def _without_doubles(words: Iterable[Word]) -> list[Word]:
    """Words drawn twice, with a small shift, to look bold or shadowed: once."""
    kept: list[Word] = []
    seen: dict[tuple[str, int, int], list[Word]] = {}
    for word in words:
        x, y = round(word.box[0] / 8), round(word.box[1] / 8)
        near = (
            other
            for dx in (-1, 0, 1)
            for dy in (-1, 0, 1)
            for other in seen.get((word.text, x + dx, y + dy), ())
        )
        if not any(_is_same_place(word, other) for other in near):
            kept.append(word)
            seen.setdefault((word.text, x, y), []).append(word)
    return kept


def _is_same_place(word: Word, other: Word) -> bool:
    reach = _SAME_PLACE * max(word.size, 1.0)
    return word.rotation == other.rotation and all(
        abs(a - b) <= reach for a, b in zip(word.box, other.box, strict=True)
    )


def _aside(words: Sequence[Word], page: PageContent) -> list[Line]:
    """Text that runs another way, each direction and base line for itself."""
    groups: dict[tuple[int, int], list[Word]] = {}
    for word in words:
        groups.setdefault((word.rotation, round(word.baseline / 3)), []).append(word)
    lines = []
    for (rotation, _), group in groups.items():
        turn = Turn(rotation, page.width, page.height)
        turned = make_line(turn.words(group)) if rotation % 90 == 0 else None
        order = (
            [
                w
                for _, w in sorted(
                    zip([t.box[0] for t in turn.words(group)], group, strict=True),
                    key=lambda pair: pair[0],
                )
            ]
            if turned is not None
            else list(group)
        )
        line = make_line(group)
        lines.append(Line(tuple(order), line.box, line.baseline, line.size))
    return lines


def _cover(page: PageContent) -> float:
    area = 0.0
    for image in page.images:
        left, top, right, bottom = image.box
        across = min(right, page.width) - max(left, 0.0)
        down = min(bottom, page.height) - max(top, 0.0)
        area += max(across, 0.0) * max(down, 0.0)
    return min(area / max(page.width * page.height, 1.0), 1.0)


def _is_garbled(words: Sequence[Word]) -> bool:
    """Whether the fonts do not say which letters they show, so that there is no text to keep."""
    letters = sum(len(word.text) for word in words)
    unknown = sum(word.text.count("\ufffd") + _private(word.text) for word in words)
    return letters > 0 and unknown >= _GARBLED * letters


def _private(text: str) -> int:
    return sum("\ue000" <= c <= "\uf8ff" and c not in _SYMBOLS for c in text)


def _broken(word: Word) -> int:
    if "\ufffd" in word.text or "(cid:" in word.text or word.is_unmapped:
        return len(word.text)
    return _private(word.text)


_SYMBOLS = frozenset(map(chr, range(0xF020, 0xF100)))  # the symbol fonts' own bullets and signs


def body_size(layouts: Iterable[PageLayout]) -> float:
    """The size of most letters of a document."""
    sizes: Counter[float] = Counter()
    for layout in layouts:
        for line in layout.lines:
            for word in line.words:
                sizes[round(word.size * 2) / 2] += len(word.text)
    return sizes.most_common(1)[0][0] if sizes else 10.0


def pitches(columns: Iterable[Sequence[Line]]) -> dict[float, float]:
    """The usual distance of lines for each size of type: the commonest, not far below it."""
    steps: dict[float, Counter[float]] = {}
    for column in columns:
        for above, line in pairwise(column):
            step = line.baseline - above.baseline
            is_alike = above.words and line.words and abs(above.size - line.size) < 0.3
            if is_alike and 0.9 * line.size <= step <= 2.1 * line.size:
                steps.setdefault(round(line.size, 1), Counter())[round(step * 2) / 2] += 1
    return {size: _usual(counts) for size, counts in steps.items() if sum(counts.values()) >= 3}


def _usual(counts: Counter[float]) -> float:
    most = max(counts.values())
    return min(step for step, count in counts.items() if count >= 0.5 * most)
