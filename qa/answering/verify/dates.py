"""Calendar dates in text: `4 March 2025`, `2027-02-28`, `05/06/2025`, `民國114年3月4日`.

A spelling may have several readings (day or month first); a reading may lack parts
(`February 2027`, `31 May`). The numbers check compares readings, not spellings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import Final

from qa.answering.verify import numerals

_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        [
            "january jan", "february feb", "march mar", "april apr", "may", "june jun",
            "july jul", "august aug", "september sept sep", "october oct", "november nov",
            "december dec",
        ],
        start=1,
    )
    for name in names.split()
}  # fmt: skip
MONTH: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DAY: Final = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<y>\d{4})"
_CN: Final = r"(?:\d{1,4}|[零〇○一二三四五六七八九十廿卅百]{1,6})"
_PATTERNS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?<![\d.])(?P<y>\d{4})(?P<s>[-/.])(?P<m>\d{1,2})(?P=s)(?P<d>\d{1,2})(?![\d])",
        rf"\b{_DAY}(?: of)?[ -](?P<mn>{MONTH})\b\.?(?:,?[ -]{_YEAR}\b)?",
        rf"\b(?P<mn>{MONTH})\b\.? {_DAY}\b(?!:)(?:,? {_YEAR}\b)?",
        rf"\b(?P<mn>{MONTH})\b\.?,? {_YEAR}\b",
        r"(?<![\d.])(?P<a>\d{1,2})(?P<s>[-/.])(?P<b>\d{1,2})(?P=s)(?P<y>\d{4}|\d{2})(?![\d])",
        rf"(?P<roc>(?:中華|中华)?民[國国] ?)?(?P<cy>{_CN}) ?年 ?(?P<cm>{_CN}) ?月"
        rf"(?: ?(?P<cd>{_CN}) ?[日號号])?",
        rf"(?P<cm>{_CN}) ?月 ?(?P<cd>{_CN}) ?[日號号]",
    )
)
_ROC_EPOCH: Final = 1911


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a date; a part that is not written is None."""

    year: int | None
    month: int | None
    day: int | None

    def covers(self, other: Reading) -> bool:
        """Whether every part that `other` writes is written here with the same value."""
        pairs = ((self.year, other.year), (self.month, other.month), (self.day, other.day))
        return all(theirs is None or ours == theirs for ours, theirs in pairs)


def find_dates(text: str) -> list[tuple[int, int, frozenset[Reading]]]:
    """Dates in `text` (NFKC) as (start, end, readings), in order, without overlaps."""
    found: list[tuple[int, int, frozenset[Reading]]] = []
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if any(start < match.end() and match.start() < end for start, end, _ in found):
                continue
            readings = frozenset(r for r in _readings(match) if _is_possible(r))
            if readings:
                found.append((match.start(), match.end(), readings))
    return sorted(found, key=lambda item: item[0])


def _readings(match: re.Match[str]) -> list[Reading]:
    groups = match.groupdict()
    if "cm" in groups:
        return _chinese_readings(groups)
    year = int(groups["y"]) if groups.get("y") else None
    if groups.get("a"):
        return _numeric_readings(groups, year or 0)
    if groups.get("mn"):
        if groups["mn"] in {"may", "march"}:  # the verbs, not the months
            return []
        month = _MONTHS[(groups["mn"] or "").casefold()]
    else:
        month = int(groups["m"])
    day = int(groups["d"]) if groups.get("d") else None
    return [Reading(year, month, day)]


def _numeric_readings(groups: dict[str, str | None], year: int) -> list[Reading]:
    first, second = int(groups["a"] or 0), int(groups["b"] or 0)
    if len(groups["y"] or "") == 2:
        year += 2000
    readings = [Reading(year, second, first)]
    if groups["s"] != ".":  # a dotted date is day first wherever it is used
        readings.append(Reading(year, first, second))
    return readings


def _chinese_readings(groups: dict[str, str | None]) -> list[Reading]:
    year, month, day = (_chinese_part(groups.get(key)) for key in ("cy", "cm", "cd"))
    if groups.get("roc") and year is not None:
        return [Reading(year + _ROC_EPOCH, month, day)]
    if year is not None and 80 <= year <= 200:  # years of the Republic, written without its name
        return [Reading(year + _ROC_EPOCH, month, day)]
    return [Reading(year, month, day)]


def _chinese_part(text: str | None) -> int | None:
    if not text:
        return None
    if text.isdigit():
        return int(text)
    value = numerals.chinese_value(text)
    return None if value is None else int(value)


def _is_possible(reading: Reading) -> bool:
    try:
        date(reading.year or 2000, reading.month or 1, reading.day or 1)
    except ValueError:
        return False
    return reading.year is None or reading.year >= 1000
