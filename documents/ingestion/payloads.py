"""Text that hides by being encoded: base64, hex, escapes, entities, ROT13, backwards.

Finding a candidate is cheap and says nothing; what it decodes to is screened again. All
candidates of one encoding are screened as one text, so that hostile files cost linear time
and an order cut into several payloads is seen whole.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from documents.ingestion.folding import Folded

MAX_PAYLOAD = 20_000  # characters of one payload that are decoded; an order needs far fewer
_MIN_TEXT = 6

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}(?:\r?\n[A-Za-z0-9+/_-]{16,})*={0,2}")
_HEX = re.compile(r"(?:(?:0x|\\x)?[0-9A-Fa-f]{2}[ :,]?){8,}")
_ESCAPE = re.compile(
    r"(?:%[0-9A-Fa-f]{2})+|&#(?:[0-9]{1,7}|[xX][0-9A-Fa-f]{1,6});|&[A-Za-z]{2,8};"
    r"|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}"
)
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
    """A stretch `text[start:end]` and what it decodes to."""

    start: int
    end: int
    decoded: str

    @property
    def is_prose(self) -> bool:
        """Whether it decodes to a sentence, which nobody encodes for honest readers."""
        words = _PROSE_WORD.findall(self.decoded)
        letters = sum(map(len, words))
        return len(words) >= 4 and " " in self.decoded and letters > 0.7 * len(self.decoded)


@dataclass(frozen=True, slots=True)
class Payloads:
    """All payloads of one encoding, in order, and what they decode to as one text."""

    kind: str  # "base64", "hex", "rot13", "reversed"
    items: tuple[Payload, ...]
    text: str
    starts: tuple[int, ...]  # where each item begins in `text`

    def touched(self, start: int, end: int) -> Sequence[Payload]:
        """The payloads that a span of the decoded text comes from."""
        first = max(0, bisect_right(self.starts, start) - 1)
        return self.items[first : bisect_right(self.starts, max(start, end - 1))]


def payloads(text: str) -> Iterator[Payloads]:
    """Yield what decodes to printable text, by encoding; encodings without any are left out."""
    for kind, found in (
        ("base64", _decoded(text, _BASE64, _from_base64)),
        ("hex", _decoded(text, _HEX, _from_hex)),
        ("rot13", _turned(text, _ROT13_SIGN, lambda part: codecs.decode(part, "rot13"))),
        ("reversed", _turned(text, _REVERSED_SIGN, lambda part: part[::-1])),
    ):
        if items := tuple(found):
            yield _joined(kind, items)


def unescape(text: str) -> Folded | None:
    """Undo percent signs, entities and escapes in place; None where there are none.

    The way back is that of any folded text; `changed` are the places that were escaped.
    """
    pieces: list[str] = []
    offsets: list[int] = []
    changed: list[tuple[int, int]] = []
    position = 0
    for match in _ESCAPE.finditer(text):
        plain = _plain(match.group())
        if plain == match.group():
            continue
        pieces += [text[position : match.start()], plain]
        offsets.extend(range(position, match.start()))
        changed.append((len(offsets), len(offsets) + len(plain)))
        offsets.extend([match.start()] * len(plain))
        position = match.end()
    if not changed:
        return None
    offsets.extend(range(position, len(text) + 1))
    return Folded("".join((*pieces, text[position:])), tuple(offsets), tuple(changed))


def _plain(escape: str) -> str:
    if escape.startswith("\\"):
        return chr(int(escape[2:], 16))
    return unquote(escape) if escape.startswith("%") else html.unescape(escape)


def _decoded(
    text: str, pattern: re.Pattern[str], decode: Callable[[str], str | None]
) -> Iterator[Payload]:
    for match in pattern.finditer(text):
        decoded = decode(match.group()[:MAX_PAYLOAD])
        if decoded is not None and _is_text(decoded):
            yield Payload(match.start(), match.end(), decoded)


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


def _is_text(decoded: str) -> bool:
    return len(decoded) >= _MIN_TEXT and all(c.isprintable() or c.isspace() for c in decoded)


def _turned(text: str, sign: re.Pattern[str], turn: Callable[[str], str]) -> Iterator[Payload]:
    for start, end in _stretches(text, sign):
        yield Payload(start, end, turn(text[start:end]))


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


def _joined(kind: str, items: tuple[Payload, ...]) -> Payloads:
    starts: list[int] = []
    length = 0
    for item in items:
        starts.append(length)
        length += len(item.decoded) + 1
    return Payloads(kind, items, "\n".join(item.decoded for item in items), tuple(starts))
