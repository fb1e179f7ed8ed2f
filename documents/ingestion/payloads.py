"""Text that hides by being encoded: base64, hex, escapes, entities, ROT13, backwards.

Finding a candidate is cheap and says nothing; what it decodes to is screened again. Each
pattern is a single bounded repeat, so that hostile text costs linear time.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote

MAX_PAYLOAD = 20_000  # characters of one payload that are decoded; an order needs far fewer
_MIN_TEXT = 8

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}(?:\r?\n[A-Za-z0-9+/_-]{16,})*={0,2}")
_HEX = re.compile(r"(?:(?:0x|\\x)?[0-9A-Fa-f]{2}[ :,]?){8,}")
_URL = re.compile(r"(?:%[0-9A-Fa-f]{2}[^\s%]{0,24}){2,}")
_ENTITIES = re.compile(r"(?:&#[xX]?[0-9A-Fa-f]{1,6};[^&\s]{0,24}){3,}")
_ESCAPES = re.compile(r"(?:\\u[0-9A-Fa-f]{4}[^\\\s]{0,8}){3,}")
# Function words and command words as ROT13 and reversal write them: two near each other.
_ROT13_SIGN = re.compile(
    r"\b(?:gur|naq|lbh|lbhe|nyy|guvf|sebz|jvgu|vtaber|erirny|vafgehpgvba\w?|flfgrz|cebzcg|ehyrf"
    r"|nafjre|nffvfgnag|cerivbhf|qvfertneq|sbetrg|cnffntr\w?)\b",
    re.IGNORECASE,
)
_REVERSED_SIGN = re.compile(
    r"\b(?:eht|dna|uoy|ruoy|lla|siht|morf|htiw|erongi|laever|s?noitcurtsni|metsys|tpmorp|selur"
    r"|rewsna|tnatsissa|suoiverp|dragersid|tegrof|s?egassap)\b",
    re.IGNORECASE,
)
_NEAR = 60  # characters between two signs that count as one stretch
_PROSE_WORD = re.compile(r"\b[^\W\d_]{2,}\b")


@dataclass(frozen=True, slots=True)
class Payload:
    """A stretch `text[start:end]` and what it decodes to; `kind` names the encoding."""

    kind: str
    start: int
    end: int
    decoded: str

    @property
    def is_prose(self) -> bool:
        """Whether it decodes to a sentence, which nobody encodes for honest readers.

        Escapes and entities are how ordinary addresses and pages write blanks and umlauts,
        so they do not count.
        """
        if self.kind not in ("base64", "hex"):
            return False
        words = _PROSE_WORD.findall(self.decoded)
        letters = sum(map(len, words))
        return len(words) >= 4 and " " in self.decoded and letters > 0.7 * len(self.decoded)


def payloads(text: str) -> Iterator[Payload]:
    """Yield each stretch that decodes to printable text, by encoding, left to right."""
    decoders: tuple[tuple[str, re.Pattern[str], Callable[[str], str | None]], ...] = (
        ("base64", _BASE64, _from_base64),
        ("hex", _HEX, _from_hex),
        ("url", _URL, unquote),
        ("entities", _ENTITIES, html.unescape),
        ("escapes", _ESCAPES, _from_escapes),
    )
    for kind, pattern, decode in decoders:
        for match in pattern.finditer(text):
            decoded = decode(match.group()[:MAX_PAYLOAD])
            if decoded is not None and _is_text(decoded):
                yield Payload(kind, match.start(), match.end(), decoded)
    for kind, sign, turn in (
        ("rot13", _ROT13_SIGN, lambda part: codecs.decode(part, "rot13")),
        ("reversed", _REVERSED_SIGN, lambda part: part[::-1]),
    ):
        for start, end in _stretches(text, sign):
            yield Payload(kind, start, end, turn(text[start:end]))


def _from_base64(candidate: str) -> str | None:
    packed = re.sub(r"\s", "", candidate).rstrip("=").translate(str.maketrans("-_", "+/"))
    packed = packed[: len(packed) - (len(packed) % 4 == 1)]
    try:
        raw = base64.b64decode(packed + "=" * (-len(packed) % 4), validate=True)
        return raw.decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return None


def _from_hex(candidate: str) -> str | None:
    digits = re.sub(r"0x|\\x|[ :,]", "", candidate)
    try:
        return bytes.fromhex(digits).decode("utf-8")
    except ValueError:  # a UnicodeDecodeError is one too
        return None


def _from_escapes(candidate: str) -> str:
    return re.sub(r"\\u([0-9A-Fa-f]{4})", lambda m: chr(int(m[1], 16)), candidate)


def _is_text(decoded: str) -> bool:
    printable = sum(c.isprintable() or c.isspace() for c in decoded)
    return len(decoded) >= _MIN_TEXT and printable == len(decoded)


def _stretches(text: str, sign: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Stretches around two or more signs near each other, with some words on both sides."""
    group: list[tuple[int, int]] = []
    for match in sign.finditer(text):
        if group and match.start() - group[-1][1] > _NEAR:
            yield from _around(text, group)
            group = []
        group.append(match.span())
    yield from _around(text, group)


def _around(text: str, group: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    if len(group) >= 2:
        yield max(0, group[0][0] - _NEAR), min(len(text), group[-1][1] + _NEAR)
