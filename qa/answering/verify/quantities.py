"""The quantities in a text: amounts with their units, dates, clock times, clause numbers.

`find_quantities` reads English and Chinese, digits and words. Two quantities agree when
`Quantity.agrees_with` says so: same kind of thing, a value in common, units that do not
differ. The numbers check asks that of each quantity of a claim against the cited passage.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import Final

from qa.answering.verify import dates, numerals, units
from qa.answering.verify.dates import Reading


class QuantityKind(StrEnum):
    """What sort of quantity it is."""

    NUMBER = "number"  # counts, and anything whose unit is unknown
    MEASURE = "measure"  # a duration, share, amount of money, weight…
    DATE = "date"
    CLOCK = "clock"
    LABEL = "label"  # a clause, section or article number
    CODE = "code"  # W-2, AES-256
    ORDINAL = "ordinal"


@dataclass(frozen=True, slots=True)
class Quantity:
    """One quantity; `start` and `end` count in the NFKC form of the text."""

    kind: QuantityKind
    text: str
    start: int
    end: int
    values: frozenset[Fraction] = frozenset()
    units: frozenset[str] = frozenset()
    per: frozenset[str] = frozenset()
    bound: str = ""  # "max", "min" or none
    readings: frozenset[Reading] = frozenset()
    label: str = ""

    @property
    def is_money(self) -> bool:
        """Whether this is an amount of money."""
        return bool(self.units & units.CURRENCIES)

    @property
    def is_duration(self) -> bool:
        """Whether this is a length of time."""
        return bool(self.units & units.DURATIONS)

    @property
    def is_share(self) -> bool:
        """Whether this is a percentage."""
        return self.units == units.PERCENT

    def agrees_with(self, source: Quantity) -> bool:
        """Whether this quantity of a claim is the one that `source` states."""
        kinds = (self.kind, source.kind)
        if QuantityKind.DATE in kinds:
            return self._agrees_as_date(source)
        if self.kind in {QuantityKind.LABEL, QuantityKind.CODE}:
            return self.label == source.label and bool(self.label)
        if QuantityKind.CLOCK in kinds and kinds[0] is not kinds[1]:
            return False
        return bool(self.values & source.values) and self._units_agree(source)

    def _agrees_as_date(self, source: Quantity) -> bool:
        if self.kind is QuantityKind.DATE:
            return any(s.covers(c) for s in source.readings for c in self.readings)
        is_plain = self.kind is QuantityKind.NUMBER and not self.units
        return is_plain and any(Fraction(r.year or 0) in self.values for r in source.readings)

    def _units_agree(self, source: Quantity) -> bool:
        if self.per and source.per and not self.per & source.per:
            return False
        if self.units & source.units:
            return True
        if not self.units and not source.units:
            return True
        if not self.units:  # a bare number may stand for money, an age or a count: no more
            return source.is_money or source.units <= {"age", "times"}
        both = self.units | source.units
        return both == {"age", "year"} or (not source.units and self.units <= {"age", "times"})


# Read in this order: "not less than" must be met before the "less than" inside it.
_BOUND_BEFORE: Final = (
    ("max", r"(?:no|not|not be|never) (?:more|later|longer|greater|higher|older|above|over)"
            r"(?: than)?|not (?:to )?exceed(?:ing)?|不超過|不超过|不得超過|不得超过|不逾|不得逾"),
    ("min", r"(?:no|not|not be|never) (?:less|fewer|earlier|shorter|lower|younger|below|under)"
            r"(?: than)?|不得少於|不得少于|不少於|不少于|不低於|不得低於"),
    ("max", r"up to|within|at most|(?:a )?maximum(?: of)?|below|under|less than|fewer than|"
            r"shorter than|lower than|younger than|before|until|by|最多|至多|上限為|上限为|未滿|"
            r"未满"),
    ("min", r"at least|(?:a )?minimum(?: of)?|more than|over|above|exceed(?:s|ed|ing)?|"
            r"(?:longer|older|greater|higher|later) than|after|beyond|from|至少|最少|超過|超过|"
            r"逾|滿|满"),
)  # fmt: skip
_BOUND_AFTER: Final = (
    ("max", r"or less|or fewer|or under|or below|or earlier|at most|以下|"
            r"以內|以内|之內|之内|內|内|未滿|未满|為限|以前|前"),
    ("min", r"or more|or over|or above|or older|or longer|or later|and over|"
            r"and above|以上|以後|之後|後|起"),
)  # fmt: skip
_BEFORE = tuple(
    (bound, re.compile(rf"(?:\b|(?<=[^\x00-\x7f]))(?:{words})(?:\s+(?:the|a|an|age|of|"
                       rf"新臺幣))*\s*$",
                       re.IGNORECASE))
    for bound, words in _BOUND_BEFORE
)  # fmt: skip
_AFTER = tuple(
    (bound, re.compile(rf"\s*(?:{words})(?![A-Za-z])", re.IGNORECASE))
    for bound, words in _BOUND_AFTER
)
_FILLER: Final = "\ue000"  # stands where a number said twice was: `thirty (30) days`
_SAID_TWICE = re.compile(
    rf"(?<=[a-z\d])(?P<gap>[ ]?)\((?:\d{{1,4}}|{numerals.ENGLISH_NUMBER})\)", re.IGNORECASE
)
_AMOUNT = re.compile(
    rf"(?<![\w.,])(?P<neg>[-−](?=[\d£€$]))?(?:(?P<pre>{units.PREFIX})[ ]?)?"
    rf"(?P<num>{numerals.DIGITS})(?P<ord>(?:st|nd|rd|th)\b)?"
    rf"(?:[ -]?(?P<mul>(?:million|billion|thousand|hundred|trillion|bn|mn|[kKm])\b(?!\.?\w)|"
    rf"[十百千]?[萬万億亿]|[百千](?=[元名人])))?"
    rf"{_FILLER}*"
    rf"(?:(?:[ -]{{0,2}}|[ ]?\()(?:(?:full|clear|consecutive|whole|more|further|additional|extra|"
    rf"paid|unpaid|other)[ ])?"
    rf"(?P<unit>{units.SUFFIX}))?"
)
_WORDS = re.compile(
    rf"\b(?P<half>half[ -](?:a[ -]|an[ -])?)?(?P<num>{numerals.ENGLISH_NUMBER})\b"
    rf"(?P<andhalf> and a half)?{_FILLER}*"
    rf"(?:[ -]{{1,2}}(?:(?:full|clear|consecutive|whole|more|further|additional|extra|paid|"
    rf"unpaid|other)[ ])?"
    rf"(?P<unit>{units.SUFFIX}))?",
    re.IGNORECASE,
)
_HALF = re.compile(
    r"\bhalf[ -](?:an?[ -])?(?P<unit>days?|hours?|years?|months?)\b|半(?:個|个)?(?P<cn>小時|小时|"
    r"天|日|年|月)",
    re.IGNORECASE,
)
_A_UNIT = re.compile(r"\b(?:an?|each|every) (?P<unit>day|week|month|year|hour|minute)\b", re.I)
_FRACTION = re.compile(
    r"(?<![\d/])(?P<a>\d{1,3})[/⁄](?P<b>\d{1,3})(?![\d/])|"
    r"(?<!and )\b(?P<wa>one|two|three|a|four)[ -](?P<wb>half|third|thirds|quarter|quarters|"
    r"fifths?|tenths?)\b|"
    rf"(?P<cb>{numerals.CHINESE_NUMBER})分之(?P<ca>{numerals.CHINESE_NUMBER}|\d+(?:\.\d+)?)|"
    r"百分之(?P<pa>\d+(?:\.\d+)?)",
    re.IGNORECASE,
)
_DENOMINATORS: Final = {"half": 2, "third": 3, "quarter": 4, "fifth": 5, "tenth": 10}
_CHINESE = re.compile(
    rf"(?P<pre>{units.PREFIX})?[ ]?(?P<num>{numerals.CHINESE_NUMBER})(?P<unit>{units.SUFFIX})?"
    r"(?P<counter>[個个名人件份本冊册項项款條条張张台臺輛辆位種种組组級级倍])?"
)
_CLOCK = re.compile(
    r"(?<![\d:])(?P<h>\d{1,2})[:.](?P<mi>[0-5]\d)(?![\d:])(?:[ ]?(?P<ap>[ap])\.?m\b\.?)?|"
    r"\b(?P<h2>\d{1,2})[ ]?(?P<ap2>[ap])\.?m\b\.?|\b(?P<word>noon|midnight)\b|"
    r"(?P<cap>上午|下午|晚上|中午|凌晨)?[ ]?(?P<ch>\d{1,2}|"
    r"[一二三四五六七八九十廿]{1,3})[時时點点](?!間|间|數|数)"
    r"(?:(?P<cm>\d{1,2}|[一二三四五六七八九十]{1,3})分|(?P<chalf>半))?",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"\b(?:sections?|clauses?|articles?|paragraphs?|para\.|art\.|sec\.|parts?|chapters?|annex|"
    r"appendix|schedule|rule|item|§+)[ ]?(?P<n>\d+[a-z]?(?:\.\d+)*(?:\([a-z0-9]+\))*)"
    r"(?![\d%])(?! (?:days|hours|weeks|months|years|euros|pounds|dollars)\b)|"
    r"(?P<sign>§+)[ ]?(?P<sn>\d+[a-z]?(?:\.\d+)*)|"
    rf"第[ ]?(?P<cn>\d+|{numerals.CHINESE_NUMBER})[ ]?[條条章節节項项款目點点編编]"
    rf"(?:[ ]?之[ ]?(?P<sub>\d+|{numerals.CHINESE_NUMBER}))?",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"(?<![\w-])(?=[A-Za-z]{1,8}-?\d)(?P<code>[A-Za-z]{1,8}-?\d[\dA-Za-z-]*)(?![\w])"
)
# A line break inside a hard-wrapped sentence: what follows starts no item, row or sentence.
# A capital starts none either where it begins the month of the day before it.
_WRAP: Final = re.compile(
    r"(?<=[^\n.:;|!?])\n(?=[a-z0-9(£€$%])(?!\d+[.)]\s|\([a-z\d]{1,3}\)\s)|"
    rf"(?<=\d)\n(?=(?i:{dates.MONTH})\b)"
)
_ADDRESS = re.compile(r"\S+@\S+|\b[a-z][a-z0-9+.-]*://\S+|\b(?:\d{1,3}\.){3}\d{1,3}\b\S*", re.I)
_ORDINAL = re.compile(
    rf"(?<!at )\b(?P<word>{'|'.join(numerals.ORDINALS)})\b(?! of all)(?=[ -][a-z]|\W*$)",
    re.IGNORECASE,
)
_TIMES = re.compile(r"\b(?P<word>once|twice|thrice)\b", re.IGNORECASE)
_PER = re.compile(
    r"^[ ,]{0,2}(?:\([^()]{0,20}\) )?(?:per|an?|each|every|/)[ ]?(?:\w+[ ])?(?P<per>"
    + "|".join(word for word in units.PER_WORDS if word.isascii())
    + r")\b|^ (?P<adverb>daily|weekly|monthly|quarterly|yearly|annually|hourly)\b"
    r"|^ ?/ ?(?P<cn>[日天週周月年人次])",
    re.IGNORECASE,
)
_CHINESE_PER = re.compile(r"(?:每[一]?[人名位件冊册]?|按)(?P<per>小時|小时|[日天週周月年人次])")
_CLAUSE_END = re.compile(r"[。；;，,\n]")
_TABLE_UNIT = re.compile(r"\((?P<unit>[^()\d]{1,24})\)|\bin (?P<word>[a-z]+)\b", re.IGNORECASE)


def fold(text: str) -> str:
    """The form that `find_quantities` reads: NFKC, plain dashes and blanks, no hidden marks."""
    text = unicodedata.normalize("NFKC", text)
    text = re.sub(r"[\u00ad\u200b-\u200f\u2060\ufeff]", "", text)
    text = re.sub(r"[\u2010-\u2015\u2212]", "-", re.sub(r"[^\S\n]", " ", text))
    return _WRAP.sub(" ", text)


def find_quantities(text: str) -> tuple[Quantity, ...]:
    """All quantities in `text`, in order and without overlaps.

    Web and mail addresses hold none: the output policy looks at those.
    """
    text = fold(text)
    masked = _ADDRESS.sub(lambda match: " " * len(match.group()), text)
    masked = _SAID_TWICE.sub(lambda match: _without_repetition(match, masked), masked)
    found: list[Quantity] = []
    for reader in (
        _labels, _dates, _clock_times, _fractions, _halves, _codes, _amounts, _in_words, _chinese,
        _ordinals, _articles,
    ):  # fmt: skip
        for quantity in reader(masked):
            if not any(q.start < quantity.end and quantity.start < q.end for q in found):
                found.append(quantity)
        for quantity in found:
            blank = " " * (quantity.end - quantity.start)
            masked = masked[: quantity.start] + blank + masked[quantity.end :]
    found.sort(key=lambda quantity: quantity.start)
    return tuple(_in_context(_share_range_units(found, text), text))


def _without_repetition(match: re.Match[str], text: str) -> str:
    before = re.search(rf"(?:{numerals.DIGITS}|{numerals.ENGLISH_NUMBER})$", text[: match.start()])
    return _FILLER * len(match.group()) if before else match.group()


def _dates(text: str) -> list[Quantity]:
    return [
        Quantity(QuantityKind.DATE, text[start:end], start, end, readings=readings)
        for start, end, readings in dates.find_dates(text)
    ]


def _labels(text: str) -> list[Quantity]:
    found = []
    for match in _LABEL.finditer(text):
        number = match["n"] or match["sn"] or match["cn"]
        label = normal_label(number)
        if match["sub"]:
            label += "-" + normal_label(match["sub"])
        found.append(Quantity(QuantityKind.LABEL, match.group(), *match.span(), label=label))
    return found


def normal_label(number: str) -> str:
    """A clause number in one spelling: `十二` is `12`, `4.3.` is `4.3`."""
    number = fold(number).strip().rstrip(".").casefold()
    value = numerals.chinese_value(number) if number and not number.isascii() else None
    return str(int(value)) if value is not None else number


def _clock_times(text: str) -> list[Quantity]:
    found = []
    for match in _CLOCK.finditer(text):
        minutes = _minutes(match)
        if minutes is not None:
            value = frozenset({Fraction(minutes)})
            found.append(Quantity(QuantityKind.CLOCK, match.group(), *match.span(), values=value))
    return found


def _minutes(match: re.Match[str]) -> int | None:
    if match["word"]:
        return 12 * 60 if match["word"].casefold() == "noon" else 24 * 60
    if match["ch"]:
        hour, minute = _small(match["ch"]), _small(match["cm"] or "0") + 30 * bool(match["chalf"])
        is_afternoon = match["cap"] in {"下午", "晚上"}
    else:
        if match["h"] and not match["ap"] and "." in match.group():
            return None  # 4.30 without am or pm is a number
        hour, minute = int(match["h"] or match["h2"]), int(match["mi"] or 0)
        marker = (match["ap"] or match["ap2"] or "").casefold()
        is_afternoon = marker == "p"
        if marker == "a" and hour == 12:
            hour = 0
    if is_afternoon and hour < 12:
        hour += 12
    return hour * 60 + minute if hour <= 24 else None


def _small(text: str) -> int:
    return int(text) if text.isdigit() else int(numerals.chinese_value(text) or 0)


def _fractions(text: str) -> list[Quantity]:
    found = []
    for match in _FRACTION.finditer(text):
        value, unit = _fraction(match)
        if value is not None:
            kind = QuantityKind.MEASURE if unit else QuantityKind.NUMBER
            values = frozenset({value})
            found.append(Quantity(kind, match.group(), *match.span(), values=values, units=unit))
    return found


def _fraction(match: re.Match[str]) -> tuple[Fraction | None, frozenset[str]]:
    if match["pa"]:
        return Fraction(match["pa"]), units.PERCENT
    if match["cb"]:
        whole = numerals.chinese_value(match["cb"])
        text = match["ca"]
        part = Fraction(text) if text.isascii() else numerals.chinese_value(text)
        if not whole or part is None:
            return None, frozenset()
        return (part, units.PERCENT) if whole == 100 else (part / whole, frozenset())
    if match["wb"]:
        below = _DENOMINATORS[match["wb"].casefold().rstrip("s")]
        above = numerals.english_value(match["wa"]) or Fraction(1)
        return above / below, frozenset()
    below = int(match["b"])
    return (Fraction(int(match["a"]), below) if below else None), frozenset()


def _halves(text: str) -> list[Quantity]:
    return [
        Quantity(
            QuantityKind.MEASURE,
            match.group(),
            *match.span(),
            values=frozenset({Fraction(1, 2)}),
            units=units.canonical(match["unit"] or match["cn"]),
        )
        for match in _HALF.finditer(text)
    ]


def _codes(text: str) -> list[Quantity]:
    found = []
    for match in _CODE.finditer(text):
        letters = re.match(r"[A-Za-z]+", match["code"])
        if letters and (units.canonical(letters.group()) & units.CURRENCIES):
            continue
        label = match["code"].casefold().replace("-", "")
        found.append(Quantity(QuantityKind.CODE, match.group(), *match.span(), label=label))
    return found


def _amounts(text: str) -> list[Quantity]:
    found = []
    for match in _AMOUNT.finditer(text):
        values = numerals.digit_values(match["num"])
        factor = numerals.MULTIPLIERS.get((match["mul"] or "").casefold(), 1)
        sign = -1 if match["neg"] and not _is_range(text, match.start()) else 1
        unit = _unit_of(match["pre"], match["unit"])
        if values:
            scaled = frozenset(sign * factor * value for value in values)
            found.append(_amount(match, scaled, unit))
    return found


def _is_range(text: str, start: int) -> bool:
    return bool(re.search(r"\d ?$|[\w%]$", text[:start]))


def _unit_of(prefix: str | None, suffix: str | None) -> frozenset[str]:
    after = units.canonical(suffix or "")
    before = units.canonical(prefix or "")
    if before and after & units.CURRENCIES:
        return (before & after) or before
    return before or after


def _amount(match: re.Match[str], values: frozenset[Fraction], unit: frozenset[str]) -> Quantity:
    kind = QuantityKind.MEASURE if unit else QuantityKind.NUMBER
    if match.groupdict().get("ord"):
        kind = QuantityKind.ORDINAL
    text = match.group()
    start = match.start() + len(text) - len(text.lstrip())
    return Quantity(kind, text.strip(), start, match.end(), values=values, units=unit)


def _in_words(text: str) -> list[Quantity]:
    found = []
    for match in _WORDS.finditer(text):
        unit = units.canonical(match["unit"] or "")
        value = numerals.english_value(match["num"])
        if value is None or (value == 1 and not unit):  # "one of them" counts nothing
            continue
        if match["andhalf"]:
            value += Fraction(1, 2)
        found.append(_amount(match, frozenset({value}), unit))
    for match in _TIMES.finditer(text):
        value = Fraction({"once": 1, "twice": 2, "thrice": 3}[match["word"].casefold()])
        found.append(_amount(match, frozenset({value}), frozenset({"times"})))
    return found


def _chinese(text: str) -> list[Quantity]:
    found = []
    for match in _CHINESE.finditer(text):
        value = numerals.chinese_value(match["num"])
        has_unit = match["unit"] or match["counter"] or match["pre"]
        if value is None or not (has_unit or len(match["num"]) > 1):
            continue  # 一般, 統一: a numeral inside a word
        found.append(_amount(match, frozenset({value}), _unit_of(match["pre"], match["unit"])))
    return found


def _ordinals(text: str) -> list[Quantity]:
    return [
        Quantity(
            QuantityKind.ORDINAL,
            match.group(),
            *match.span(),
            values=frozenset({Fraction(numerals.ORDINALS[match["word"].casefold()])}),
        )
        for match in _ORDINAL.finditer(text)
    ]


def _articles(text: str) -> list[Quantity]:
    """`a month` and `each year`: one of that unit, but only as something a source may say."""
    return [
        Quantity(
            QuantityKind.ORDINAL,
            match.group(),
            *match.span(),
            values=frozenset({Fraction(1)}),
            units=units.canonical(match["unit"]),
        )
        for match in _A_UNIT.finditer(text)
    ]


def _share_range_units(found: list[Quantity], text: str) -> list[Quantity]:
    """In `3 to 5 days` and `10-15 %` the first number has the unit of the second."""
    shared = list(found)
    for index in range(len(found) - 2, -1, -1):
        here, after = shared[index], shared[index + 1]
        between = text[here.end : after.start]
        if (
            here.kind is QuantityKind.NUMBER
            and after.units
            and re.fullmatch(r" ?(?:to|-|~|and|or|至|到|或) ?", between, re.IGNORECASE)
        ):
            shared[index] = replace(here, kind=QuantityKind.MEASURE, units=after.units)
        elif here.is_money and not after.units and re.fullmatch(r" ?(?:to|-|~|至) ?", between):
            shared[index + 1] = replace(after, kind=QuantityKind.MEASURE, units=here.units)
    return shared


def _in_context(found: list[Quantity], text: str) -> list[Quantity]:
    return [_with_context(quantity, text) for quantity in found]


def _with_context(quantity: Quantity, text: str) -> Quantity:
    before, after = text[max(0, quantity.start - 40) : quantity.start], text[quantity.end :][:40]
    line_start = text.rfind("\n", 0, quantity.start) + 1
    quantity = replace(quantity, bound=_bound(before, after), per=_per(quantity, text, after))
    if quantity.kind is QuantityKind.NUMBER and not quantity.units:
        return _unit_from_heading(quantity, text[line_start : quantity.start])
    return quantity


def _bound(before: str, after: str) -> str:
    for bound, pattern in _BEFORE:
        if pattern.search(before):
            return bound
    for bound, pattern in _AFTER:
        if pattern.match(after):
            return bound
    return ""


def _per(quantity: Quantity, text: str, after: str) -> frozenset[str]:
    match = _PER.match(after)
    if match:
        word = match["per"] or match["adverb"] or match["cn"]
        return frozenset({units.PER_WORDS[word.casefold()]})
    clause = _CLAUSE_END.split(text[: quantity.start])[-1]
    return frozenset(units.PER_WORDS[word] for word in _CHINESE_PER.findall(clause))


def _unit_from_heading(quantity: Quantity, line: str) -> Quantity:
    """A table row as text keeps its unit in the column head: `Limit (EUR): 180`."""
    cell = re.split(r"[;|]", line)[-1]
    for match in _TABLE_UNIT.finditer(cell):
        unit = units.canonical(match["unit"] or match["word"])
        if unit and cell.rstrip().endswith(":"):
            return replace(quantity, kind=QuantityKind.MEASURE, units=unit)
    return quantity
