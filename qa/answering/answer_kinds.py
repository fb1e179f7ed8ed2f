"""Whether a sentence holds the sort of thing that a question asks for.

`How many days` needs a length of time, `who` a person or role, `phone number` digits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from documents.ingestion.analysis import content_words
from qa.answering.focus import (
    counts,
    defines_term,
    limits,
    measures,
    names_holder,
    only_frames,
    only_mentions,
)
from qa.answering.questions import Question, Wanted
from qa.answering.verify.addresses import find_addresses
from qa.answering.verify.quantities import Quantity, QuantityKind, find_quantities, fold

_ROLE: Final = re.compile(
    r"\b(?:manager|director|officer|head|chief|chair(?:man|woman|person)?|committee|board|"
    r"counsel|team|"
    r"department|human resources|hr|finance|legal|it|desk|reception|authority|supervisor|"
    r"president|secretary|"
    r"administrator|owner|employee|staff|council|partner|controller|processor|lead|executive|"
    r"panel|office|"
    r"everyone|anyone|nobody|person|people|member|approver|auditor|supplier|provider|contractor|"
    r"company|"
    r"colleague|user|customer|client|visitor|host|guest|applicant|student|tenant|landlord|union|"
    r"representative|secretary|registrar|clerk|doctor|physician|court|minister|commissioner|"
    r"regulator)s?\b|"
    r"主管|經理|经理|協理|协理|總監|总监|董事|委員會|委员会|部門|部门|部|處|处|科|室|單位|单位|"
    r"機關|机关|負責人|负责人|"
    r"人員|人员|員工|员工|專員|专员|主任|長|长|人(?=負責|核准|批准)|會議|公司|政府|法院",
    re.IGNORECASE,
)
_TIME_WORDS: Final = re.compile(
    r"\b(?:immediately|at once|without (?:undue )?delay|as soon as|before|after|until|when|once|"
    r"daily|weekly|"
    r"monthly|annually|yearly|every|each|today|tomorrow|monday|tuesday|wednesday|thursday|friday|"
    r"saturday|"
    r"sunday|weekend|january|february|march|april|june|july|august|september|october|november|"
    r"december|"
    r"noon|midnight|on the (?:first|last|same|following|next)|within|end of|beginning of|"
    r"promptly)\b|"
    r"立即|即時|當日|当日|次日|翌日|之前|以前|以後|之後|前|後|時|每[日週月年天]|月底|年底|年終|"
    r"年度終結|隨時",
    re.IGNORECASE,
)
_FREQUENCY: Final = re.compile(
    r"\b(?:every|each|once|twice|thrice|daily|weekly|monthly|quarterly|annual(?:ly)?|yearly|"
    r"times|per|"
    r"regularly|always|never|continuous(?:ly)?|hourly|nightly)\b|每|一次|二次|兩次|次|定期",
    re.IGNORECASE,
)
_MEANS: Final = re.compile(
    r"\b(?:means?|refers? to|is defined as|stands for|includes?|is an?|are|is the|is any)\b|係指|"
    r"系指|是指|指|謂|"
    r"稱為|称为|所稱|所称|以下簡稱|定義|定义",
    re.IGNORECASE,
)
_DEFINES: Final = re.compile(
    r"\b(?:means?|refers? to|is defined as|stands for)\b|係指|系指|是指|所稱.{1,20}[指為]|以下簡稱",
    re.IGNORECASE,
)
_COSTS: Final = re.compile(
    r"\b(?:costs?|price|fees?|charged?|pay|paid|claim|spend|deposit|fine|salary|allowance|budget|"
    r"expense|money|"
    r"amount|excess|bonus|large|big|value|sum|limit)\b|[元錢钱費费額额]",
    re.IGNORECASE,
)
_NAME: Final = re.compile(
    r"(?<=[a-z,;:] )(?!I\b)[A-Z][\w&-]+|[\"“‘「『《][^\"”’」』》]{2,40}[\"”’」』》]|"
    r"\b[A-Z][a-z]+[A-Z]\w+"
)
_NO_QUANTITY: Final = re.compile(
    r"\b(?:unlimited|no limit|free of charge|free|no fee|no charge|none|nothing|any number|"
    r"all costs|"
    r"no maximum|"
    r"not limited|in full|full|without (?:a )?limit|half)\b|免費|免费|不限|全額|全额|折半|照給|"
    r"照给|全部|實報實銷",
    re.IGNORECASE,
)


_NO_LIMIT: Final = re.compile(
    r"\b(?:unlimited|no (?:upper )?limit|any number|no maximum|not limited|none|"
    r"(?:no|not) more than one|at most one|only one|just one)\b|不限",
    re.IGNORECASE,
)
_UNTIL: Final = re.compile(
    r"(?:\b(?:until|till|by|before|to|through|later than|expir\w+:?)(?: the)?|[至迄到])\s*$",
    re.IGNORECASE,
)
_WHERE_IS: Final = re.compile(r"\W*where (?:is|are)\b", re.IGNORECASE)
_DENIES: Final = re.compile(r"\b(?:does|do|did|is|are|was) not\b", re.IGNORECASE)
_PLACE: Final = re.compile(
    r"\b(?:in|at|on|via|through|to the|inside|outside)\s+(?!(?:connection|order|addition|case|"
    r"accordance|context|the context|the same|respect|relation|writing|time|advance|general|"
    r"particular|behalf|any|no|least|"
    r"most|which|response|(?:the |a )?(?:location|place|venue|address|site)s? (?:where|of|at))\b)"
    r"(?P<place>(?:[\w'’-]+ ?){1,4})",
    re.IGNORECASE,
)


def fits(asked: Question, text: str, headings: Sequence[str] = ()) -> bool:
    """Whether `text`, which stands under `headings`, holds what `asked` wants."""
    if asked.term:
        return defines_term(asked.term, text, headings)
    if asked.role:
        return names_holder(asked.role, text)
    if asked.wanted is Wanted.PLACE:
        return _has_place(asked, text)
    if asked.wanted is Wanted.PERSON and _DENIES.search(text) and "not" not in asked.text.split():
        return False  # it says who does not
    if only_mentions(asked, text) or only_frames(asked, text):
        return False
    check = _CHECKS.get(asked.wanted)
    if asked.wanted is Wanted.MONEY and not _COSTS.search(asked.text):
        check = _has_count
    if check is None or not check(text):
        return check is None
    if asked.is_extent:
        return measures(asked, text)
    return asked.wanted is not Wanted.COUNT or bool(_NO_LIMIT.search(text)) or counts(asked, text)


def _quantities(text: str) -> list[Quantity]:
    labels = {QuantityKind.LABEL, QuantityKind.CODE}
    return [q for q in find_quantities(text) if q.kind not in labels]


def _has_money(text: str) -> bool:
    found = _quantities(text)
    is_priced = any(q.is_money or q.is_share or _is_fraction(q) for q in found)
    return is_priced or bool(_NO_QUANTITY.search(text))


def _is_fraction(quantity: Quantity) -> bool:
    """`one third of the wage`, 三分之一: a share as much as a percentage is."""
    return any(value.denominator > 1 for value in quantity.values) and not quantity.units


def _has_count(text: str) -> bool:
    return bool(_quantities(text)) or bool(_NO_QUANTITY.search(text))


def _has_countable(text: str) -> bool:
    """A number of things: no length of time, date or `twice a year`."""
    found = _quantities(text)
    is_number = any(q.kind is QuantityKind.NUMBER or q.is_share for q in found)
    return is_number or bool(_NO_LIMIT.search(text))


def _has_name(text: str) -> bool:
    return bool(_NAME.search(text))


def _has_duration(text: str) -> bool:
    found = _quantities(text)
    is_timed = any(
        q.is_duration or q.kind is QuantityKind.CLOCK or "age" in q.units or _is_end(q, text)
        for q in found
    )
    return is_timed or bool(
        re.search(r"\b(?:immediately|at once|without (?:undue )?delay|until|as long as|permanently|"
                  r"indefinitely|promptly|no longer than)\b|立即|即時|為限", text, re.IGNORECASE)
    )  # fmt: skip


def _is_end(quantity: Quantity, text: str) -> bool:
    """Whether it is a date up to which something lasts, not one on which it happened."""
    before = fold(text)[: quantity.start]
    return quantity.kind is QuantityKind.DATE and bool(_UNTIL.search(before))


def _has_time(text: str) -> bool:
    days = {QuantityKind.ORDINAL, QuantityKind.DATE}
    return (
        any(q.kind in days for q in _quantities(text))
        or _has_duration(text)
        or bool(_TIME_WORDS.search(text))
    )


def _has_place(asked: Question, text: str) -> bool:
    """Whether it names a place, address or channel besides the words of the question."""
    own = {stem for keyword in asked.keywords for stem in keyword.stems}
    is_thing = _WHERE_IS.match(asked.text) is not None  # it stands somewhere: nothing goes there
    return bool(find_addresses(text)) or any(
        not set(content_words(match["place"], "en")) <= own
        for match in _PLACE.finditer(text)
        if not (is_thing and match.group().casefold().startswith(("to", "via", "through")))
    )


def _has_frequency(text: str) -> bool:
    return bool(_FREQUENCY.search(text))


def _has_person(text: str) -> bool:
    return bool(_ROLE.search(text)) or bool(re.search(r"\b[A-Z][a-z]+ [A-Z][a-z]+\b", text))


def _has_contact(text: str) -> bool:
    return bool(find_addresses(text)) or bool(re.search(r"\d[\d \-]{2,}\d", text))


def _may_define(text: str) -> bool:
    return bool(_MEANS.search(text))


def defines(text: str) -> bool:
    """Whether `text` is in so many words a definition."""
    return bool(_DEFINES.search(text))


def enumerates(text: str) -> bool:
    """Whether `text` names several things."""
    return bool(re.search(r"[,、].{1,60}(?:\b(?:and|or)\b|[、及和或])|:.+;", text, re.IGNORECASE))


_CHECKS: Final[dict[Wanted, Callable[[str], bool]]] = {
    Wanted.MONEY: _has_money,
    Wanted.QUANTITY: limits,
    Wanted.COUNT: _has_countable,
    Wanted.DURATION: _has_duration,
    Wanted.TIME: _has_time,
    Wanted.FREQUENCY: _has_frequency,
    Wanted.PERSON: _has_person,
    Wanted.NAME: _has_name,
    Wanted.CONTACT: _has_contact,
    Wanted.DEFINITION: _may_define,
}
