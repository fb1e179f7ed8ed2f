"""The marks before clauses below the level of sections: `(a)`, `ii.`, `1)`, `一、`, `（三）`.

A mark is read by its form alone here; which level it belongs to (`(i)` is a letter after `(h)`
and a roman numeral before `(ii)`) is decided by `clauses`, from what stands around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from documents.ingestion.numerals import HAN_DIGITS, han_value, roman_value


class Count(StrEnum):
    """What a mark counts in."""

    SMALL = "small"
    CAPITAL = "capital"
    SMALL_ROMAN = "small_roman"
    CAPITAL_ROMAN = "capital_roman"
    DOUBLE = "double"
    DIGIT = "digit"
    HAN = "han"


Reading = tuple[Count, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Marker:
    """A mark as printed, with its core (`i` of `(i)`), its form, and what it may count.

    `form` is `()`, `)`, `.`, or `、`. `is_inline` says that it stands inside a printed line, and
    `is_set_off` that a full stop, a colon or a wide gap stands before it there.
    """

    start: int
    end: int
    core: str
    form: str
    readings: tuple[Reading, ...]
    is_inline: bool
    is_set_off: bool = True


_HAN_NUMBER = rf"[{HAN_DIGITS}]{{1,4}}"
_CORE = r"[a-z]{1,2}|[ivxl]{1,7}|[A-Z]{1,2}|[IVXL]{1,7}|\d{1,3}"
_AT_LINE_START = re.compile(
    rf"(?:(?<=\n)|\A)[^\S\n]*(?:[(（](?P<both>{_CORE}|{_HAN_NUMBER})[)）](?=\s*\S)"
    rf"|(?P<right>{_CORE})[)）](?=[^\S\n]+\S|[\u3400-\u9fff])"
    rf"|(?P<stop>[a-z]|[ivxl]{{1,5}}|[A-Z]|[IVXL]{{1,5}}|\d{{1,2}})\.(?=[^\S\n]+\S|[\u3400-\u9fff])"
    rf"|(?P<han>{_HAN_NUMBER}(?:之{_HAN_NUMBER})?|\d{{1,2}})[、．](?=\s*\S))"
)
_INLINE = re.compile(
    rf"(?<=[\s(:：;；,，。.])\((?P<both>{_CORE})\)(?=[^\S\n]+(?!(?:and|or|to|through|above|below|of)\b)"
    rf"[\w\"“‘*$€£(])|(?<=[。；：，])[（(](?P<han>{_HAN_NUMBER})[)）](?=\S)"
)
_NOT_AFTER = re.compile(
    r"(?:\b(?:paragraphs?|sub-?paragraphs?|sections?|sub-?sections?|clauses?|sub-?clauses?|"
    r"articles?|items?|points?|rules?|para|paras|see|under|in|by|of|to|through)\.?"
    r"|\b(?:and|or|,)[^\S\n]+\([a-z\d]{1,4}\)[^\S\n]+(?:and|or)|\))$",
    re.IGNORECASE,
)
_BEFORE_DIGIT = re.compile(r"(?:[:;,.]|\band|\bor)$")
_SET_OFF = tuple('.:;。：；!?”"')
_REACH = 24


def find_markers(text: str, start: int, end: int) -> list[Marker]:
    """The marks of `text[start:end]`, in order; `start` counts as a line's beginning."""
    body = text[start:end]
    at_lines = list(_line_markers(body))
    ends = {marker.end for marker in at_lines}
    found = sorted([*at_lines, *_inline_markers(body, ends)], key=lambda marker: marker.start)
    return [replace(m, start=m.start + start, end=m.end + start) for m in found]


def _line_markers(body: str) -> Iterator[Marker]:
    for match in _AT_LINE_START.finditer(body):
        first = match.end() - len(match.group().lstrip())
        marker = _read(match, first, is_inline=False)
        if marker is not None:
            yield marker


def _inline_markers(body: str, line_ends: set[int]) -> Iterator[Marker]:
    for match in _INLINE.finditer(body):
        before = body[max(match.start() - _REACH, 0) : match.start()]
        stripped = before.rstrip()
        if "\n" in before[len(stripped) :] or not stripped:
            continue  # it begins a line
        if match.start() - len(before) + len(stripped) in line_ends:
            marker = _read(match, match.start(), is_inline=False)  # `(1) (a) Words`
        elif _NOT_AFTER.search(stripped):
            continue
        elif (match["both"] or "").isdigit() and not _BEFORE_DIGIT.search(stripped):
            continue  # `thirty (30) days`
        else:
            is_set_off = len(before) - len(stripped) > 1 or stripped.endswith(_SET_OFF)
            marker = _read(match, match.start(), is_inline=True, is_set_off=is_set_off)
        if marker is not None:
            yield marker


def _read(
    match: re.Match[str], first: int, *, is_inline: bool, is_set_off: bool = True
) -> Marker | None:
    kind = match.lastgroup or "both"
    core = match[kind]
    form = {"both": "()", "right": ")", "stop": ".", "han": "、"}[kind]
    if kind == "han" and match.group().lstrip()[0] in "（(":
        form = "()"
    meanings = readings(core)
    if not meanings:
        return None
    return Marker(first, match.end(), core, form, meanings, is_inline, is_set_off)


def readings(core: str) -> tuple[Reading, ...]:
    """What a mark may count: `i` is the ninth letter or the first roman numeral."""
    if core.isdigit() and core.isascii():
        return ((Count.DIGIT, (int(core),)),)
    if core[0] in HAN_DIGITS:
        return ((Count.HAN, tuple(han_value(part) for part in core.split("之"))),)
    is_small = core.islower()
    found: list[Reading] = []
    if len(core) == 1:
        letter = Count.SMALL if is_small else Count.CAPITAL
        found.append((letter, (ord(core.lower()) - 96,)))
    elif core == core[0] * 2:
        found.append((Count.DOUBLE, (ord(core[0].lower()) - 96,)))
    roman = roman_value(core.upper())
    if roman is not None and (core.islower() or core.isupper()):
        found.append((Count.SMALL_ROMAN if is_small else Count.CAPITAL_ROMAN, (roman,)))
    return tuple(found)
