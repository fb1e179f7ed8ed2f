"""Bytes to text: which encoding a text file is in, and clean characters.

A byte order mark decides, then valid UTF-8, then escapes and the pattern of zero bytes. What is
left is judged by the letters that each encoding gives (`letters`); the encoding that a page
declares counts unless its letters are clearly worse. Replacement characters are never made, and
where there is doubt a warning names the guess, so that the uploader looks at the text.
"""

from __future__ import annotations

import codecs
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
from documents.records import Notice

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: its mark begins with the same bytes
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NAMES = {
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
_ISO_2022 = ("iso2022_jp_2", "iso2022_jp_ext", "iso2022_kr")
_SAMPLE_BYTES = 200_000
_MIN_CUT_BYTES = 64  # from which a file of two-byte characters may lack its last byte
_JUDGED_BYTES = 40_000
_DOUBTFUL_MARGIN = 4.0  # log likelihood between the best two texts
# Log likelihood of a character, on one article in 50 languages: right guesses have -7.4 or
# more in Chinese (wrong ones -10) and -4.5 or more in alphabets (random letters -5.3).
_WIDE_MEAN = -8.5
_NARROW_MEAN = -4.9
_UNLIKELY_MEAN = -9.0
_DECLARED_MARGIN = 0.7  # a character: how much better a text must be than the declared one
_MAX_BROKEN_SHARE = 0.002
_MAX_CONTROL_SHARE = 0.10
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f\x80-\x84\x86-\x9f\ufdd0-\ufdef\ufffe\uffff]")
_ESCAPES = re.compile("[\x0e\x0f\x1b]")
_HZ = re.compile(rb"~\{(?:[\x21-\x7e]{2})+~\}")
_UTF_7 = re.compile(rb"\+[A-Za-z0-9/+]{3,}-?")
_LINE_ENDS = re.compile("\r\n?|\x0b|\x0c|\x85|\u2028|\u2029")
_INVISIBLE_ONLY = re.compile("[\\s\u00ad\u200b-\u200f\u2060\ufeff\x00]*")
_HIGH = re.compile(rb"[^\x00-\x7f]")
_BROKEN_UTF_8 = "documents.mixed"
_DROPPED = "\ufdd0"  # no character, so it stands in no text
_EBCDIC_BLANK = b"@"
_EBCDIC_LETTERS = bytes([*range(0x81, 0x8A), *range(0x91, 0x9A), *range(0xA2, 0xAA)])


@dataclass(frozen=True, slots=True)
class Decoded:
    """Clean text, the encoding it was read with, and what was removed."""

    text: str
    encoding: str
    warnings: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class _Reading:
    """One way to read the bytes."""

    text: str
    encoding: str
    score: float = 0.0
    is_doubtful: bool = False
    broken: int = 0  # characters that could not be read


def decode(data: bytes) -> Decoded:
    """Read `data` as text: line ends become newlines, control characters go.

    Raises:
        ParseError: `empty` where nothing but white space is left, `refused` where the bytes
            are no text in any encoding known here.
    """
    reading = _read(data)
    text = _LINE_ENDS.sub("\n", reading.text.removeprefix("\ufeff"))
    cleaned, removed = _CONTROLS.subn("", text)
    if removed > _MAX_CONTROL_SHARE * max(len(text), 1):
        raise ParseError(
            "The file holds binary data, not text. Upload Markdown or plain text.", code="refused"
        )
    if _INVISIBLE_ONLY.fullmatch(cleaned):
        raise ParseError("The file is empty. Upload a file that holds text.", code="empty")
    whole = cleaned.encode("utf-8", "ignore").decode("utf-8")
    broken = reading.broken + len(cleaned) - len(whole)
    return Decoded(whole, reading.encoding, _warnings(reading, removed, broken))


def _warnings(reading: _Reading, removed: int, broken: int) -> tuple[Notice, ...]:
    notices = []
    if reading.is_doubtful:
        message = (
            f"The file was read as {reading.encoding}, which is a guess. Look at the decoded text;"
            " if letters are wrong, save the file as UTF-8 and upload it again."
        )
        notices.append(Notice("doubtful_encoding", message))
    if broken:
        message = f"{broken} damaged characters could not be read and were left out."
        notices.append(Notice("broken_characters", message))
    if removed:
        message = f"{removed} control characters (such as NUL) were removed from the text."
        notices.append(Notice("control_characters", message))
    return tuple(notices)


def _read(data: bytes) -> _Reading:
    for attempt in (
        _by_mark,
        _by_escape,
        _by_utf8,
        _by_zero_bytes,
        _by_wide_letters,
        _by_letters,
    ):
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


