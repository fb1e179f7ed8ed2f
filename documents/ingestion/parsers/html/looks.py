"""What a person sees of each element: hidden and how, struck out, preformatted.

Styles are inherited as CSS inherits them, as far as sight needs it. A panel that a control on
the page opens (an accordion, a tab) counts as seen: a person sees it with one click.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field, replace

from documents.ingestion.parsers.html.colours import (
    BLACK,
    WHITE,
    Colour,
    is_transparent,
    looks_like,
    parse_colour,
)
from documents.ingestion.parsers.html.css import Declarations, Stylesheet, keys_of
from documents.ingestion.parsers.html.panels import find_panels
from documents.ingestion.parsers.html.tree import (
    COMMENT,
    Closed,
    Element,
    Opened,
    names,
    walk,
)

_SILENT = names("script style head title meta link")
NEVER_SHOWN = names("template noscript iframe object embed applet noframes")
_ASIDES = {
    "rt": "alt_text",
    "rp": "alt_text",
    "desc": "alt_text",
    "annotation": "alt_text",
    "annotation-xml": "alt_text",
    "select": "form_field",
    "textarea": "form_field",
    "datalist": "form_field",
}
_OFF_SCREEN_CLASSES = names(
    "sr-only visually-hidden visuallyhidden screen-reader-text screen-reader-only "
    "element-invisible offscreen"
)
_STRUCK = names("s strike del")
_PREFORMATTED = names("pre listing xmp")
_BOLD = names("b strong")
_HEAVY = names("bold bolder 600 700 800 900")
_STYLED_BY_KIND = _STRUCK | _BOLD | _PREFORMATTED
_SPECIAL = _STYLED_BY_KIND | _SILENT | NEVER_SHOWN | _ASIDES.keys() | {COMMENT, "button", "dialog"}
_SPOKEN = names("h1 h2 h3 h4 h5 h6 p dt summary")
_FAINT = 0.05
_TINY = 3.0  # px
_FAR = 500.0  # px
_LENGTH = re.compile(r"(-?\d*\.?\d+)\s*(px|pt|em|rem|%|vw|vh|ex|ch|cm|mm|in)?\Z")
_PIXELS = {"px": 1.0, "pt": 4 / 3, "vw": 12.0, "vh": 8.0, "cm": 37.8, "mm": 3.78, "in": 96.0}
_SIZES = {"xx-small": 9.0, "x-small": 10.0, "small": 13.0, "medium": 16.0, "large": 18.0}
_CLIPPED = re.compile(r"rect\(\s*[01](?:px)?[,\s]+[01](?:px)?[,\s]+[01](?:px)?[,\s]+[01](?:px)?")
_NO_CIRCLE = re.compile(r"inset\(\s*(?:50|[6-9]\d|100)%|circle\(\s*0")
_MOVED = re.compile(r"translate(?:x|y|3d)?\(\s*-(\d+)(px|%|vw|em)|scale\(\s*0(?:\.0+)?\s*[,)]")


@dataclass(slots=True)
class Looks:
    """The elements that look otherwise than plain text does."""

    hidden: dict[Element, str] = field(default_factory=dict)  # how, for each element inside too
    struck: set[Element] = field(default_factory=set)
    bold: set[Element] = field(default_factory=set)
    preformatted: set[Element] = field(default_factory=set)
    list_styles: dict[Element, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _State:
    """What an element hands on to those inside it."""

    where: str | None = None
    is_final: bool = False  # `visibility: visible` inside does not undo it
    size: float = 16.0
    colour: Colour | None = BLACK
    ground: Colour | None = WHITE
    is_struck: bool = False
    is_bold: bool = False
    is_preformatted: bool = False


def look_at(root: Element) -> Looks:
    """Find out how each element of a page looks."""
    stylesheet = Stylesheet.of(root)
    panels = find_panels(root)
    looks = Looks()
    around: Counter[str] = Counter()  # keys of the elements that the walk is inside of
    states = [_State()]
    for event in walk(root):
        if isinstance(event, Opened):
            element = event.element
            keys = keys_of(element)
            style = stylesheet.style_of(element, keys, around)
            around.update(keys)
            state = _inside(states[-1], element, style, panels)
            _note(looks, element, state, style)
            states.append(state)
        elif isinstance(event, Closed):
            states.pop()
            around.subtract(keys_of(event.element))
    return looks


def _note(looks: Looks, element: Element, state: _State, style: Declarations) -> None:
    if state.where is not None:
        looks.hidden[element] = state.where
    if state.is_bold:
        looks.bold.add(element)
    if state.is_struck:
        looks.struck.add(element)
    if state.is_preformatted:
        looks.preformatted.add(element)
    listed = style.get("list-style-type") or style.get("list-style")
    if listed:
        looks.list_styles[element] = listed


def _inside(
    state: _State, element: Element, style: Declarations, panels: Collection[Element]
) -> _State:
    if not style and not element.attributes and element.tag not in _SPECIAL:
        return state
    state = _restyled(state, element, style)
    if state.is_final:
        return state
    where = _by_kind(element)
    if where is None and element not in panels:
        where = _by_use(element)
    if where is None and element not in panels and _is_removed(element, style):
        where = "hidden"
    where = where or _by_place(style)
    if where is not None:
        return replace(state, where=where, is_final=True)
    visibility = style.get("visibility", "")
    if visibility in ("hidden", "collapse") and element not in panels:
        return replace(state, where="hidden")
    if state.where == "hidden" and visibility != "visible":
        return state
    faint = _by_letters(state, style)
    return state if faint == state.where else replace(state, where=faint)


def _restyled(state: _State, element: Element, style: Declarations) -> _State:
    """What is inherited, with the element's own say."""
    if not style and not element.attributes and element.tag not in _STYLED_BY_KIND:
        return state
    decoration = style.get("text-decoration", "") + style.get("text-decoration-line", "")
    weight = style.get("font-weight") or ("bold" if element.tag in _BOLD else "")
    white_space = style.get("white-space") or ("pre" if element.tag in _PREFORMATTED else "")
    size = style.get("font-size")
    return replace(
        state,
        size=_font_size(size, state.size) if size else state.size,
        colour=_colour(state.colour, element, style),
        ground=_ground(state.ground, element, style),
        is_struck=state.is_struck or element.tag in _STRUCK or "line-through" in decoration,
        is_bold=weight in _HEAVY if weight else state.is_bold,
        is_preformatted=white_space in ("pre", "pre-wrap", "break-spaces")
        if white_space
        else state.is_preformatted,
    )


