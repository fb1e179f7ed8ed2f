"""Where a printed line that lost its line breaks should have had them.

Text taken from paper or from the web often holds whole pages on one line: `… in writing.
1.2 Term. This Agreement …`. A cut is only a place where a section could begin; whether one
does is for `headings` to decide, which asks more of such a place than of a line's beginning.
"""

from __future__ import annotations

import re

_MIN_LENGTH = 160  # a line as printed is shorter
_DECIMAL = r"(?:\d{1,2}(?:\.\d{1,3}){1,4}\.?|\d{1,2}[.)]|\d{1,2}\.\d{1,2}[.)])"
_WORDED = (
    r"(?:(?:ARTICLE|Article|SECTION|Section|CLAUSE|Clause|§)[^\S\n]*"
    r"(?:[IVXLC]{1,6}|\d{1,3}(?:\.\d{1,3})*)[a-z]?(?:[.:]|[^\S\n]*[–—-]|(?=[^\S\n]+[A-Z])))"
)
_BEGINS = r"[^\S\n]+[\"“‘'(\[]?[A-Z]"
_HAN_ARTICLE = (
    r"第[^\S\n]*[〇零一二三四五六七八九十百千兩\d]{1,9}(?:[^\S\n]*[之-][^\S\n]*\d{1,3})?[^\S\n]*條"
)
_CUT = re.compile(
    # A wide gap before words that do not go on with a sentence.
    r"(?<=\S)[^\S\n]{3,}(?=[A-Z0-9\"“‘(\[§第])"
    # The end of a sentence, heading or item before a label that words follow.
    rf"|(?<=[.;:!?”\"’)\]])[^\S\n]+(?=(?:{_DECIMAL}|{_WORDED}){_BEGINS})"
    # A heading or page foot without a full stop before such a label.
    rf"|(?<=[A-Za-z0-9])[^\S\n]+(?={_DECIMAL}{_BEGINS})"
    rf"|(?<=[。；：」』）])[^\S\n]*(?={_HAN_ARTICLE}(?:之[一二三四五六七八九十]{{1,3}})?[^\S\n（(]"
    r"|[^\S\n]{0,2}第[^\S\n]*[一二三四五六七八九十\d]{1,4}[^\S\n]*章[^\S\n])"
)
# After one of these a number is a reference or an amount.
_NOT_AFTER = re.compile(
    r"(?:\b(?:sections?|sec|articles?|art|clauses?|paragraphs?|para|annex|schedule|exhibit|"
    r"appendix|parts?|chapter|rules?|see|pages?|nos?|item|step|version|form|table|figure|lot|"
    r"suite|room|and|or|to|of|in|than|least|within|the|by|under|january|february|march|april|may|"
    r"june|july|august|september|october|november|december)\.?|[$€£,])$",
    re.IGNORECASE,
)
_LAST_WORDS = re.compile(r"(?P<first>[A-Z][\w'’&/-]*\s+)?(?P<last>\w[\w'’&/-]*)$")
_BARE_NUMBER = re.compile(r"\d{1,2}[.)]\s")
_LABEL_ALONE = re.compile(
    r"\s*(?:(?:ARTICLE|Article|SECTION|Section|EXHIBIT|Exhibit|SCHEDULE|Schedule)\s+)?"
    r"\(?(?:\d{1,3}(?:\.\d{1,3}){0,4}|[IVXLC]{1,6}|[A-Za-z]|[ivxl]{1,5})[.):]?\s*"
)
_LABEL_REACH = 24
_REACH = 24


def cut_points(raw: str) -> list[int]:
    """Offsets in `raw`, one printed line, at which a section could begin, in order."""
    if len(raw) < _MIN_LENGTH:
        return []
    points: list[int] = []
    last = 0
    for match in _CUT.finditer(raw):
        if match.start() - last <= _LABEL_REACH and _LABEL_ALONE.fullmatch(
            raw, last, match.start()
        ):
            continue  # the wide gap after a label
        if _may_end(raw, match.start(), match.end()):
            last = match.end()
            points.append(last)
    return points


def _may_end(raw: str, end: int, following: int) -> bool:
    """Whether the words before can end there: a sentence, or a heading without a full stop.

    A single word in capitals is no heading before a bare number: `Principle 1. A person …`.
    """
    before = raw[max(end - _REACH, 0) : end]
    if _NOT_AFTER.search(before):
        return False
    words = _LAST_WORDS.search(before)
    if words is None:
        return True
    if words["last"][0].islower():
        return False
    is_sure = words["last"].isupper() or words["last"].isdigit() or bool(words["first"])
    return is_sure or _BARE_NUMBER.match(raw, following) is None
