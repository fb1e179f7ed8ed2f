"""What a PDF page holds, in shown coordinates: words, rules, fills, images, tables.

`extract.read_page` makes a `PageContent`; the steps after it (hidden text, tables, lines,
columns, paragraphs) read these records and change none of them. Every box is left, top, right,
bottom in points from the upper left corner of the page as a person sees it: the page's rotation
is applied and the crop box is the page. What lies outside 0..width, 0..height is off the page.
"""

from __future__ import annotations

from dataclasses import dataclass

from documents.records import Box

Colour = tuple[int, int, int, int]  # red, green, blue, alpha; 0 to 255

INVISIBLE_MODES = frozenset({3, 7})  # text render modes that paint nothing


@dataclass(frozen=True, slots=True)
class Font:
    """How letters look: the font's own name (no subset prefix), and what it says of its weight."""

    name: str
    is_bold: bool = False
    is_italic: bool = False
    is_fixed: bool = False


@dataclass(frozen=True, slots=True)
class Word:
    """Letters that stand together in one style: no blank inside, one baseline, one direction.

    A change of font, size, colour or baseline ends a word, so that a raised mark is a word of
    its own; `blank_before` is then False. Each CJK character is a word, so that it has a box.
    `size` is the height of the font in points as shown; `baseline` the y of the base line (the
    x, where the text runs up or down). `rotation` is the direction of reading in degrees
    clockwise: 0 to the right, 90 down, 180 upside down, 270 up; others are kept as found.
    `order` grows as things are painted, shared with fills and images: what has a larger one lies
    on top. `mode` is the text render mode of ISO 32000 (3: invisible). `tag` is the structure
    element around it where the PDF is tagged (`H1`, `P`, `LI`, `TD`, `Artifact`).
    """

    text: str
    box: Box
    size: float
    font: Font
    colour: Colour
    mode: int
    rotation: int
    baseline: float
    order: int
    blank_before: bool = True
    is_vertical: bool = False
    is_unmapped: bool = False
    tag: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """A drawn straight line, or the edge of a drawn box: horizontal or vertical.

    `width` is the thickness of the stroke or of the thin box that draws it.
    """

    box: Box
    is_horizontal: bool
    width: float
    order: int


@dataclass(frozen=True, slots=True)
class Fill:
    """A filled area that is not thin enough for a rule, such as a shaded row or a white cover."""

    box: Box
    colour: Colour
    order: int


@dataclass(frozen=True, slots=True)
class ImageArea:
    """Where an image is drawn."""

    box: Box
    order: int


@dataclass(frozen=True, slots=True)
class PageContent:
    """One page as it was read. `number` counts from 1; `rotation` is the page's own /Rotate.

    Words stand in the order of the content stream. `drawings` counts the paths and shadings,
    also those that are neither rules nor fills. `is_cut` says that a limit ended the reading.
    """

    number: int
    width: float
    height: float
    label: str | None
    words: tuple[Word, ...]
    rules: tuple[Rule, ...] = ()
    fills: tuple[Fill, ...] = ()
    images: tuple[ImageArea, ...] = ()
    rotation: int = 0
    drawings: int = 0
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table, at its row and column counted from 0; its words in reading order."""

    row: int
    column: int
    words: tuple[Word, ...]
    box: Box
    row_span: int = 1
    column_span: int = 1


@dataclass(frozen=True, slots=True)
class TableRegion:
    """A table of one page: its area and its cells, row by row.

    The first `header_rows` rows name the columns; `is_head_marked` says that weight, ground or
    tags show it, and not the words alone. `page` is the page's number.
    """

    page: int
    box: Box
    rows: tuple[tuple[Cell, ...], ...]
    columns: int
    header_rows: int = 0
    is_ruled: bool = True
    is_head_marked: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """Words that stand on one base line, from left to right, or a whole table in their place.

    `size` is that of most letters. `raised` holds the indexes of words that stand above the base
    line in small type, such as footnote marks; `lowered` those below it.
    """

    words: tuple[Word, ...]
    box: Box
    baseline: float
    size: float
    raised: frozenset[int] = frozenset()
    lowered: frozenset[int] = frozenset()
    table: TableRegion | None = None


@dataclass(frozen=True, slots=True)
class HiddenWords:
    """Words that a person does not see, joined to a text, and how they hide."""

    text: str
    where: str
    page: int
