"""CSS colours as far as it takes to see that text has the colour of what lies behind it."""

from __future__ import annotations

import re

Colour = tuple[int, int, int]

BLACK: Colour = (0, 0, 0)
WHITE: Colour = (255, 255, 255)
_NAMED: dict[str, Colour] = {
    "black": BLACK,
    "white": WHITE,
    "snow": (255, 250, 250),
    "ghostwhite": (248, 248, 255),
    "ivory": (255, 255, 240),
    "floralwhite": (255, 250, 240),
    "whitesmoke": (245, 245, 245),
    "red": (255, 0, 0),
    "green": (0, 128, 0),
    "blue": (0, 0, 255),
    "navy": (0, 0, 128),
    "yellow": (255, 255, 0),
    "gray": (128, 128, 128),
    "grey": (128, 128, 128),
    "silver": (192, 192, 192),
    "lightgray": (211, 211, 211),
    "lightgrey": (211, 211, 211),
}
_HEX = re.compile(r"#?([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})\Z")
_FUNCTION = re.compile(r"(rgb|hsl)a?\(([^)]*)\)")
_NUMBER = re.compile(r"-?\d*\.?\d+%?")
_SAME = 20  # of 255 a channel: nobody reads such a difference


def parse_colour(value: str) -> Colour | None:
    """A colour; None where it is transparent or not known here."""
    value = value.strip()
    if value in _NAMED:
        return _NAMED[value]
    match = _HEX.match(value)
    if match:
        return _from_hex(match[1])
    function = _FUNCTION.match(value)
    return _from_function(function[1], _NUMBER.findall(function[2])) if function else None


def is_transparent(value: str) -> bool:
    """Whether text in this colour cannot be seen on any ground."""
    if value.strip() == "transparent":
        return True
    function = _FUNCTION.match(value.strip())
    numbers = _NUMBER.findall(function[2]) if function else []
    if len(numbers) == 4:
        return float(numbers[3].rstrip("%")) < (5 if numbers[3].endswith("%") else 0.05)
    match = _HEX.match(value.strip())
    return match is not None and len(match[1]) in (4, 8) and match[1][-1] == "0"


def looks_like(text: Colour, ground: Colour) -> bool:
    """Whether a person cannot tell text of this colour from its ground."""
    return all(abs(a - b) <= _SAME for a, b in zip(text, ground, strict=True))


def _from_hex(digits: str) -> Colour:
    if len(digits) in (3, 4):
        digits = "".join(2 * digit for digit in digits)
    return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:6], 16)


def _from_function(name: str, numbers: list[str]) -> Colour | None:
    if len(numbers) < 3 or is_transparent(f"{name}({','.join(numbers)})"):
        return None
    values = [float(number.rstrip("%")) for number in numbers[:3]]
    if name == "hsl":  # only what has no hue of its own
        grey = round(values[2] * 2.55)
        is_grey = values[1] == 0 or not 2 < values[2] < 98
        return (grey, grey, grey) if is_grey else None
    scaled = [
        round(value * 2.55) if number.endswith("%") else round(value)
        for value, number in zip(values, numbers[:3], strict=True)
    ]
    return scaled[0], scaled[1], scaled[2]
