"""Numbers as people write them: digits, English words, Chinese numerals.

Every reader here returns the set of values that a spelling may have: `1.800` is 1800 to a
German and 1.8 to a Briton, and a check that compares sets needs no guess. Values are
fractions, so 0.1 + 0.2 is 0.3 and three quarters is exact.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

_UNITS: Final = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13,
    "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18,
    "nineteen": 19,
}  # fmt: skip
_TENS: Final = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70,
    "eighty": 80, "ninety": 90,
}  # fmt: skip
_SCALES: Final = {
    "hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000,
}  # fmt: skip
ORDINALS: Final = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
    "eighth": 8, "ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13,
    "fourteenth": 14, "fifteenth": 15, "twentieth": 20, "thirtieth": 30,
}  # fmt: skip
_SMALL: Final = "|".join(sorted([*_UNITS, *_TENS], key=len, reverse=True))
_BIG: Final = "|".join(_SCALES)
ENGLISH_NUMBER: Final = (
    rf"(?:a (?={_BIG}))?(?:{_SMALL}|(?:(?<=\ba )(?:{_BIG})))"
    rf"(?:(?:[ -]| and )(?:{_SMALL}|{_BIG})\b)*"
)
MULTIPLIERS: Final = {
    "k": 1_000, "thousand": 1_000, "m": 1_000_000, "mn": 1_000_000, "million": 1_000_000,
    "bn": 1_000_000_000, "billion": 1_000_000_000, "hundred": 100, "trillion": 10**12,
    "十": 10, "百": 100, "千": 1_000, "萬": 10_000, "万": 10_000, "億": 10**8, "亿": 10**8,
    "百萬": 10**6, "百万": 10**6, "千萬": 10**7, "千万": 10**7,
}  # fmt: skip
# Digits with marks between them; never starts or ends with a mark.
DIGITS: Final = r"\d{1,3}(?:[ '’]\d{3})+(?:[.,]\d+)?(?![\d])|\d+(?:[.,]\d+)*"

_CHINESE_DIGITS: Final = {
    "零": 0, "〇": 0, "○": 0, "一": 1, "二": 2, "兩": 2, "两": 2, "三": 3, "四": 4, "五": 5,
    "六": 6, "七": 7, "八": 8, "九": 9, "壹": 1, "貳": 2, "贰": 2, "參": 3, "叁": 3, "肆": 4,
    "伍": 5, "陸": 6, "陆": 6, "柒": 7, "捌": 8, "玖": 9,
}  # fmt: skip
_CHINESE_SMALL: Final = {"十": 10, "百": 100, "千": 1_000, "拾": 10, "佰": 100, "仟": 1_000}
_CHINESE_BIG: Final = {"萬": 10_000, "万": 10_000, "億": 10**8, "亿": 10**8}
_CHINESE_TENS: Final = {"廿": "二十", "卅": "三十", "卌": "四十"}
CHINESE_NUMBER: Final = (
    "[" + "".join([*_CHINESE_DIGITS, *_CHINESE_SMALL, *_CHINESE_BIG, *_CHINESE_TENS]) + "]+"
)
_GROUPED = re.compile(r"\d{1,3}(?:([,.'’ ])\d{3})(?:\1\d{3})*")


def digit_values(text: str) -> frozenset[Fraction]:
    """The values that a number written in digits may have; empty when it has none.

    A mark followed by exactly three digits groups them; a dot there may also be a decimal
    mark. With both marks present the last one is the decimal mark.
    """
    text = re.sub(r"(?<=\d)[ '’](?=\d)", "", text)
    marks = [character for character in text if character in ",."]
    if not marks:
        return frozenset({Fraction(text)})
    if len(set(marks)) == 2:  # both marks: the last one is the decimal mark
        last = marks[-1]
        if marks.count(last) > 1:
            return frozenset()
        whole, _, decimals = text.rpartition(last)
        return frozenset({Fraction(f"{re.sub('[,.]', '', whole)}.{decimals}")})
    return _one_kind_of_mark(text, marks)


def _one_kind_of_mark(text: str, marks: list[str]) -> frozenset[Fraction]:
    grouped = Fraction(re.sub("[,.]", "", text))
    is_grouped = _GROUPED.fullmatch(text) is not None and not text.startswith("0")
    if len(marks) > 1:
        return frozenset({grouped}) if is_grouped else frozenset()
    decimal = Fraction(text.replace(",", "."))
    if not is_grouped:
        return frozenset({decimal})
    return frozenset({grouped}) if marks[0] == "," else frozenset({grouped, decimal})


def english_value(text: str) -> Fraction | None:
    """The value of a number in English words (`one hundred and twenty`), or None."""
    total = current = 0
    for word in re.findall(r"[a-z]+", text.casefold()):
        if word in _UNITS or word in _TENS:
            current += _UNITS.get(word, _TENS.get(word, 0))
        elif word == "hundred":
            current = max(current, 1) * 100
        elif word in _SCALES:
            total += max(current, 1) * _SCALES[word]
            current = 0
        elif word not in {"a", "and"}:
            return None
    return Fraction(total + current)


def chinese_value(text: str) -> Fraction | None:
    """The value of a number in Chinese numerals (`一千八百`, `廿一`, `二〇二五`), or None."""
    for short, long in _CHINESE_TENS.items():
        text = text.replace(short, long)
    if all(character in _CHINESE_DIGITS for character in text):
        return Fraction(int("".join(str(_CHINESE_DIGITS[character]) for character in text)))
    total = section = digit = 0
    for character in text:
        if character in _CHINESE_DIGITS:
            digit = _CHINESE_DIGITS[character]
        elif character in _CHINESE_SMALL:
            section += (digit or 1) * _CHINESE_SMALL[character]
            digit = 0
        elif character in _CHINESE_BIG:
            total = (total + section + digit or 1) * _CHINESE_BIG[character]
            section = digit = 0
        else:
            return None
    return Fraction(total + section + digit)