def _colour(inherited: Colour | None, element: Element, style: Declarations) -> Colour | None:
    value = style.get("color") or (element.get("color") if element.tag == "font" else "")
    value = value or (element.get("text") if element.tag == "body" else "")
    return parse_colour(value.lower()) if value and value != "inherit" else inherited


def _ground(inherited: Colour | None, element: Element, style: Declarations) -> Colour | None:
    drawn = " ".join(style.get(f"background{part}", "") for part in ("", "-color", "-image"))
    if "url(" in drawn or "gradient" in drawn or "var(" in drawn or element.get("background"):
        return None
    value = (style.get("background-color") or style.get("background") or "").lower()
    value = value or element.get("bgcolor").lower()
    colours = (parse_colour(part) for part in (value, *value.split()))
    return next((colour for colour in colours if colour), inherited)


def _font_size(value: str, inherited: float) -> float:
    if value in _SIZES:
        return _SIZES[value]
    match = _LENGTH.match(value)
    if match is None:
        return inherited
    amount, unit = float(match[1]), match[2] or "px"
    if unit == "rem":
        return amount * 16
    if unit in ("em", "%"):
        return inherited * amount / (100 if unit == "%" else 1)
    return amount * _PIXELS.get(unit, 8.0)


def _by_kind(element: Element) -> str | None:
    if element.tag == COMMENT:
        return "comment"
    if element.tag == "title" and element.parent is not None and element.parent.tag != "head":
        return "alt_text"  # of a drawing
    if element.tag in _ASIDES:
        return _ASIDES[element.tag]
    if element.tag == "noscript":
        return "no_script"
    if element.tag in NEVER_SHOWN or element.tag in _SILENT:
        return "hidden" if element.tag in NEVER_SHOWN else "silent"
    if element.get("aria-hidden").lower() == "true":
        return "hidden"
    if element.tag == "dialog" and "open" not in element.attributes:
        return "hidden"
    classes = element.get("class")
    if classes and not _OFF_SCREEN_CLASSES.isdisjoint(classes.lower().split()):
        return "hidden"
    return None


def _by_use(element: Element) -> str | None:
    """A button is a control, unless it opens a panel or stands in a sentence or heading."""
    parent = element.parent
    if element.tag != "button" or parent is None or parent.tag in _SPOKEN:
        return None
    if "aria-controls" in element.attributes or "aria-expanded" in element.attributes:
        return None
    return "form_field"


def _is_removed(element: Element, style: Declarations) -> bool:
    if "hidden" in element.attributes and style.get("display", "none") == "none":
        return True
    return style.get("display") == "none" or _is_collapsed(style)


def _is_collapsed(style: Declarations) -> bool:
    if style.get("content-visibility") == "hidden":
        return True
    overflow = style.get("overflow", "") + style.get("overflow-x", "") + style.get("overflow-y", "")
    if "hidden" not in overflow and "clip" not in overflow:
        return False
    sizes = (style.get(name) for name in ("height", "max-height", "width", "max-width"))
    return any(_pixels(size) <= 1 for size in sizes if size)


def _by_place(style: Declarations) -> str | None:
    if _is_off_page(style):
        return "off_page"
    if "opacity" in style and _pixels(style["opacity"]) < _FAINT:
        return "hidden"
    if _CLIPPED.search(style.get("clip", "")) or _NO_CIRCLE.search(style.get("clip-path", "")):
        return "hidden"
    return None


def _by_letters(state: _State, style: Declarations) -> str | None:
    if state.size < _TINY:
        return "tiny"
    if is_transparent(style.get("color", "")):
        return "white"
    if state.colour and state.ground and looks_like(state.colour, state.ground):
        return "white"
    return None


def _is_off_page(style: Declarations) -> bool:
    if style.get("position") in ("absolute", "fixed", "relative"):
        sides = [_pixels(style.get(side, "0")) for side in ("left", "top", "right", "bottom")]
        if min(sides) <= -_FAR or max(sides) >= 10 * _FAR:
            return True
    moved = _MOVED.search(style.get("transform", ""))
    if moved and (moved[1] is None or (moved[2] == "px" and float(moved[1]) >= _FAR)):
        return True
    moves = ("text-indent", "margin-left", "margin-top")
    return any(_pixels(style.get(name, "0")) <= -_FAR for name in moves)


def _pixels(value: str) -> float:
    match = _LENGTH.match(value)
    if match is None:
        return 100.0  # a length that is not known here hides nothing
    unit = match[2] or "px"
    if unit == "%":
        return float(match[1]) * 8
    return float(match[1]) * _PIXELS.get(unit, 16.0)
