"""Numbers as they are written in labels: Arabic, roman, Chinese, and words that count."""

from __future__ import annotations

import re
import unicodedata

HAN_DIGITS = "〇零一二三四五六七八九十百千兩两廿卅"
FORMAL_HAN_DIGITS = "壹貳贰參叁参肆伍陸陆柒捌玖拾"
_FORMAL = str.maketrans(FORMAL_HAN_DIGITS, "一二二三三三四五六六七八九十")
_ROMAN_DIGITS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_ROMAN = re.compile(r"(?=.)M{0,3}(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})")
_ORDINALS = (
    "first premier première premiere 1er erster erste erstes primero primera primer primo prima",
    "second deuxième deuxieme zweiter zweite zweites segundo segunda secondo seconda",
    "third troisième troisieme dritter dritte drittes tercero tercera terzo terza",
    "fourth quatrième vierter vierte viertes cuarto cuarta quarto quarta",
    "fifth cinquième fünfter fünfte fünftes quinto quinta",
    "sixth sixième sechster sechste sechstes sexto sexta sesto sesta",
    "seventh septième siebter siebte siebtes séptimo séptima settimo settima",
    "eighth huitième achter achte achtes octavo octava ottavo ottava",
    "ninth neuvième neunter neunte neuntes noveno novena nono nona",
    "tenth dixième zehnter zehnte zehntes décimo décima decimo decima",
    "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth",
    "sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth",
)  # fmt: skip
_CARDINALS = """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty
"""
# Words that count, to their number: those of a row (`first`), and those of an amount (`one`).
ORDINALS = {word: value for value, words in enumerate(_ORDINALS, 1) for word in words.split()}
CARDINALS = {word: value for value, word in enumerate(_CARDINALS.split(), 1)}
# After a number that was taken: `Article 5 bis`.
LATIN_SUFFIXES = {"bis": 1, "ter": 2, "quater": 3, "quinquies": 4, "sexies": 5, "septies": 6}


def roman_value(number: str) -> int | None:
    """The value of a well-formed roman numeral in capitals, else None."""
    if not _ROMAN.fullmatch(number):
        return None
    digits = [_ROMAN_DIGITS[char] for char in number]
    pairs = zip(digits, [*digits[1:], 0], strict=True)
    return sum(-digit if digit < following else digit for digit, following in pairs)


def roman_numeral(value: int) -> str:
    """A number below 4000 in small roman numerals."""
    signs = zip(
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        ("m", "cm", "d", "cd", "c", "xc", "l", "xl", "x", "ix", "v", "iv", "i"),
        strict=True,
    )
    written = ""
    for worth, sign in signs:
        written += sign * (value // worth)
        value %= worth
    return written


def han_value(number: str) -> int:
    """The value of a Chinese or Arabic numeral below ten thousand (`五十三`, `壹佰`, `53`)."""
    normal = unicodedata.normalize("NFKC", number).translate(_FORMAL)
    if normal.isascii():
        return int(normal)
    total, digit = 0, 0
    values = dict(zip("〇零一二三四五六七八九兩两", [0, *range(10), 2, 2], strict=True))
    units = {"十": 10, "百": 100, "千": 1000}
    if not set(normal) & (set(units) | set("廿卅")):
        return int("".join(str(values[char]) for char in normal))
    for char in normal:
        if char in units:
            total, digit = total + (digit or 1) * units[char], 0
        elif char in "廿卅":
            total += 20 if char == "廿" else 30
        else:
            digit = values[char]
    return total + digit


def han_numeral(value: int) -> str:
    """A number from 1 to 9999 as Chinese writes it in a label: `五十三`, `一百零二`."""
    digits = "零一二三四五六七八九"
    written, pending = "", False
    for worth, unit in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit, value = divmod(value, worth)
        if digit:
            written += ("零" if pending and written else "") + digits[digit] + unit
        pending = bool(written) and not digit
    return written.removeprefix("一") if written.startswith("一十") else written
