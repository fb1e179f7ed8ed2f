"""Bytes to text: which encoding a text file is in, and clean characters.

A byte order mark decides, then valid UTF-8, then escapes and the pattern of zero bytes. What is
left is judged by the letters that each encoding gives (`guess`). Replacement characters are
never made, and where there is doubt a warning names the guess, so that the uploader looks at
the text.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from documents.errors import ParseError
from documents.ingestion.parsers.declared import declared_encoding
from documents.ingestion.parsers.guess import (
    HIGH_BYTE,
    NAMES,
    UNLIKELY_MEAN,
    Reading,
    by_letters,
    by_wide_letters,
    lenient,
    mean_score,
    try_reading,
)
from documents.ingestion.parsers.letters import alphabetic_score, ideographic_score
from documents.records import Notice

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: its mark begins with the same bytes
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ISO_2022 = ("iso2022_jp_2", "iso2022_jp_ext", "iso2022_kr")
_SAMPLE_BYTES = 200_000
_MIN_CUT_BYTES = 64  # from which a file of two-byte characters may lack its last byte
_MAX_CONTROL_SHARE = 0.10
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f\x80-\x84\x86-\x9f\ufdd0-\ufdef\ufffe\uffff]")
_ESCAPES = re.compile("[\x0e\x0f\x1b]")
_HZ = re.compile(rb"~\{(?:[\x21-\x7e]{2})+~\}")
_UTF_7 = re.compile(rb"\+[A-Za-z0-9/+]{3,}-?")
_LINE_ENDS = re.compile("\r\n?|\x0b|\x0c|\x85|\u2028|\u2029")
_INVISIBLE_ONLY = re.compile("[\\s\u00ad\u200b-\u200f\u2060\ufeff\x00]*")
_BROKEN_UTF_8 = "documents.mixed"
_DROPPED = "\ufdd0"  # no character, so it stands in no text


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


def _warnings(reading: Reading, removed: int, broken: int) -> tuple[Notice, ...]:
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


def _read(data: bytes) -> Reading:
    for attempt in (
        _by_mark,
        _by_escape,
        _by_utf8,
        _by_zero_bytes,
        by_wide_letters,
        by_letters,
    ):
        found = attempt(data)
        if found is not None:
            return found
    raise ParseError(
        "The encoding of this text file cannot be told. Save it as UTF-8 and upload it again.",
        code="refused",
    )


def _by_mark(data: bytes) -> Reading | None:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            body = data[len(mark) :]
            name = NAMES.get(encoding, encoding)
            text = try_reading(body, encoding)
            if text is not None:
                return Reading(text, name)
            return _mixed_utf8(body, is_marked=True) if name == "utf-8" else lenient(body, encoding)
    return None


def _by_escape(data: bytes) -> Reading | None:
    """Encodings that write other scripts with ASCII bytes."""
    if HIGH_BYTE.search(data[:_SAMPLE_BYTES]):
        return None
    if b"\x1b$" in data or b"\x1b(" in data:
        for encoding in _ISO_2022:
            text = try_reading(data, encoding)
            if text is not None and not _ESCAPES.search(text):
                return Reading(text, encoding)
    if _HZ.search(data):
        text = try_reading(data, "hz")
        score = ideographic_score(text or "", "gb18030")
        if text is not None and mean_score(score, text) > UNLIKELY_MEAN:
            return Reading(text, "hz")
    return _by_utf7(data)


def _by_utf7(data: bytes) -> Reading | None:
    """UTF-7, where all that looks like it gives likely letters. Nobody should send it."""
    groups = _UTF_7.findall(data)
    text = try_reading(data, "utf-7") if groups else None
    if text is None or text.isascii() or sum(char > "\x7f" for char in text) < len(groups):
        return None
    score = max(alphabetic_score(text), ideographic_score(text, "utf_16"))
    is_likely = mean_score(score, text) > UNLIKELY_MEAN
    return Reading(text, "utf-7", is_doubtful=True) if is_likely else None


def _by_utf8(data: bytes) -> Reading | None:
    if _zero_pattern(data) is not None:
        return None
    text = try_reading(data, "utf-8")
    if text is None:
        return _mixed_utf8(data)
    declared = declared_encoding(data)
    differs = declared not in (None, "utf-8", "ascii") and not text.isascii()
    return Reading(text, "utf-8", is_doubtful=differs)


def _mixed_utf8(data: bytes, *, is_marked: bool = False) -> Reading | None:
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
    return Reading(text.replace(_DROPPED, ""), "utf-8", is_doubtful=True, broken=broken)


def _with_surrogates(data: bytes) -> Reading | None:
    """UTF-8 in which pairs of surrogates were encoded one by one, or single ones left."""
    try:
        text = data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return None
    pairs = text.encode("utf-16-le", "surrogatepass")
    lost = pairs.decode("utf-16-le", "replace").count("\ufffd") - text.count("\ufffd")
    whole = pairs.decode("utf-16-le", "ignore")
    return Reading(whole, "utf-8", is_doubtful=True, broken=lost)


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


def _by_zero_bytes(data: bytes) -> Reading | None:
    encoding = _zero_pattern(data)
    if encoding is None:
        return None
    text = try_reading(data, encoding)
    return lenient(data, encoding) if text is None else Reading(text, encoding)
