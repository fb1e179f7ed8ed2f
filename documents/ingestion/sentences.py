"""Where sentences begin and end, in English and other Latin languages, and in Chinese.

Spans are exact: together they hold every character that is not white space, in order. A
full stop inside an abbreviation (`Art. 5`, `e.g.`), a number (`3.30`) or a list label
(`1.`) ends nothing. A line that begins with a list label or bullet begins a sentence, and
so does a table row.
"""

from __future__ import annotations

import re

# Never the last word of a sentence.
_ABBREVIATION_WORDS = """
    e.g i.e cf vs approx ca viz art arts para paras reg regs sec secs ch cl fig figs vol ed eds
    dr mr mrs ms mx prof rev gen gov sen rep hon st mt messrs mme mlle
    abs nr bzw z.b d.h u.a vgl gem sog bspw ggf inkl zzgl evtl al ibid resp incl excl max min est
    dept cir dist supp corp assn univ ave blvd
    jan feb mar apr jun jul aug sep sept oct nov dec
"""
_ABBREVIATIONS = frozenset(_ABBREVIATION_WORDS.split())
# The last word only if the next one is not the number that it announces.
_BEFORE_NUMBER = frozenset(["no", "nos", "p", "pp", "n", "nº", "núm", "art", "ref", "v"])
# `U.S.`, `p.m.`, `i.H.v.`: may end a sentence; does so before a word that begins sentences.
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]{1,2}")
_STARTER_WORDS = """
    the a an this that these those it its they he she we you i if in on at by for from to upon
    any all each every no none neither either both where when while after before until unless
    however such there as but and or nothing then than staff der die das ein eine es wenn bei
    le la les un une il elle ils si pour dans
"""
_STARTERS = frozenset(_STARTER_WORDS.split())
# A single capital after one of these is a name of its own, not an initial.
_LETTERED_WORDS = "annex appendix schedule exhibit part section article class plan category grade"
_LETTERED = frozenset(_LETTERED_WORDS.split())
_BREAK = re.compile(
    r"(?P<wide>[。！？；][」』”’）】》]*)"
    r"|(?P<latin>(?<![.!?…])[.!?…]++[\"'”’»)\]]*+(?=\s|$|[\u3400-\u9fff]))"
    r"|(?P<blank>\n[^\S\n]*\n)"
    r"|(?P<line>\n(?=[^\S\n]*(?:[-*•‣▪●○–]\s|\(?(?:[a-z]{1,4}|[A-Z]|\d{1,3})\)\s"
    r"|\d{1,3}(?:\.\d{1,3})*\.?\s(?=\S*[A-Z\u3400-\u9fff])|[一二三四五六七八九十百]{1,4}、"
    r"|[（(][一二三四五六七八九十]{1,3}[)）])))"
    r"|(?P<row>\n(?=(?P<name>[^\n:;]{1,60}): [^\n]))"
)
_WORD = re.compile(r"[^\W\d_]+")
_WINDOW = 40


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Half-open spans of the sentences of `text`, in order, without outer white space."""
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _BREAK.finditer(text):
        if match.start() < start or not _is_boundary(text, start, match):
            continue
        _append(spans, text, start, match.end())
        start = match.end()
    _append(spans, text, start, len(text))
    return spans


def _append(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        spans.append((start, end))


def _is_boundary(text: str, start: int, match: re.Match[str]) -> bool:
    kind = match.lastgroup
    if match["wide"] or match["blank"] or match["line"] is not None:
        return True
    if kind == "name" or match["row"] is not None:
        return _previous_line_has(text, match.start(), match["name"])
    return _ends_sentence(text, start, match.start(), match.end())


def _previous_line_has(text: str, newline: int, name: str) -> bool:
    line_start = text.rfind("\n", 0, newline) + 1
    return text.startswith(f"{name}: ", line_start)


def _ends_sentence(text: str, start: int, stop: int, end: int) -> bool:
    """Whether the stop at `stop` ends the sentence that began at `start`."""
    following = text[end : end + _WINDOW].lstrip()
    if following and following[0].islower():
        return False
    if text[stop] != "." or text[stop : stop + 2] == "..":
        return True
    before = text[max(start, stop - _WINDOW) : stop]
    if not before or before[-1].isspace():
        return True
    word = before.split()[-1].lstrip("([\"'“‘«")
    if _is_label(text, start, stop, word):
        return False
    return not _is_abbreviation(word, before, following)


def _is_label(text: str, start: int, stop: int, word: str) -> bool:
    """`1.` or `a.` at the beginning of a sentence is the item's label."""
    is_short = len(word) <= 8 and (word.replace(".", "").isdigit() or len(word) == 1)
    return is_short and not text[start : stop - len(word)].strip()


def _is_abbreviation(word: str, before: str, following: str) -> bool:
    folded = re.split("['’]", word.casefold().strip("'’"))[-1]
    starts_with_digit = bool(following) and following[0].isdigit()
    if folded in _BEFORE_NUMBER:
        return starts_with_digit
    if folded in _ABBREVIATIONS:
        return True
    if _INITIALS.fullmatch(folded):
        first = _WORD.match(following)
        return bool(following) and (first is None or first.group().casefold() not in _STARTERS)
    if len(word) == 1 and word.isalpha() and word.isupper():
        previous = before[: -len(word)].split()
        return not (previous and previous[-1].casefold() in _LETTERED)
    return False
