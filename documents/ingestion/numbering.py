"""The labels that open sections: `4.3`, `Article 5`, `§ 7a`, `IV.`, `第五十三條之一`.

`parse_label` only reads a label at the start of a line. Whether the line really opens a
section depends on what stands around it and is decided in `headings`.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum

from documents.ingestion.numerals import (
    CARDINALS,
    FORMAL_HAN_DIGITS,
    HAN_DIGITS,
    LATIN_SUFFIXES,
    ORDINALS,
    han_value,
    roman_value,
)


class Scheme(StrEnum):
    """A family of labels that count on together."""

    DECIMAL = "decimal"
    ROMAN = "roman"
    LETTER = "letter"
    LETTERED_DECIMAL = "lettered_decimal"
    BOOK = "book"
    PART = "part"
    TITLE = "title"
    CHAPTER = "chapter"
    DIVISION = "division"
    SECTION = "section"
    ARTICLE = "article"
    PARAGRAPH_SIGN = "paragraph_sign"
    ANNEX = "annex"
    HAN_PART = "han_part"
    HAN_CHAPTER = "han_chapter"
    HAN_SECTION = "han_section"
    HAN_SUBSECTION = "han_subsection"
    HAN_ITEM = "han_item"
    HAN_ARTICLE = "han_article"
    HAN_SUPPLEMENT = "han_supplement"
    HAN_FORMAL = "han_formal"
    HAN_ENUMERATION = "han_enumeration"


@dataclass(frozen=True, slots=True)
class Label:
    """A label as printed, its value for comparing, and where the words after it begin.

    A letter is a part of its own, beyond all numbers: `2A` is (2, 1001), for it stands after
    `2.9` and is no `2.1`. `delimiter` is what closes the label (`.`, `)`, `:`, `-`, or
    nothing); `is_glued` says that the words follow without any space or delimiter.
    """

    scheme: Scheme
    value: tuple[int, ...]
    number: str
    rest_start: int
    delimiter: str = ""
    is_glued: bool = False


_KEYWORDS = {
    Scheme.BOOK: "book|buch|livre|libro",
    Scheme.PART: "part|partie|teil|parte",
    Scheme.TITLE: "title|titre|titel|título|titulo|titolo",
    Scheme.CHAPTER: "chapter|chapitre|kapitel|capítulo|capitulo|capitolo|hoofdstuk",
    Scheme.DIVISION: "division|subpart|subchapter",
    Scheme.SECTION: (
        "section|sec\\.|abschnitt|sección|seccion|sezione|seção|clause|cláusula|clausula|"
        "rule|regulation"
    ),
    Scheme.ARTICLE: "article|art\\.|artikel|artículo|articulo|articolo|artigo",
    Scheme.ANNEX: (
        "annex|annexe|anlage|anhang|appendix|schedule|exhibit|attachment|addendum|anexo|"
        "allegato|bijlage"
    ),
}
_KEYWORD_SCHEMES = {
    word.replace("\\", ""): scheme
    for scheme, words in _KEYWORDS.items()
    for word in words.split("|")
}
INSERTED = 1_000  # what a letter adds to its place in the alphabet
_ROMAN = r"[IVXLC]{1,7}|[ivxlc]{1,7}"
_DASH = r"–—−\-"
_ORDINAL = "|".join(sorted(ORDINALS, key=len, reverse=True))
_COUNTING_WORD = "|".join(sorted([*ORDINALS, *CARDINALS], key=len, reverse=True))
_NUMBER = (
    rf"\d{{1,4}}(?:[A-Z]?\.\d{{1,3}})*(?:-\d{{1,3}}(?![\w.])|[a-z](?![\w(])"
    rf"|[^\S\n](?:{'|'.join(LATIN_SUFFIXES)})\b)?"
    rf"|(?:{_ROMAN})(?!\w)(?:-[A-Z](?!\w))?|[A-Z](?:[.\-]?\d{{1,2}})?(?!\w)"
)
_LONGEST_FIRST = "|".join(
    sorted("|".join(_KEYWORDS.values()).split("|"), key=len, reverse=True)  # annexe before annex
)
_KEYWORD_LABEL = re.compile(
    rf"(?P<word>{_LONGEST_FIRST})[^\S\n]*[\"“]?"
    rf"(?P<number>(?:{_COUNTING_WORD})(?!\w)|{_NUMBER})[\"”]?"
    rf"(?P<after>[^\S\n]*(?P<delimiter>[.:)：{_DASH}]?)[^\S\n]*[{_DASH}]?)",
    re.IGNORECASE,
)
_ORDINAL_LABEL = re.compile(
    rf"(?:the[^\S\n]+)?(?P<number>{_ORDINAL})[^\S\n]+(?P<word>{_LONGEST_FIRST})(?!\w)"
    rf"(?P<after>[^\S\n]*(?P<delimiter>[.:)：{_DASH}]?)[^\S\n]*)",
    re.IGNORECASE,
)
_SIGN_LABEL = re.compile(
    rf"§[^\S\n]*(?P<number>\d{{1,4}}(?:[.\-]\d{{1,4}})*[a-zA-Z]?)(?!\w)"
    rf"(?P<after>[^\S\n]*(?P<delimiter>[.:)：{_DASH}]?)[^\S\n]*)"
)
_DECIMAL_LABEL = re.compile(
    r"(?P<number>\d{1,3}(?:[A-Z]?\.\d{1,3}){0,6})(?P<suffix>[a-h](?=[.)\s])|[A-Z](?=[.)]\s)|[A-C](?=\s+[A-Z])"
    r"|(?:(?<=\.\d)|(?<=\.\d\d))[A-F](?=\s))?"
    rf"(?P<delimiter>[.)）．:、]?)(?P<blank>[^\S\n]*(?:[{_DASH}][^\S\n]+)?)"
)
_ROMAN_LABEL = re.compile(r"(?P<number>[IVXLC]{1,7})(?P<delimiter>[.)])[^\S\n]*")
_LETTERED_LABEL = re.compile(
    r"(?P<letter>[A-Z])[.\-]?(?P<digits>\d{1,2}(?:\.\d{1,2}){0,4})(?P<delimiter>[.):]?)[^\S\n]+"
)
_LETTER_LABEL = re.compile(r"(?P<number>[A-Z])(?P<delimiter>[.)])[^\S\n]+")
_HAN_NUMBER = rf"(?:[{HAN_DIGITS}{FORMAL_HAN_DIGITS}]{{1,9}}|\d{{1,4}})"
_HAN_UNITS = {
    "編": Scheme.HAN_PART, "编": Scheme.HAN_PART, "篇": Scheme.HAN_PART,
    "部分": Scheme.HAN_PART, "章": Scheme.HAN_CHAPTER,
    "節": Scheme.HAN_SECTION, "节": Scheme.HAN_SECTION,
    "款": Scheme.HAN_SUBSECTION, "目": Scheme.HAN_ITEM,
    "條": Scheme.HAN_ARTICLE, "条": Scheme.HAN_ARTICLE,
}  # fmt: skip
_HAN_LABEL = re.compile(
    rf"第[^\S\n]*(?P<number>{_HAN_NUMBER})[^\S\n]*(?:[之{_DASH}][^\S\n]*(?P<inner>{_HAN_NUMBER})[^\S\n]*)?"
    rf"(?P<unit>{'|'.join(_HAN_UNITS)})(?:[^\S\n]*(?:之|-(?=\d))[^\S\n]*(?P<suffix>{_HAN_NUMBER}))?"
    rf"(?P<after>[^\S\n]*[:：{_DASH}]?[^\S\n]*)"
)
_HAN_ANNEX = re.compile(
    rf"(?P<word>附件|附錄|附录|附表)[^\S\n]*(?P<number>{_HAN_NUMBER}|[A-Z])?"
    rf"(?P<after>[^\S\n]*[:：、.{_DASH}]?[^\S\n]*)"
)
_HAN_SUPPLEMENT = re.compile(r"附[^\S\n]*[則则](?P<after>[^\S\n]*)(?=\n|$)")
_HAN_ENUMERATION = re.compile(
    rf"(?P<number>[一二三四五六七八九十]{{1,4}}|[{FORMAL_HAN_DIGITS}]{{1,4}})"
    r"(?P<delimiter>[、．])[^\S\n]*"
)
_DIGITS = re.compile(
    rf"(?P<digits>\d+(?:[a-z]?[.\-]\d+)*[a-z]?)(?:\s+(?P<latin>{'|'.join(LATIN_SUFFIXES)}))?",
    re.IGNORECASE,
)
_PART = re.compile(r"(\d+)([A-Za-z]?)")
_MAX_LETTERED_DIGITS = 60


def parse_label(line: str) -> Label | None:
    """The label at the start of `line` (without indent), or None."""
    if not line:
        return None
    first = line[0]
    if first.isdigit():
        return _decimal(line)
    if first == "§":
        return _sign(line)
    if first in "第附" or first in HAN_DIGITS or first in FORMAL_HAN_DIGITS:
        return _han(line)
    if first.isalpha():
        return _keyword(line) or _ordinal(line) or _lettered(line) or _roman(line) or _letter(line)
    return None


def _decimal(line: str) -> Label | None:
    match = _DECIMAL_LABEL.match(line)
    if match is None:
        return None
    number = match["number"] + (match["suffix"] or "")
    value = _value_of(number)
    rest = line[match.end() : match.end() + 1]
    is_glued = bool(rest) and not match["blank"] and not match["delimiter"]
    if is_glued and not _is_wide(rest):
        return None
    if match["delimiter"] in (".", ":") and rest and not match["blank"] and not rest.isalpha():
        return None
    delimiter = {"）": ")", "．": ".", "、": "."}.get(match["delimiter"], match["delimiter"])
    return Label(Scheme.DECIMAL, value, number, match.end(), delimiter, is_glued)


def _keyword(line: str) -> Label | None:
    match = _KEYWORD_LABEL.match(line)
    if match is None:
        return None
    word, number = match["word"], match["number"]
    if word[-1].isalpha() and number[0].isalpha() and match.start("number") == match.end("word"):
        return None  # "Sectional", "articles"
    value = _number_value(number)
    rest = line[match.end() : match.end() + 1]
    if value is None or (rest and not match["after"] and not rest.isspace()):
        return None
    scheme = _KEYWORD_SCHEMES[word.lower()]
    printed = f"{word} {number}"
    return Label(scheme, value, printed, match.end(), match["delimiter"])


def _ordinal(line: str) -> Label | None:
    """`First Schedule`, `Zweiter Teil`: the number before its keyword."""
    match = _ORDINAL_LABEL.match(line)
    if match is None or (line[match.end() : match.end() + 1].islower() and not match["delimiter"]):
        return None
    scheme = _KEYWORD_SCHEMES[match["word"].lower()]
    printed = f"{match['number']} {match['word']}"
    value = (ORDINALS[match["number"].lower()],)
    return Label(scheme, value, printed, match.end(), match["delimiter"])


def _sign(line: str) -> Label | None:
    match = _SIGN_LABEL.match(line)
    if match is None:
        return None
    value = _number_value(match["number"])
    if value is None or (line[match.end() : match.end() + 1] and not match["after"]):
        return None
    number = f"§ {match['number']}"
    return Label(Scheme.PARAGRAPH_SIGN, value, number, match.end(), match["delimiter"])


def _roman(line: str) -> Label | None:
    match = _ROMAN_LABEL.match(line)
    value = roman_value(match["number"]) if match else None
    if match is None or value is None or match.end() == match.end("delimiter"):
        return None
    return Label(Scheme.ROMAN, (value,), match["number"], match.end(), match["delimiter"])


def _letter(line: str) -> Label | None:
    match = _LETTER_LABEL.match(line)
    if match is None:
        return None
    value = (ord(match["number"]) - 64,)
    return Label(Scheme.LETTER, value, match["number"], match.end(), match["delimiter"])


def _lettered(line: str) -> Label | None:
    match = _LETTERED_LABEL.match(line)
    if match is None:
        return None
    digits = [int(part) for part in match["digits"].split(".")]
    if max(digits) > _MAX_LETTERED_DIGITS:
        return None
    value = (ord(match["letter"]) - 64, *digits)
    number = line[: match.end("digits")]
    return Label(Scheme.LETTERED_DECIMAL, value, number, match.end(), match["delimiter"])


def _han(line: str) -> Label | None:
    if _HAN_SUPPLEMENT.match(line):
        return Label(Scheme.HAN_SUPPLEMENT, (1,), _compact(line), len(line))
    match = _HAN_LABEL.match(line)
    if match is not None:
        return _han_ordinal(line, match)
    match = _HAN_ANNEX.match(line)
    if match is not None:
        value = _number_value(match["number"]) if match["number"] else (1,)
        number = _compact(line[: match.start("after")])
        is_glued = bool(line[match.end() :]) and not match["after"]
        return Label(Scheme.ANNEX, value or (1,), number, match.end(), "", is_glued)
    match = _HAN_ENUMERATION.match(line)
    value = _number_value(match["number"]) if match else None
    if match is None or value is None:
        return None
    is_formal = match["number"][0] in FORMAL_HAN_DIGITS
    scheme = Scheme.HAN_FORMAL if is_formal else Scheme.HAN_ENUMERATION
    return Label(scheme, value, match["number"], match.end(), "、")


def _han_ordinal(line: str, match: re.Match[str]) -> Label | None:
    parts = [match[name] for name in ("number", "inner", "suffix") if match[name]]
    value = tuple(han_value(part) for part in parts)
    number = _compact(line[: match.start("after")])
    is_glued = bool(line[match.end() :]) and not match["after"]
    scheme = _HAN_UNITS[match["unit"]]
    return Label(scheme, value, number, match.end(), "", is_glued)


def _number_value(number: str) -> tuple[int, ...] | None:
    """The value of a number as it stands after a keyword; None if it is none."""
    counted = ORDINALS.get(number.lower()) or CARDINALS.get(number.lower())
    if counted is not None:
        return (counted,)
    if number[0] in HAN_DIGITS or number[0] in FORMAL_HAN_DIGITS:
        return (han_value(number),)
    digits = _DIGITS.fullmatch(number)
    if digits:
        value = _value_of(digits["digits"])
        latin = LATIN_SUFFIXES.get((digits["latin"] or "").lower())
        return (*value, INSERTED + latin) if latin else value
    stem, _, letter = number.partition("-")
    roman = roman_value(stem.upper())
    if roman is not None and (len(stem) > 1 or stem in "IVXivx"):
        return (roman, ord(letter) - 64) if letter.isupper() else (roman,)
    lettered = re.fullmatch(r"([A-Z])[.\-]?(\d*)", number)
    if lettered:
        value = (ord(lettered[1]) - 64,)
        return (*value, int(lettered[2])) if lettered[2] else value
    return None


def _value_of(number: str) -> tuple[int, ...]:
    """`4.2A.1` as (4, 2, 1001, 1); `2.0` as (2,): it stands above `2.1`, where others print `2`."""
    value: list[int] = []
    for digits, letter in _PART.findall(number):
        value += [int(digits), *([INSERTED + ord(letter.lower()) - 96] if letter else [])]
    while len(value) > 1 and value[-1] == 0:
        value.pop()
    return tuple(value)


def _compact(text: str) -> str:
    return "".join(text.split())


def _is_wide(char: str) -> bool:
    return unicodedata.east_asian_width(char) in "WF"
