"""The markers that a browser prints before list items, and their full labels."""

from __future__ import annotations

import re
from dataclasses import dataclass

from documents.ingestion.parsers.html.looks import Looks
from documents.ingestion.parsers.html.tree import Element

BULLET = "-"
_TYPES = {
    "1": "decimal",
    "a": "lower-alpha",
    "A": "upper-alpha",
    "i": "lower-roman",
    "I": "upper-roman",
}
_STYLE = re.compile(
    r"(?<![\w-])(none|disc|circle|square|decimal-leading-zero|decimal|(?:lower|upper)-"
    r"(?:alpha|latin|roman)|lower-greek|cjk-ideographic|cjk-decimal"
    r"|(?:trad|simp)-chinese-(?:in)?formal|japanese-(?:in)?formal)(?![\w-])"
)
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
          (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_HAN_DIGITS = "零一二三四五六七八九"
# An item that brings its own label needs no bullet before it.
_OWN_LABEL = re.compile(
    r"(?:\(\w{1,5}\)|[（【]\w{1,4}[）】]|\d{1,3}(?:\.\d{1,3})+\.?|(?:\d{1,3}|[a-zA-Z]|[ivxlc]{1,6})[.)]"
    r"|[一二三四五六七八九十]{1,3}、|第[一二三四五六七八九十百\d]+[條条款項项]|§)\s?"
)


@dataclass(slots=True)
class OpenList:
    """A list that the walk is inside of."""

    style: str
    next_value: int = 1
    step: int = 1
    label: str = ""  # of the item that is open, with those around it
    suffix: str = "."
    outer: str = ""
    is_headed: bool = False  # the open item begins with a heading: it is a section, not an item

    @property
    def is_ordered(self) -> bool:
        """Whether its items are counted."""
        return self.style not in ("none", "disc", "circle", "square")

    def open_item(self, item: Element, looks: Looks) -> str:
        """The marker that is printed before an item; it may be empty."""
        style = _style_of(item, looks) or self.style
        self.label = self.outer
        if style == "none":
            return ""
        if style in ("disc", "circle", "square"):
            return BULLET
        value = _integer(item.get("value"), self.next_value)
        self.next_value = value + self.step
        printed = counted(value, style)
        self.label = _joined(self.outer, printed)
        return printed + (item.get("data-suffix") or self.suffix)


def open_list(element: Element, looks: Looks, *, outer: str = "") -> OpenList:
    """Begin a list; `outer` is the label of the item around it."""
    style = _style_of(element, looks)
    if element.tag != "ol":
        return OpenList(style or "disc", outer=outer)
    style = style or _TYPES.get(element.get("type").strip(), "decimal")
    step = -1 if "reversed" in element.attributes else 1
    first = len([child for child in element.elements() if child.tag == "li"]) if step < 0 else 1
    start = _integer(element.get("start"), first)
    suffix = "、" if "chinese" in style or style.startswith(("cjk", "japanese")) else "."
    return OpenList(style, start, step, suffix=suffix, outer=outer)


def has_own_label(text: str) -> bool:
    """Whether an item's text begins with a label of its own."""
    return _OWN_LABEL.match(text) is not None


def counted(value: int, style: str) -> str:
    """A number in the writing of a list style; decimal where the style cannot write it."""
    if style == "decimal-leading-zero":
        return f"{value:02d}"
    if value > 0 and style.endswith(("alpha", "latin", "greek")):
        written = _letters(value, "αβγδεζηθικλμνξοπρστυφχψω" if "greek" in style else _LATIN)
    elif 0 < value < 4000 and style.endswith("roman"):
        written = _roman(value)
    elif 0 < value < 100 and ("chinese" in style or style.startswith(("cjk", "japanese"))):
        written = _han(value)
    else:
        return str(value)
    return written.upper() if style.startswith("upper") else written


_LATIN = "abcdefghijklmnopqrstuvwxyz"


def _style_of(element: Element, looks: Looks) -> str | None:
    match = _STYLE.search(looks.list_styles.get(element, ""))
    if match:
        return match[1]
    kind = element.get("type").strip()
    if element.tag == "li" and kind in _TYPES:
        return _TYPES[kind]
    return "none" if element.tag == "ul" and kind.lower() == "none" else None


def _joined(outer: str, printed: str) -> str:
    if not outer:
        return printed
    return (
        f"{outer}.{printed}"
        if printed.isdigit() and outer[-1].isdigit()
        else (f"{outer}({printed})")
    )


def _integer(text: str, default: int) -> int:
    match = re.match(r"\s*([+-]?\d{1,9})", text)
    return int(match[1]) if match else default


def _letters(value: int, alphabet: str) -> str:
    letters = ""
    while value:
        value, rest = divmod(value - 1, len(alphabet))
        letters = alphabet[rest] + letters
    return letters


def _roman(value: int) -> str:
    letters = ""
    for amount, sign in _ROMAN:
        letters += sign * (value // amount)
        value %= amount
    return letters


def _han(value: int) -> str:
    tens, ones = divmod(value, 10)
    head = "" if not tens else ("十" if tens == 1 else f"{_HAN_DIGITS[tens]}十")
    return head + (_HAN_DIGITS[ones] if ones else "")
