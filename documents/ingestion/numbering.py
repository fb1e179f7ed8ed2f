"""The labels that open sections: `4.3`, `Article 5`, `§ 7a`, `IV.`, `第五十三條之一`.

`parse_label` only reads a label at the start of a line. Whether the line really opens a
section depends on what stands around it and is decided in `headings`.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum


class Scheme(StrEnum):
    """A family of labels that count on together."""

    DECIMAL = "decimal"
    ROMAN = "roman"
    LETTER = "letter"
    LETTERED_DECIMAL = "lettered_decimal"
    PART = "part"
    CHAPTER = "chapter"
    SECTION = "section"
    ARTICLE = "article"
    PARAGRAPH_SIGN = "paragraph_sign"
    ANNEX = "annex"
    HAN_PART = "han_part"
    HAN_CHAPTER = "han_chapter"
    HAN_SECTION = "han_section"
    HAN_ARTICLE = "han_article"
    HAN_SUPPLEMENT = "han_supplement"
    HAN_ENUMERATION = "han_enumeration"


@dataclass(frozen=True, slots=True)
class Label:
    """A label as printed, its value for comparing, and where the words after it begin.

    `delimiter` is what closes the label (`.`, `)`, `:`, `-`, or nothing); `is_glued` says
    that the words follow without any space or delimiter.
    """

    scheme: Scheme
    value: tuple[int, ...]
    number: str
    rest_start: int
    delimiter: str = ""
    is_glued: bool = False


_KEYWORDS = {
    Scheme.PART: "part|partie|teil|title|titre|titel|book|buch|livre|parte|título|titulo",
    Scheme.CHAPTER: "chapter|chapitre|kapitel|capítulo|capitulo|capitolo|hoofdstuk",
    Scheme.SECTION: "section|sec\\.|abschnitt|sección|seccion|sezione|clause|rule|regulation",
    Scheme.ARTICLE: "article|art\\.|artikel|artículo|articulo|articolo|artigo",
    Scheme.ANNEX: (
        "annex|annexe|anlage|anhang|appendix|schedule|exhibit|attachment|anexo|allegato|bijlage"
    ),
}
_KEYWORD_SCHEMES = {
    word.replace("\\", ""): scheme
    for scheme, words in _KEYWORDS.items()
    for word in words.split("|")
}
_ROMAN = r"[IVXLC]{1,7}|[ivxlc]{1,7}"
_DASH = r"–—−\-"
_NUMBER = (
    rf"\d{{1,4}}(?:\.\d{{1,3}})*(?:[a-z](?![\w(]))?|(?:{_ROMAN})(?!\w)|[A-Z](?:\.?\d{{1,2}})?(?!\w)"
)
_ORDINAL_ONE = "premier|première|premiere|1er|erster|primero|primo"
_LONGEST_FIRST = "|".join(
    sorted("|".join(_KEYWORDS.values()).split("|"), key=len, reverse=True)  # annexe before annex
)
_KEYWORD_LABEL = re.compile(
    rf"(?P<word>{_LONGEST_FIRST})[^\S\n]*[\"“]?"
    rf"(?P<number>(?:{_ORDINAL_ONE})(?!\w)|{_NUMBER})[\"”]?(?P<after>[^\S\n]*(?P<delimiter>[.:)：{_DASH}]?)"
    rf"[^\S\n]*[{_DASH}]?)",
    re.IGNORECASE,
)
_SIGN_LABEL = re.compile(
    rf"§[^\S\n]*(?P<number>\d{{1,4}}(?:\.\d{{1,3}})*[a-z]?)(?!\w)"
    rf"(?P<after>[^\S\n]*(?P<delimiter>[.:)：{_DASH}]?)[^\S\n]*)"
)
_DECIMAL_LABEL = re.compile(
    r"(?P<number>\d{1,3}(?:\.\d{1,3}){0,6})(?P<suffix>[a-h](?=[.)\s]))?"
    rf"(?P<delimiter>[.)）．:]?)(?P<blank>[^\S\n]*(?:[{_DASH}][^\S\n]+)?)"
)
_ROMAN_LABEL = re.compile(r"(?P<number>[IVXLC]{1,7})(?P<delimiter>[.)])[^\S\n]*")
_LETTERED_LABEL = re.compile(
    r"(?P<letter>[A-Z])\.(?P<digits>\d{1,2}(?:\.\d{1,2}){0,4})(?P<delimiter>[.):]?)[^\S\n]+"
)
_LETTER_LABEL = re.compile(r"(?P<number>[A-Z])(?P<delimiter>[.)])[^\S\n]+")
_HAN_DIGITS = "〇零一二三四五六七八九十百千兩两廿卅"
_HAN_NUMBER = rf"(?:[{_HAN_DIGITS}]{{1,9}}|\d{{1,4}})"
_HAN_UNITS = {
    "編": Scheme.HAN_PART, "编": Scheme.HAN_PART, "章": Scheme.HAN_CHAPTER,
    "節": Scheme.HAN_SECTION, "节": Scheme.HAN_SECTION,
    "條": Scheme.HAN_ARTICLE, "条": Scheme.HAN_ARTICLE,
}  # fmt: skip
_HAN_LABEL = re.compile(
    rf"第[^\S\n]*(?P<number>{_HAN_NUMBER})[^\S\n]*(?:[之{_DASH}][^\S\n]*(?P<inner>{_HAN_NUMBER})[^\S\n]*)?"
    rf"(?P<unit>[{''.join(_HAN_UNITS)}])(?:[^\S\n]*之[^\S\n]*(?P<suffix>{_HAN_NUMBER}))?"
    rf"(?P<after>[^\S\n]*[:：{_DASH}]?[^\S\n]*)"
)
_HAN_ANNEX = re.compile(
    rf"(?P<word>附件|附錄|附录|附表)[^\S\n]*(?P<number>{_HAN_NUMBER}|[A-Z])?"
    rf"(?P<after>[^\S\n]*[:：、.{_DASH}]?[^\S\n]*)"
)
_HAN_SUPPLEMENT = re.compile(r"附[^\S\n]*[則则](?P<after>[^\S\n]*)(?=\n|$)")
_HAN_ENUMERATION = re.compile(
    r"(?P<number>[一二三四五六七八九十]{1,4})(?P<delimiter>[、．])[^\S\n]*"
)


def parse_label(line: str) -> Label | None:
    """The label at the start of `line` (without indent), or None."""
    if not line:
        return None
    first = line[0]
    if first.isdigit():
        return _decimal(line)
    if first == "§":
        return _sign(line)
    if first in "第附" or first in _HAN_DIGITS:
        return _han(line)
    if first.isalpha():
        return _keyword(line) or _lettered(line) or _roman(line) or _letter(line)
    return None


def _decimal(line: str) -> Label | None:
    match = _DECIMAL_LABEL.match(line)
    if match is None:
        return None
    number = match["number"] + (match["suffix"] or "")
    value = tuple(int(part) for part in match["number"].split("."))
    if match["suffix"]:
        value = (*value, ord(match["suffix"]) - 96)
    rest = line[match.end() : match.end() + 1]
    is_glued = bool(rest) and not match["blank"] and not match["delimiter"]
    if is_glued and not _is_wide(rest):
        return None
    if match["delimiter"] in (".", ":") and rest and not match["blank"] and not rest.isalpha():
        return None
    delimiter = {"）": ")", "．": "."}.get(match["delimiter"], match["delimiter"])
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
    value = (ord(match["letter"]) - 64, *(int(part) for part in match["digits"].split(".")))
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
    return Label(Scheme.HAN_ENUMERATION, value, match["number"], match.end(), "、")


def _han_ordinal(line: str, match: re.Match[str]) -> Label | None:
    parts = [match[name] for name in ("number", "inner", "suffix") if match[name]]
    value = tuple(han_value(part) for part in parts)
    number = _compact(line[: match.start("after")])
    is_glued = bool(line[match.end() :]) and not match["after"]
    scheme = _HAN_UNITS[match["unit"]]
    return Label(scheme, value, number, match.end(), "", is_glued)


def _number_value(number: str) -> tuple[int, ...] | None:
    """The value of a number as it stands after a keyword; None if it is none."""
    if re.fullmatch(_ORDINAL_ONE, number, re.IGNORECASE):
        return (1,)
    if number[0] in _HAN_DIGITS:
        return (han_value(number),)
    digits = re.fullmatch(r"(\d+(?:\.\d+)*)([a-z]?)", number, re.IGNORECASE)
    if digits:
        value = tuple(int(part) for part in digits[1].split("."))
        return (*value, ord(digits[2].lower()) - 96) if digits[2] else value
    roman = roman_value(number.upper())
    if roman is not None and (len(number) > 1 or number in "IVXivx"):
        return (roman,)
    lettered = re.fullmatch(r"([A-Z])\.?(\d*)", number)
    if lettered:
        value = (ord(lettered[1]) - 64,)
        return (*value, int(lettered[2])) if lettered[2] else value
    return None


def roman_value(number: str) -> int | None:
    """The value of a well-formed roman numeral in capitals, else None."""
    pattern = r"(?=.)(C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})"
    if not re.fullmatch(pattern, number):
        return None
    digits = [{"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}[char] for char in number]
    pairs = zip(digits, [*digits[1:], 0], strict=True)
    return sum(-digit if digit < following else digit for digit, following in pairs)


def han_value(number: str) -> int:
    """The value of a Chinese or Arabic numeral below ten thousand (`五十三`, `一百零二`, `53`)."""
    normal = unicodedata.normalize("NFKC", number)
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


def _compact(text: str) -> str:
    return "".join(text.split())


def _is_wide(char: str) -> bool:
    return unicodedata.east_asian_width(char) in "WF"
