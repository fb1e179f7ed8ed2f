"""Bytes to text: which encoding a text file is in, and clean characters.

UTF-8 is tried strictly first, then what a byte order mark or a pattern of zero bytes
says, then the East Asian encodings, judged by how many everyday characters of one script
each gives, and last the one-byte encodings. Replacement characters are never made: what
fits no encoding is refused.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from dataclasses import dataclass

from charset_normalizer import from_bytes

from documents.errors import ParseError
from documents.ingestion.parsers.scripts import (
    EVERYDAY_HAN,
    detect_language,
    is_han,
    is_hangul,
    is_kana,
    is_wide_mark,
)
from documents.records import Notice

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16: its mark begins with the same bytes
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_EAST_ASIAN = (
    "big5",
    "cp950",
    "big5hkscs",
    "gb18030",
    "cp932",
    "euc_jp",
    "cp949",
    "utf_16_le",
    "utf_16_be",
)
_ONE_BYTE = (
    "cp1252", "cp1250", "cp1251", "koi8_r", "mac_cyrillic", "cp1253", "cp1254", "cp1255",
    "cp1256", "cp1257", "iso8859_2", "cp874",
)  # fmt: skip
# Their unaccented words show through a wrong one-byte guess, so the language tells.
_NEIGHBOURS = {"hu": "cp1250", "pl": "cp1250", "tr": "cp1254"}
_SAMPLE_BYTES = 200_000
_EAST_ASIAN_THRESHOLD = 0.25  # right guesses score above 0.4 on real files, wrong ones below 0.15
_MAX_CONTROL_SHARE = 0.10
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f\x80-\x84\x86-\x9f\ufffe\uffff]")
_ESCAPES = re.compile("[\x0e\x0f\x1b]")
_LINE_ENDS = re.compile("\r\n?|\x0b|\x0c|\x85|\u2028|\u2029")
_INVISIBLE_ONLY = re.compile("[\\s\u00ad\u200b-\u200f\u2060\ufeff\x00]*")


@dataclass(frozen=True, slots=True)
class Decoded:
    """Clean text, the encoding it was read with, and what was removed."""

    text: str
    encoding: str
    warnings: tuple[Notice, ...] = ()


def decode(data: bytes) -> Decoded:
    """Read `data` as text: line ends become newlines, control characters go.

    Raises:
        ParseError: `empty` where nothing but white space is left, `refused` where the bytes
            are no text in any encoding known here.
    """
    text, encoding = _decode(data)
    text = _LINE_ENDS.sub("\n", text.removeprefix("\ufeff"))
    cleaned, removed = _CONTROLS.subn("", text)
    if removed > _MAX_CONTROL_SHARE * max(len(text), 1):
        raise ParseError(
            "The file holds binary data, not text. Upload Markdown or plain text.", code="refused"
        )
    if _INVISIBLE_ONLY.fullmatch(cleaned):
        raise ParseError("The file is empty. Upload a file that holds text.", code="empty")
    warnings: tuple[Notice, ...] = ()
    if removed:
        message = f"{removed} control characters (such as NUL) were removed from the text."
        warnings = (Notice("control_characters", message),)
    return Decoded(cleaned.encode("utf-8", "ignore").decode("utf-8"), encoding, warnings)


def _decode(data: bytes) -> tuple[str, str]:
    for attempt in (_by_mark, _by_utf8, _by_escape, _by_zero_bytes, _by_east_asian, _by_one_byte):
        found = attempt(data)
        if found is not None:
            return found
    raise ParseError(
        "The encoding of this text file cannot be told. Save it as UTF-8 and upload it again.",
        code="refused",
    )


def _try(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _by_mark(data: bytes) -> tuple[str, str] | None:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            text = _try(data, encoding)
            return None if text is None else (text, encoding.removesuffix("-sig"))
    return None


def _by_utf8(data: bytes) -> tuple[str, str] | None:
    if _zero_pattern(data) is not None or b"\x1b$" in data:
        return None
    text = _try(data, "utf-8")
    return None if text is None else (text, "utf-8")


def _by_escape(data: bytes) -> tuple[str, str] | None:
    if b"\x1b$" not in data:
        return None
    for encoding in ("iso2022_jp_2", "iso2022_kr"):
        text = _try(data, encoding)
        if text is not None and not _ESCAPES.search(text):
            return text, encoding
    return None


def _zero_pattern(data: bytes) -> str | None:
    """UTF-16 or UTF-32 without a mark, told by where its zero bytes stand."""
    sample = data[: _SAMPLE_BYTES - _SAMPLE_BYTES % 4]
    if len(data) % 2 or len(sample) < 4:
        return None
    shares = [sample[i::4].count(0) * 4 / len(sample) for i in range(4)]
    if min(shares[1:]) > 0.7 and shares[0] < 0.1:
        return "utf-32-le"
    if min(shares[:3]) > 0.7 and shares[3] < 0.1:
        return "utf-32-be"
    even, odd = (shares[0] + shares[2]) / 2, (shares[1] + shares[3]) / 2
    if max(even, odd) > 0.2 and min(even, odd) < 0.02:
        return "utf-16-be" if even > odd else "utf-16-le"
    return None


def _by_zero_bytes(data: bytes) -> tuple[str, str] | None:
    encoding = _zero_pattern(data)
    text = None if encoding is None else _try(data, encoding)
    return None if text is None or encoding is None else (text, encoding)


def _by_east_asian(data: bytes) -> tuple[str, str] | None:
    candidates = []
    for order, encoding in enumerate(_EAST_ASIAN):
        text = _try(data, encoding)
        if text is not None:
            candidates.append((_east_asian_score(text), -order, text, encoding))
    if not candidates:
        return None
    score, _, text, encoding = max(candidates)
    return (text, encoding) if score >= _EAST_ASIAN_THRESHOLD else None


def _east_asian_score(text: str) -> float:
    """Share of the non-ASCII characters that are everyday ones of one script, less odd ones."""
    counts = Counter(char for char in text[:_SAMPLE_BYTES] if char > "\x7f")
    total = sum(counts.values())
    if not total:
        return 0.0
    everyday = odd = 0
    for char, count in counts.items():
        if char in EVERYDAY_HAN or is_kana(char) or is_hangul(char) or is_wide_mark(char):
            everyday += count
        elif not is_han(char):
            odd += count
    return (everyday - 2 * odd) / total


def _by_one_byte(data: bytes) -> tuple[str, str] | None:
    western = _try(data, "cp1252")
    neighbour = _NEIGHBOURS.get(detect_language(western or "") or "")
    if neighbour is not None and not data.isascii():
        text = _try(data, neighbour)
        if text is not None:
            return text, neighbour
    if western is not None and _is_plainly_western(western):
        return western, "cp1252"
    best = from_bytes(data, cp_isolation=list(_ONE_BYTE), enable_fallback=False).best()
    if best is not None:
        text = _try(data, best.encoding)
        if text is not None:
            return text, best.encoding
    return None if western is None else (western, "cp1252")


def _is_plainly_western(text: str) -> bool:
    """Few accented letters among plain ones: what French, German or typographic English has."""
    accented = sum(char > "\x7f" and char.isalpha() for char in text)
    plain = sum(char.isascii() and char.isalpha() for char in text)
    odd = sum(char in "¤¦¬¹²³¼½¾þðÞÐƒˆ‡‰" for char in text)
    common = sum(char in "àâäçéèêëîïôöùûüÿœæßñáíóúìòãõåøÀÂÄÇÉÈÊËÎÏÔÖÙÛÜŒÑÁÍÓÚÅØÆ" for char in text)
    return accented <= 0.12 * max(plain, 1) and odd == 0 and common >= 0.9 * accented
