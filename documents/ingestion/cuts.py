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
_CAPITALS = r"[A-Z]{4}[A-Z’'&-]*(?:[^\S\n][A-Z’'&-]+){0,7}"
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
    # The end of a sentence before a heading in capitals that such a label follows.
    rf"|(?<=[.;:!?”\"’)\]])[^\S\n]+(?=(?P<title>{_CAPITALS})[^\S\n]+{_DECIMAL}{_BEGINS})"
    rf"|(?<=[。；：」』）])[^\S\n]*(?={_HAN_ARTICLE}(?:之[一二三四五六七八九十]{{1,3}})?[^\S\n（(]"
    r"|[^\S\n]{0,2}第[^\S\n]*[一二三四五六七八九十\d]{1,4}[^\S\n]*章[^\S\n])"
)
# After one of these a number is a reference or an amount.
_NOT_AFTER = re.compile(
    r"(?:\b(?:(?:sub)?sections?|articles?|clauses?|paragraphs?|annex|schedule|exhibit|"
    r"appendix|parts?|chapter|rules?|see|pages?|item|step|version|form|table|figure|lot|"
    r"suite|room|and|or|to|of|in|than|least|within|the|by|under|january|february|march|april|may|"
    r"june|july|august|september|october|november|december)|\b(?:sec|art|para|nos?)\.?|[$€£,])$",
    re.IGNORECASE,
)
_LAST_WORDS = re.compile(r"(?P<first>[A-Z][\w'’&/-]*\s+)?(?P<last>\w[\w'’&/-]*)$")
_HOLDS_NUMBERS = re.compile(r"(\d{1,2})[.)]\s[^.;:]{1,80}?\s\1\.1\s")
_BARE_NUMBER = re.compile(r"\d{1,2}[.)]\s")
_LABEL_ALONE = re.compile(
    r"\s*(?:(?:ARTICLE|Article|SECTION|Section|EXHIBIT|Exhibit|SCHEDULE|Schedule)\s+)?"
    r"\(?(?:\d{1,3}(?:\.\d{1,3}){0,4}|[IVXLC]{1,6}|[A-Za-z]|[ivxl]{1,5})[.):]?\s*"
)
_LABEL_REACH = 24
_REACH = 24
_SMALL_WORD = "a|an|and|as|by|for|from|in|of|on|or|the|to|with"
_TITLED = re.compile(
    r"(?:(?<=[.;:!?”\"’)\]])[^\S\n]+|(?<=\n)|\A)"
    rf"(?P<title>[A-Z][\w'’&/-]*(?:[^\S\n](?:[A-Z][\w'’&/-]*|{_SMALL_WORD})){{0,6}})[^\S\n]+"
    r"(?P<number>\d{1,2})\.[^\S\n]+[\"“‘'(\[]?[A-Z]"
)
_MIN_TITLED = 4
_MAX_TITLED_STEP = 12


def titled_numbers(text: str) -> dict[int, int]:
    """Where titles stand before their numbers on one line: `Name 2. The business …`.

    Maps the offset of each title to that of its number. The titles differ and the numbers rise;
    a word that counts (`Principle 1. …  Principle 2. …`) is no title.
    """
    found: dict[int, int] = {}
    seen: set[str] = set()
    last = 0
    for match in _TITLED.finditer(text):
        step = int(match["number"]) - last
        title = match["title"]
        if title in seen or _NOT_AFTER.search(title) or not 0 < step <= _MAX_TITLED_STEP:
            continue
        seen.add(title)
        last += step
        found[match.start("title")] = match.start("number")
    return found if len(found) >= _MIN_TITLED else {}


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
        if match["title"] and _NOT_AFTER.search(match["title"]):
            continue  # `EXCEPT AS PROVIDED IN SECTIONS 9.1 …`
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
    is_sure = is_sure or _HOLDS_NUMBERS.match(raw, following) is not None
    return is_sure or _BARE_NUMBER.match(raw, following) is None
