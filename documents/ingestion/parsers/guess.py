"""The likeliest reading of bytes that say nothing about their encoding.

Each encoding that can read the bytes gives a text, and the text with the likeliest letters wins
(`letters`). The encoding that a page declares counts unless its letters are clearly worse.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from documents.errors import ParseError
from documents.ingestion.parsers.declared import declared_encoding
from documents.ingestion.parsers.letters import (
    alphabetic_score,
    has_only_typography,
    ideographic_score,
)

NAMES = {
    "utf-16-le": "utf-16",
    "utf-16-be": "utf-16",
    "utf-32-le": "utf-32",
    "utf-32-be": "utf-32",
}
_EAST_ASIAN = ("big5", "cp950", "big5hkscs", "gb18030", "cp932", "euc_jp", "cp949")
# In order of use: an earlier one wins where two give texts that are equally likely.
_ONE_BYTE = (
    "cp1252", "cp1251", "cp1250", "cp1254", "cp1253", "cp1255", "cp1256", "cp1257", "cp1258",
    "cp874", "koi8_r", "koi8_u", "iso8859_2", "iso8859_15", "iso8859_5", "iso8859_6", "iso8859_7",
    "iso8859_8", "iso8859_13", "iso8859_4", "iso8859_3", "iso8859_10", "iso8859_14", "iso8859_16",
    "cp866", "mac_cyrillic", "mac_roman", "cp850", "cp852", "cp437", "cp737", "cp855", "cp862",
    "mac_latin2", "mac_greek", "mac_turkish",
)  # fmt: skip
_HANDICAP = 0.15  # a place later in that list must be this much likelier
JUDGED_BYTES = 40_000
_DOUBTFUL_MARGIN = 4.0  # log likelihood between the best two texts
# Log likelihood of a character, on one article in 50 languages: right guesses have -7.4 or
# more in Chinese (wrong ones -10) and -4.5 or more in alphabets (random letters -5.3).
_WIDE_MEAN = -8.5
_NARROW_MEAN = -4.9
UNLIKELY_MEAN = -9.0
_DECLARED_MARGIN = 0.7  # a character: how much better a text must be than the declared one
_MAX_BROKEN_SHARE = 0.002
HIGH_BYTE = re.compile(rb"[^\x00-\x7f]")
_EBCDIC_BLANK = b"@"
_EBCDIC_LETTERS = bytes([*range(0x81, 0x8A), *range(0x91, 0x9A), *range(0xA2, 0xAA)])


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read the bytes."""

    text: str
    encoding: str
    score: float = 0.0
    is_doubtful: bool = False
    broken: int = 0  # characters that could not be read


def try_reading(data: bytes, encoding: str) -> str | None:
    """The text in an encoding, or None where the bytes do not fit."""
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def by_letters(data: bytes) -> Reading | None:
    """The likeliest of the readings without an error; the declared one unless it is bad."""
    _refuse_ebcdic(data)
    declared = declared_encoding(data)
    readings = [*_east_asian(data), *_one_byte(data, declared)]
    if not readings:
        return None
    high = _high_bytes(data)
    readings.sort(key=lambda reading: reading.score, reverse=True)
    best = readings[0]
    named = next((item for item in readings if item.encoding == declared), None)
    margin = max(_DECLARED_MARGIN * high, 2 * _DOUBTFUL_MARGIN)
    if named is not None and best.score - named.score <= margin:
        return named
    if _is_likely(best):
        is_doubtful = _is_close(best, readings) or declared is not None
        return Reading(best.text, best.encoding, best.score, is_doubtful)
    return _by_lenience(data) or (
        Reading(best.text, best.encoding, best.score, is_doubtful=True)
        if mean_score(best.score, best.text) > UNLIKELY_MEAN
        else None
    )


def _is_likely(reading: Reading) -> bool:
    least = _WIDE_MEAN if reading.encoding in _EAST_ASIAN else _NARROW_MEAN
    return mean_score(reading.score, reading.text[:JUDGED_BYTES]) > least


