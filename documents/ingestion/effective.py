"""The first day in force that a text names for itself: a suggestion, never taken over unasked.

Only where the text says that it takes effect, near its beginning or in its last lines; file
names and upload times are proof of nothing.
"""

from __future__ import annotations

import re
from datetime import date

_HEAD, _FOOT = 4_000, 1_500  # characters, in which such a sentence is looked for
_NAMES = """
    january jan 1 february feb 2 march mar 3 april apr 4 may 5 june jun 6 july jul 7 august aug 8
    september sep sept 9 october oct 10 november nov 11 december dec 12
"""
_MONTHS = {
    name: int(number)
    for names, number in re.findall(r"((?:[a-z]+\s+)+)(\d+)", _NAMES)
    for name in names.split()
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATES = (
    r"(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})",
    rf"(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month>{_MONTH})\.?,?\s+(?P<y>\d{{4}})",
    rf"(?P<month>{_MONTH})\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y>\d{{4}})",
)
_SAYS = (
    r"(?:takes?|took|comes?|came|enters?|entered)\s+(?:into\s+)?(?:effect|force)(?:\s+(?:on|from|as\s+of))?"
    r"|(?:is|are)\s+(?:effective|in\s+force|valid)\s+(?:on|from|as\s+of|since)"
    r"|with\s+effect\s+from|effective\s+(?:date|from|as\s+of|on)|in\s+force\s+(?:from|since)"
    r"|valid\s+from"
)
_ENGLISH = [re.compile(rf"(?:{_SAYS})\s*:?\s*(?:the\s+)?{shape}\b", re.I) for shape in _DATES]
_HAN = re.compile(
    r"自?\s*(?P<era>中華民國|民國)?\s*(?P<y>\d{2,4})\s*年\s*(?P<m>\d{1,2})\s*月\s*(?P<d>\d{1,2})\s*日"
    r"\s*起?\s*(?:施行|生效|實施|实施)"
)
_REPUBLIC = 1911  # the year before the first of the Republic of China's count


def effective_date_in(text: str) -> date | None:
    """The day from which a text says that it is in force; None where it says none, or several."""
    parts = (text[:_HEAD], text[max(len(text) - _FOOT, _HEAD) :])
    found = {
        day
        for part in parts
        for pattern in (*_ENGLISH, _HAN)
        for match in pattern.finditer(part)
        if (day := _day(match.groupdict())) is not None
    }
    return found.pop() if len(found) == 1 else None


def _day(given: dict[str, str | None]) -> date | None:
    year = int(given["y"] or 0)
    if given.get("era"):
        year += _REPUBLIC
    named = given.get("month")
    month = _MONTHS[named.lower()] if named else int(given.get("m") or 0)
    try:
        return date(year, month, int(given["d"] or 0)) if year > 1900 else None
    except ValueError:
        return None
