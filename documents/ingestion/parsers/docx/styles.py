"""Styles of a Word document: what a paragraph or run inherits.

A style takes from the one it is based on what it does not say itself. Properties that switch
(bold, hidden, struck) are on when the paragraph's style and the run's style differ, unless the
run says it itself (ECMA-376 part 1, 17.7.3).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from documents.ingestion.parsers.docx.markup import Element, W, child, local, number, switch, value

MAX_HEADING_LEVEL = 9
_TOGGLES = ("b", "i", "strike", "dstrike", "vanish")
_HEADING_NAME = re.compile(
    r"(?:heading|überschrift|titre|título|titolo|kop|rubrik|overskrift|otsikko|nagłówek|nadpis|"
    r"заголовок|başlık|címsor|titlu|标题|標題|見出し|제목)\s*([1-9])\Z",
    re.IGNORECASE,
)
_CONTENTS_NAME = re.compile(r"(?:toc|table of figures|table of authorities|index)\s*\d?\Z")
_HIGHLIGHTS = {
    "black": "000000", "blue": "0000FF", "cyan": "00FFFF", "green": "00FF00",
    "magenta": "FF00FF", "red": "FF0000", "yellow": "FFFF00", "white": "FFFFFF",
    "darkBlue": "000080", "darkCyan": "008080", "darkGreen": "008000", "darkMagenta": "800080",
    "darkRed": "800000", "darkYellow": "808000", "darkGray": "808080", "lightGray": "C0C0C0",
}  # fmt: skip
_MAX_CHAIN = 50  # styles based on one another in a ring do not end


@dataclass(frozen=True, slots=True)
class Look:
    """How a run is printed, as far as it decides whether and how its text is read."""

    bold: bool = False
    italic: bool = False
    struck: bool = False
    hidden: bool = False
    color: str | None = None  # RRGGBB
    fill: str | None = None  # RRGGBB, or "marked" where text is highlighted
    half_points: int | None = None
    raised: str | None = None  # "superscript" or "subscript"
    font: str | None = None
    scale: int | None = None  # width of the letters in percent
    is_clear: bool = False  # drawn with no or a fully transparent fill


@dataclass(slots=True)
class Style:
    """One style with what it inherits, resolved."""

    id: str
    name: str
    outline_level: int | None = None  # counted from 0; 9 is body text
    num_id: int | None = None
    num_level: int | None = None
    left: int | None = None  # indent in twentieths of a point
    fill: str | None = None
    run: dict[str, str | bool] = field(default_factory=dict)
    has_first_row: bool = False  # a table style that marks its first row
    has_shading: bool = False

    @property
    def heading_level(self) -> int | None:
        """Level of the headings in this style, counted from 1."""
        if self.outline_level is not None:
            return self.outline_level + 1 if self.outline_level < MAX_HEADING_LEVEL else None
        match = _HEADING_NAME.match(self.name)
        return int(match[1]) if match else None

    @property
    def is_contents(self) -> bool:
        """Whether it is for entries of a generated table of contents or index."""
        return _CONTENTS_NAME.match(self.name.lower()) is not None

    @property
    def is_contents_title(self) -> bool:
        """Whether it is for the words above a generated table of contents."""
        return self.name.lower() in ("toc heading", "index heading", "toa heading")


class Styles:
    """All styles of a document by id."""

    def __init__(self, root: Element | None) -> None:
        self._elements: dict[str, Element] = {}
        self._styles: dict[str, Style] = {}
        self._defaults: dict[str, str | bool] = {}
        self.default_paragraph: str | None = None
        self._default_table: str | None = None
        if root is not None:
            self._read(root)
        self._look = lru_cache(maxsize=4096)(self._compute_look)

    def _read(self, root: Element) -> None:
        self._defaults = run_properties(child(root, "docDefaults", "rPrDefault", "rPr"))
        for element in root.iterfind(W + "style"):
            style_id = value(element, "styleId")
            if style_id is None:
                continue
            self._elements.setdefault(style_id, element)
            if value(element, "default") in ("1", "true", "on"):
                if value(element, "type") == "paragraph":
                    self.default_paragraph = style_id
                elif value(element, "type") == "table":
                    self._default_table = style_id

    def get(self, style_id: str | None) -> Style:
        """A style; where the file does not define it, an empty one of that name."""
        key = style_id or ""
        if key not in self._styles:
            self._styles[key] = self._resolve(key)
        return self._styles[key]

    def paragraph(self, style_id: str | None) -> Style:
        """The style of a paragraph, which has the default one if it names none."""
        return self.get(style_id or self.default_paragraph)

    def table(self, style_id: str | None) -> Style:
        """The style of a table."""
        return self.get(style_id or self._default_table)

    def look(self, paragraph: str | None, properties: Element | None) -> Look:
        """How a run with these direct properties is printed in a paragraph of that style."""
        direct = run_properties(properties)
        run_style = value(child(properties, "rStyle"))
        return self._look(
            paragraph or self.default_paragraph, run_style, tuple(sorted(direct.items()))
        )

    def _compute_look(
        self, paragraph: str | None, run_style: str | None, direct: Iterable[tuple[str, str | bool]]
    ) -> Look:
        of_paragraph = self.get(paragraph).run
        of_run = self.get(run_style).run if run_style else {}
        merged = {**self._defaults, **of_paragraph, **of_run}
        for name in _TOGGLES:
            differs = bool(of_paragraph.get(name)) != bool(of_run.get(name))
            merged[name] = differs or bool(self._defaults.get(name))
        return _as_look({**merged, **dict(direct)})

    def _resolve(self, style_id: str) -> Style:
        chain = self._chain(style_id)
        name = value(child(chain[0], "name")) if chain else None
        style = Style(style_id, name or style_id)
        for element in reversed(chain):
            _inherit(style, element)
        return style

    def _chain(self, style_id: str) -> list[Element]:
        chain: list[Element] = []
        current: str | None = style_id
        while current in self._elements and len(chain) < _MAX_CHAIN:
            element = self._elements[current]
            if element in chain:
                break
            chain.append(element)
            current = value(child(element, "basedOn"))
        return chain


def _inherit(style: Style, element: Element) -> None:
    properties = child(element, "pPr")
    level = number(child(properties, "outlineLvl"))
    style.outline_level = style.outline_level if level is None else level
    num_id = number(child(properties, "numPr", "numId"))
    style.num_id = style.num_id if num_id is None else num_id
    num_level = number(child(properties, "numPr", "ilvl"))
    style.num_level = style.num_level if num_level is None else num_level
    left = left_indent(properties)
    style.left = style.left if left is None else left
    style.fill = shading(child(properties, "shd")) or style.fill
    style.run.update(run_properties(child(element, "rPr")))
    if value(element, "type") == "table":
        _inherit_table(style, element)


def _inherit_table(style: Style, element: Element) -> None:
    for part in element.iterfind(W + "tblStylePr"):
        if value(part, "type") == "firstRow":
            is_bold = switch(child(part, "rPr"), "b")
            fill = shading(child(part, "tcPr", "shd"))
            style.has_first_row = style.has_first_row or bool(is_bold) or fill is not None
    if any(shading(found) not in (None, "FFFFFF") for found in element.iter(W + "shd")):
        style.has_shading = True


def left_indent(properties: Element | None) -> int | None:
    """The left indent of a paragraph in twentieths of a point, where it is said."""
    indent = child(properties, "ind")
    left = number(indent, "left")
    return left if left is not None else number(indent, "start")


def shading(element: Element | None) -> str | None:
    """The fill behind text as RRGGBB; None where there is none or it is automatic."""
    fill = (value(element, "fill") or "").upper()
    if re.fullmatch(r"[0-9A-F]{6}", fill):
        return fill
    return "marked" if value(element, "themeFill") else None


def run_properties(properties: Element | None) -> dict[str, str | bool]:
    """The properties of a run that matter here, as far as they are said."""
    found: dict[str, str | bool] = {}
    if properties is None:
        return found
    for element in properties:
        name = local(element)
        if name in _TOGGLES:
            found[name] = value(element) not in ("0", "false", "off", "none")
        elif name in _READERS:
            text = _READERS[name](element)
            if text is not None:
                found[name] = text
    return found


def _color(element: Element) -> str | None:
    color = (value(element) or "").upper()
    theme = value(element, "themeColor")
    is_plain = value(element, "themeShade") is None and value(element, "themeTint") is None
    if theme in ("background1", "light1") and is_plain:
        return "FFFFFF"
    return color if re.fullmatch(r"[0-9A-F]{6}", color) else "auto"


def _font(element: Element) -> str | None:
    return value(element, "ascii") or value(element, "hAnsi")


def _text_fill(element: Element) -> str | None:
    """`clear` where Word 2010's text effects make the letters transparent."""
    for part in element.iter():
        name = local(part)
        amount = next((text for key, text in part.attrib.items() if str(key).endswith("val")), "")
        if name == "noFill" or (name == "alpha" and amount in ("100000", "100%")):
            return "clear"
    return "solid"


_READERS = {
    "color": _color,
    "shd": shading,
    "highlight": lambda element: _HIGHLIGHTS.get(value(element) or ""),
    "sz": value,
    "w": value,
    "vertAlign": value,
    "rFonts": _font,
    "textFill": _text_fill,
}


def _as_look(found: Mapping[str, str | bool]) -> Look:
    def text(name: str) -> str | None:
        value_ = found.get(name)
        return value_ if isinstance(value_, str) else None

    size, scale = text("sz"), text("w")
    color = text("color")
    return Look(
        bold=bool(found.get("b")),
        italic=bool(found.get("i")),
        struck=bool(found.get("strike")) or bool(found.get("dstrike")),
        hidden=bool(found.get("vanish")),
        color=None if color == "auto" else color,
        fill=text("highlight") or text("shd"),
        half_points=int(float(size)) if size and re.fullmatch(r"\d{1,4}(\.\d+)?", size) else None,
        scale=int(scale.rstrip("%")) if scale and re.fullmatch(r"\d{1,4}%?", scale) else None,
        raised=text("vertAlign"),
        font=text("rFonts"),
        is_clear=text("textFill") == "clear",
    )