def _is_close(best: Reading, readings: Sequence[Reading]) -> bool:
    """Whether another text is nearly as likely; quotation marks and dashes prove little."""
    if best.encoding == "cp1252" and has_only_typography(best.text):
        return False
    other = next((item for item in readings if item.text != best.text), None)
    return other is not None and best.score - other.score < _DOUBTFUL_MARGIN


def _refuse_ebcdic(data: bytes) -> None:
    sample = data[:JUDGED_BYTES]
    letters = len(sample) - len(sample.translate(None, _EBCDIC_LETTERS))
    if letters > len(sample) / 2 and sample.count(_EBCDIC_BLANK) > 4 * sample.count(b" "):
        message = "The file is in EBCDIC, as mainframes write it. Save it as UTF-8, then upload it."
        raise ParseError(message, code="refused")


def _high_bytes(data: bytes) -> int:
    return max(len(HIGH_BYTE.findall(data[:JUDGED_BYTES])), 1)


def _east_asian(data: bytes) -> list[Reading]:
    readings = []
    for place, encoding in enumerate(_EAST_ASIAN):
        text = try_reading(data, encoding)
        if text is not None:
            judged = (
                text
                if len(data) <= JUDGED_BYTES
                else data[:JUDGED_BYTES].decode(encoding, "ignore")
            )
            score = ideographic_score(judged, encoding) - place * 0.01
            readings.append(Reading(text, encoding, score))
    return readings


def _one_byte(data: bytes, declared: str | None) -> list[Reading]:
    readings = []
    others = () if declared in (None, *_ONE_BYTE, *_EAST_ASIAN) else (declared,)
    for place, encoding in enumerate((*_ONE_BYTE, *others)):
        text = try_reading(data, encoding)
        if text is not None:
            score = alphabetic_score(text[:JUDGED_BYTES]) - place * _HANDICAP
            readings.append(Reading(text, encoding, score))
    return readings


def by_wide_letters(data: bytes) -> Reading | None:
    """UTF-16 without a mark or zero bytes: Chinese or Japanese without a Latin letter."""
    readings = []
    for encoding in ("utf-16-le", "utf-16-be"):
        text = try_reading(data, encoding)
        if text is not None:
            judged = text[: JUDGED_BYTES // 2]
            mean = mean_score(ideographic_score(judged, "utf_16"), judged)
            readings.append(Reading(text, encoding, mean))
    best = max(readings, key=lambda reading: reading.score, default=None)
    return best if best is not None and best.score > _WIDE_MEAN else None


def _by_lenience(data: bytes) -> Reading | None:
    """The best likely reading that leaves a few damaged characters out."""
    readings = []
    for encoding in (*_EAST_ASIAN, "cp1252", "cp1251", "cp1250"):
        reading = lenient(data, encoding)
        if reading is not None:
            judged = reading.text[:JUDGED_BYTES]
            is_wide = encoding in _EAST_ASIAN
            score = ideographic_score(judged, encoding) if is_wide else alphabetic_score(judged)
            readings.append(replace(reading, encoding=encoding, score=score))
    best = max(readings, key=lambda reading: reading.score, default=None)
    return best if best is not None and _is_likely(best) else None


def lenient(data: bytes, encoding: str) -> Reading | None:
    """A reading that leaves a few damaged characters out; None where there are many."""
    text = data.decode(encoding, "replace")
    broken = text.count("\ufffd")
    if broken > max(1, _MAX_BROKEN_SHARE * len(text)):
        return None
    kept = data.decode(encoding, "ignore")
    return Reading(kept, NAMES.get(encoding, encoding), is_doubtful=True, broken=broken)


def mean_score(score: float, text: str) -> float:
    """A score for each character outside ASCII."""
    return score / max(sum(char > "\x7f" for char in text), 1)