def _by_mark(data: bytes) -> _Reading | None:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            body = data[len(mark) :]
            name = _NAMES.get(encoding, encoding)
            text = _try(body, encoding)
            if text is not None:
                return _Reading(text, name)
            return (
                _mixed_utf8(body, is_marked=True) if name == "utf-8" else _lenient(body, encoding)
            )
    return None


def _by_escape(data: bytes) -> _Reading | None:
    """Encodings that write other scripts with ASCII bytes."""
    if _HIGH.search(data[:_SAMPLE_BYTES]):
        return None
    if b"\x1b$" in data or b"\x1b(" in data:
        for encoding in _ISO_2022:
            text = _try(data, encoding)
            if text is not None and not _ESCAPES.search(text):
                return _Reading(text, encoding)
    if _HZ.search(data):
        text = _try(data, "hz")
        score = ideographic_score(text or "", "gb18030")
        if text is not None and _mean(score, text) > _UNLIKELY_MEAN:
            return _Reading(text, "hz")
    return _by_utf7(data)


def _by_utf7(data: bytes) -> _Reading | None:
    """UTF-7, where all that looks like it gives likely letters. Nobody should send it."""
    groups = _UTF_7.findall(data)
    text = _try(data, "utf-7") if groups else None
    if text is None or text.isascii() or sum(char > "\x7f" for char in text) < len(groups):
        return None
    score = max(alphabetic_score(text), ideographic_score(text, "utf_16"))
    is_likely = _mean(score, text) > _UNLIKELY_MEAN
    return _Reading(text, "utf-7", is_doubtful=True) if is_likely else None


def _by_utf8(data: bytes) -> _Reading | None:
    if _zero_pattern(data) is not None:
        return None
    text = _try(data, "utf-8")
    if text is None:
        return _mixed_utf8(data)
    declared = declared_encoding(data)
    differs = declared not in (None, "utf-8", "ascii") and not text.isascii()
    return _Reading(text, "utf-8", is_doubtful=differs)


def _mixed_utf8(data: bytes, *, is_marked: bool = False) -> _Reading | None:
    """UTF-8 with a few bytes of something else, such as a paragraph pasted from elsewhere."""
    with_surrogates = _with_surrogates(data)
    if with_surrogates is not None:
        return with_surrogates
    good = sum(char > "\x7f" for char in data.decode("utf-8", "ignore"))
    text = data.decode("utf-8", _BROKEN_UTF_8)
    foreign = len(data.decode("utf-8", "replace")) - len(data.decode("utf-8", "ignore"))
    broken = text.count(_DROPPED)
    if not is_marked and (not good or good < 3 * (foreign - broken)):
        return None
    return _Reading(text.replace(_DROPPED, ""), "utf-8", is_doubtful=True, broken=broken)


def _with_surrogates(data: bytes) -> _Reading | None:
    """UTF-8 in which pairs of surrogates were encoded one by one, or single ones left."""
    try:
        text = data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return None
    pairs = text.encode("utf-16-le", "surrogatepass")
    lost = pairs.decode("utf-16-le", "replace").count("\ufffd") - text.count("\ufffd")
    whole = pairs.decode("utf-16-le", "ignore")
    return _Reading(whole, "utf-8", is_doubtful=True, broken=lost)


