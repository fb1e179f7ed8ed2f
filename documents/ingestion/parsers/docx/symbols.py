"""Characters of symbol fonts, which Word stores as numbers of the font's own table."""

from __future__ import annotations

_GREEK_CAPITALS = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ"
_GREEK_SMALL = "αβχδεφγηιϕκλμνοπθρστυϖωξψζ"
_SYMBOL = {
    **{ord("A") + index: char for index, char in enumerate(_GREEK_CAPITALS)},
    **{ord("a") + index: char for index, char in enumerate(_GREEK_SMALL)},
    0x22: "∀", 0x24: "∃", 0x27: "∋", 0x2A: "∗", 0x2D: "−", 0x40: "≅", 0x5C: "∴", 0x5E: "⊥",
    0x7E: "∼", 0xA2: "′", 0xA3: "≤", 0xA5: "∞", 0xA7: "♣", 0xA8: "♦", 0xA9: "♥", 0xAA: "♠",
    0xAB: "↔", 0xAC: "←", 0xAD: "↑", 0xAE: "→", 0xAF: "↓", 0xB0: "°", 0xB1: "±", 0xB2: "″",
    0xB3: "≥", 0xB4: "×", 0xB6: "∂", 0xB7: "•", 0xB8: "÷", 0xB9: "≠", 0xBA: "≡", 0xBB: "≈",
    0xBC: "…", 0xC6: "∅", 0xC7: "∩", 0xC8: "∪", 0xC9: "⊃", 0xCC: "⊂", 0xCE: "∈", 0xCF: "∉",
    0xD2: "®", 0xD3: "©", 0xD4: "™", 0xD5: "∏", 0xD6: "√", 0xD7: "⋅", 0xD8: "¬", 0xD9: "∧",
    0xDA: "∨", 0xDB: "⇔", 0xDC: "⇐", 0xDD: "⇑", 0xDE: "⇒", 0xDF: "⇓", 0xE2: "®", 0xE3: "©",
    0xE4: "™", 0xE5: "∑", 0xF2: "∫",
}  # fmt: skip
_WINGDINGS = {
    0x21: "✏", 0x28: "☎", 0x2A: "✉", 0x46: "☞", 0x4A: "☺", 0x6C: "●", 0x6D: "❍", 0x6E: "■",
    0x6F: "□", 0x70: "❐", 0x71: "❑", 0x72: "❒", 0x75: "◆", 0x76: "❖", 0x77: "◆", 0x9F: "•",
    0xA0: "▪", 0xA1: "○", 0xA3: "◉", 0xA7: "▪", 0xA8: "☐", 0xAB: "★", 0xD8: "➢", 0xDF: "←",
    0xE0: "→", 0xE1: "↑", 0xE2: "↓", 0xE8: "➔", 0xF0: "⇨", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒",
    0xFE: "☑",
    **{0x80 + count: "⓪①②③④⑤⑥⑦⑧⑨⑩"[count] for count in range(11)},
}  # fmt: skip
_WINGDINGS_2 = {
    0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0xA3: "☐", 0x2A: "☐",
}  # fmt: skip
_FONTS = {"symbol": _SYMBOL, "wingdings": _WINGDINGS, "wingdings 2": _WINGDINGS_2}


def symbol(code: int, font: str | None) -> str:
    """The character that a symbol font draws for a code; empty where none is known."""
    table = _FONTS.get((font or "").casefold())
    plain = code - 0xF000 if 0xF000 <= code <= 0xF0FF else code
    if table is not None:
        return table.get(plain, "")
    if 0xF000 <= code <= 0xF0FF or code < 0x20 or 0xD800 <= code <= 0xDFFF or code > 0x10FFFF:
        return ""
    return chr(code)


def translate(text: str, font: str | None) -> str:
    """Text typed in a symbol font, and private characters, as the characters they show."""
    if (font or "").casefold() in _FONTS:
        return "".join(
            symbol(ord(char), font) if 0xF000 <= ord(char) <= 0xF0FF else char for char in text
        )
    return text
