"""From text to tokens: words, numbers, identifiers and ideograph runs, in order.

A token may stand for several terms. `AES-256` gives the whole, the joined and the long parts
(`aes-256`, `aes256`, `aes`, `256`), so that every way of typing it meets; a section number
(`4.3`) is one exact term; an ideograph run becomes 1- and 2-grams.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import snowballstemmer

from documents.ingestion.analysis import english
from documents.ingestion.analysis.stop_words import STOP_WORDS
from documents.ingestion.folding import fold_for_quotes, strip_accents

# Scripts written without blanks: Han, kana, Hangul, Thai, Lao, Burmese, Khmer.
_UNSPACED = (
    r"\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\U00020000-\U0003ffff"
)
# Marks that Python does not count as word characters though they are part of words.
_MARKS = r"\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0dff"
_LETTER = rf"(?:[^\W_{_UNSPACED}]|[{_MARKS}])"
_TOKEN = re.compile(
    rf"(?P<run>[{_UNSPACED}]+)"
    rf"|(?P<section>§+ ?(?:{_LETTER})+(?:[.-](?:{_LETTER})+)*)"
    rf"|(?P<word>(?:{_LETTER})+(?:(?:[-'_&.@]|(?<=\d)[,:/](?=\d))(?:{_LETTER})+)*)"
    r"|(?P<stop>[.!?;:。！？；|]|\n)"
)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_NUMBER = re.compile(r"\d+(?:[.:/]\d+)*")
_PART = re.compile(r"\d+(?:\.\d+)*|[^\W\d_]+")
_INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")
_NOT = re.compile(r"n't$")
_ELIDED = "l d qu j n s c m t jusqu lorsqu puisqu quoiqu dell all nell sull dall un"
_ELISIONS = frozenset(_ELIDED.split())
_STEMMERS = {
    "fr": "french", "de": "german", "es": "spanish", "it": "italian", "nl": "dutch",
    "pt": "portuguese", "sv": "swedish", "da": "danish", "no": "norwegian", "nb": "norwegian",
    "fi": "finnish", "ro": "romanian", "hu": "hungarian", "tr": "turkish", "ru": "russian",
    "el": "greek", "ca": "catalan",
}  # fmt: skip
_LINE_OF_CAPITALS = 0.6  # above this share of capitals a line shouts, and `IT` is no acronym


@dataclass(frozen=True, slots=True)
class Token:
    """One token: its folded surface and the terms it is found by, the main one first.

    `is_stop`: carries no topic. `is_run`: a 1- or 2-gram of a script without blanks, where
    a `surface` of two characters is a 2-gram. `starts_phrase`: the first after a full stop.
    """

    surface: str
    terms: tuple[str, ...]
    is_stop: bool = False
    is_run: bool = False
    starts_phrase: bool = False


def tokens(text: str, language: str | None) -> Iterator[Token]:
    """Yield the tokens of a text in order; punctuation and emoji yield none."""
    language = language or "en"
    for line in text.splitlines():
        yield from _line_tokens(fold_for_quotes(line).text, language)


def _line_tokens(line: str, language: str) -> Iterator[Token]:
    shouts = _shouts(line)
    starts_phrase = True
    for match in _TOKEN.finditer(line):
        if match["stop"]:
            starts_phrase = True
            continue
        if match["run"]:
            yield from _run_tokens(match["run"])
        elif match["section"]:
            yield _section_token(match["section"])
        else:
            yield _word_token(match["word"], language, shouts, starts_phrase)
        starts_phrase = False


def _shouts(line: str) -> bool:
    letters = [c for c in line if c.isalpha()]
    return sum(c.isupper() for c in letters) > _LINE_OF_CAPITALS * len(letters) > 6


def _run_tokens(run: str) -> Iterator[Token]:
    run = strip_accents(run.casefold())
    for i, character in enumerate(run):
        yield Token(character, (character,), is_run=True)
        pair = run[i : i + 2]
        if len(pair) == 2:
            yield Token(pair, (pair,), is_run=True)


def _section_token(section: str) -> Token:
    number = section.lstrip("§").strip().casefold()
    return Token(f"§{number}", (f"§{number}", number))


def _word_token(word: str, language: str, shouts: bool, starts_phrase: bool) -> Token:
    folded = strip_accents(word.casefold())
    if _THOUSANDS.fullmatch(folded):
        folded = folded.replace(",", "")
    if _NUMBER.fullmatch(folded):
        return Token(folded, (folded,), starts_phrase=starts_phrase)
    is_stop = folded in STOP_WORDS.get(language, STOP_WORDS["en"])
    if is_stop and _is_name(word, shouts, starts_phrase):
        # IT and WHO are names in running text; their term cannot meet the pronoun's.
        return Token(word, (word,), starts_phrase=starts_phrase)
    return Token(folded, _terms(word.casefold(), language), is_stop, False, starts_phrase)


def _is_name(word: str, shouts: bool, starts_phrase: bool) -> bool:
    """Whether a stop word in capitals is a name: WHO, IT, the A of Plan A."""
    if shouts or not word.isupper() or word == "I":
        return False
    return len(word) > 1 or not starts_phrase


@lru_cache(maxsize=65536)
def _terms(word: str, language: str) -> tuple[str, ...]:
    """The terms of one casefolded word, the main one first, none twice."""
    if "'" in word:
        word = _without_apostrophe(word)
    if _INITIALS.fullmatch(word):
        return (strip_accents(word.replace(".", "")),)
    parts = _PART.findall(word)
    if len(parts) < 2:
        return (stem(word, language),)
    has_digit = any(part[0].isdigit() for part in parts)
    whole = strip_accents(word)
    joined = re.sub(r"[-_&@]|(?<!\d)\.|\.(?!\d)", "", whole)
    found = [joined, whole] if has_digit or "." in word else [stem(joined, language)]
    stop_words = STOP_WORDS.get(language, STOP_WORDS["en"])
    for part in parts:
        if len(part) > 1 and part not in stop_words:
            found.append(stem(part, language))
    return tuple(dict.fromkeys(found))


def _without_apostrophe(word: str) -> str:
    """Drop the possessive, the elided article and the rest of a contraction."""
    if _NOT.search(word):
        return "not"
    head, _, tail = word.partition("'")
    if head in _ELISIONS and tail:
        return tail
    if tail in ("s", "", "ll", "re", "ve", "d", "m"):
        return head
    return word.replace("'", "")


def stem(word: str, language: str) -> str:
    """Stem one casefolded word by its language, then drop its accents."""
    if language == "en":
        return english.stem(strip_accents(word))
    algorithm = _STEMMERS.get(language)
    if algorithm is None or word[:1].isdigit():
        return strip_accents(word)
    stemmed: str = _stemmer(algorithm).stemWord(word)
    return strip_accents(stemmed)


@lru_cache
def _stemmer(algorithm: str) -> snowballstemmer.stemmer:
    return snowballstemmer.stemmer(algorithm)