def _read_foreign_bytes(error: UnicodeError) -> tuple[str, int]:
    """Read bytes that are no UTF-8 as Windows-1252; a character cut off at the end is marked."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    piece = error.object[error.start : error.end]
    is_cut = error.reason == "unexpected end of data"
    return _DROPPED if is_cut else piece.decode("cp1252", "ignore") or _DROPPED, error.end


codecs.register_error(_BROKEN_UTF_8, _read_foreign_bytes)


def _zero_pattern(data: bytes) -> str | None:
    """UTF-16 or UTF-32 without a mark, told by where its zero bytes stand."""
    sample = data[: _SAMPLE_BYTES - _SAMPLE_BYTES % 4]
    if len(sample) < 4 or (len(data) % 2 and len(data) < _MIN_CUT_BYTES):
        return None
    shares = [sample[i::4].count(0) * 4 / len(sample) for i in range(4)]
    if (min(shares[1:]) > 0.7 and shares[0] < 0.1) or (min(shares[2:]) > 0.9 and shares[1] < 0.5):
        return "utf-32-le"
    if (min(shares[:3]) > 0.7 and shares[3] < 0.1) or (min(shares[:2]) > 0.9 and shares[2] < 0.5):
        return "utf-32-be"
    even, odd = (shares[0] + shares[2]) / 2, (shares[1] + shares[3]) / 2
    if max(even, odd) > 0.2 and min(even, odd) < 0.02:
        return "utf-16-be" if even > odd else "utf-16-le"
    return None


def _by_zero_bytes(data: bytes) -> _Reading | None:
    encoding = _zero_pattern(data)
    if encoding is None:
        return None
    text = _try(data, encoding)
    return _lenient(data, encoding) if text is None else _Reading(text, encoding)


def _by_letters(data: bytes) -> _Reading | None:
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
        return _Reading(best.text, best.encoding, best.score, is_doubtful)
    return _by_lenience(data) or (
        _Reading(best.text, best.encoding, best.score, is_doubtful=True)
        if _mean(best.score, best.text) > _UNLIKELY_MEAN
        else None
    )


def _is_likely(reading: _Reading) -> bool:
    least = _WIDE_MEAN if reading.encoding in _EAST_ASIAN else _NARROW_MEAN
    return _mean(reading.score, reading.text[:_JUDGED_BYTES]) > least


def _is_close(best: _Reading, readings: Sequence[_Reading]) -> bool:
    """Whether another text is nearly as likely; quotation marks and dashes prove little."""
    if best.encoding == "cp1252" and has_only_typography(best.text):
        return False
    other = next((item for item in readings if item.text != best.text), None)
    return other is not None and best.score - other.score < _DOUBTFUL_MARGIN


def _refuse_ebcdic(data: bytes) -> None:
    sample = data[:_JUDGED_BYTES]
    letters = len(sample) - len(sample.translate(None, _EBCDIC_LETTERS))
    if letters > len(sample) / 2 and sample.count(_EBCDIC_BLANK) > 4 * sample.count(b" "):
        message = "The file is in EBCDIC, as mainframes write it. Save it as UTF-8, then upload it."
        raise ParseError(message, code="refused")


def _high_bytes(data: bytes) -> int:
    return max(len(_HIGH.findall(data[:_JUDGED_BYTES])), 1)


def _east_asian(data: bytes) -> list[_Reading]:
    readings = []
    for place, encoding in enumerate(_EAST_ASIAN):
        text = _try(data, encoding)
        if text is not None:
            judged = (
                text
                if len(data) <= _JUDGED_BYTES
                else data[:_JUDGED_BYTES].decode(encoding, "ignore")
            )
            score = ideographic_score(judged, encoding) - place * 0.01
            readings.append(_Reading(text, encoding, score))
    return readings


def _one_byte(data: bytes, declared: str | None) -> list[_Reading]:
    readings = []
    others = () if declared in (None, *_ONE_BYTE, *_EAST_ASIAN) else (declared,)
    for place, encoding in enumerate((*_ONE_BYTE, *others)):
        text = _try(data, encoding)
        if text is not None:
            score = alphabetic_score(text[:_JUDGED_BYTES]) - place * _HANDICAP
            readings.append(_Reading(text, encoding, score))
    return readings


def _by_wide_letters(data: bytes) -> _Reading | None:
    """UTF-16 without a mark or zero bytes: Chinese or Japanese without a Latin letter."""
    readings = []
    for encoding in ("utf-16-le", "utf-16-be"):
        text = _try(data, encoding)
        if text is not None:
            judged = text[: _JUDGED_BYTES // 2]
            mean = _mean(ideographic_score(judged, "utf_16"), judged)
            readings.append(_Reading(text, encoding, mean))
    best = max(readings, key=lambda reading: reading.score, default=None)
    return best if best is not None and best.score > _WIDE_MEAN else None


def _by_lenience(data: bytes) -> _Reading | None:
    """The best likely reading that leaves a few damaged characters out."""
    readings = []
    for encoding in (*_EAST_ASIAN, "cp1252", "cp1251", "cp1250"):
        reading = _lenient(data, encoding)
        if reading is not None:
            judged = reading.text[:_JUDGED_BYTES]
            is_wide = encoding in _EAST_ASIAN
            score = ideographic_score(judged, encoding) if is_wide else alphabetic_score(judged)
            readings.append(replace(reading, encoding=encoding, score=score))
    best = max(readings, key=lambda reading: reading.score, default=None)
    return best if best is not None and _is_likely(best) else None


def _lenient(data: bytes, encoding: str) -> _Reading | None:
    text = data.decode(encoding, "replace")
    broken = text.count("\ufffd")
    if broken > max(1, _MAX_BROKEN_SHARE * len(text)):
        return None
    kept = data.decode(encoding, "ignore")
    return _Reading(kept, _NAMES.get(encoding, encoding), is_doubtful=True, broken=broken)


def _mean(score: float, text: str) -> float:
    return score / max(sum(char > "\x7f" for char in text), 1)
