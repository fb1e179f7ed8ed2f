"""Characters that a person does not see: smuggled tags, bidi tricks, zero-width runs.

Emoji joiners, flags of regions, Persian and Indic joiners, marks of right-to-left text, soft
hyphens and a stray zero-width space are ordinary typing and make no finding.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from documents.records import FindingRecord, Severity

_TAGS = re.compile("[\U000e0000-\U000e007f]+")
_FLAG = "\U0001f3f4"  # a black flag, which tags may follow to name a region
_OVERRIDES = re.compile("[\u202d\u202e]")
_BIDI_RUN = re.compile("[\u202a-\u202c\u2066-\u2069]+")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}")
_ZERO_WIDTHS = (
    "\u200b\u200c\u200d\u200e\u200f\u2060-\u2064\ufeff\u180e\u034f\u115f\u1160\u3164\uffa0"
)
_ZERO_WIDTH = re.compile(f"[{_ZERO_WIDTHS}]")
_LONG_RUN = re.compile(f"[{_ZERO_WIDTHS}]{{4,}}")
_NOTES = re.compile("[\ufff9-\ufffb]")
# So many zero-width characters within so few characters are no accident.
_DENSE, _STRETCH = 5, 48


def invisible_findings(text: str, where: str) -> Iterator[FindingRecord]:
    """Yield what hides in a text, left to right by kind."""
    if text.isascii():
        return
    for match in _TAGS.finditer(text):
        if not _is_region_flag(text, match):
            hidden = "".join(chr(ord(c) - 0xE0000) for c in match.group() if ord(c) > 0xE001F)
            yield _finding("invisible-tags", Severity.BLOCK, match.span(), text, where, hidden)
    for pattern, rule in (
        (_SELECTORS, "invisible-selectors"),
        (_LONG_RUN, "invisible-run"),
        (_OVERRIDES, "invisible-bidi"),
    ):
        for match in pattern.finditer(text):
            yield _finding(rule, Severity.BLOCK, match.span(), text, where)
    if not _RIGHT_TO_LEFT.search(text):
        for match in _BIDI_RUN.finditer(text):
            yield _finding("invisible-bidi-isolate", Severity.NOTICE, match.span(), text, where)
    for match in _NOTES.finditer(text):
        yield _finding("invisible-annotation", Severity.NOTICE, match.span(), text, where)
    for span in _dense_stretches(text):
        yield _finding("invisible-in-words", Severity.BLOCK, span, text, where)


def _is_region_flag(text: str, tags: re.Match[str]) -> bool:
    start, end = tags.span()
    return (
        start > 0
        and text[start - 1] == _FLAG
        and end - start <= 8
        and text[end - 1] == "\U000e007f"
    )


def _dense_stretches(text: str) -> Iterator[tuple[int, int]]:
    """Stretches in which zero-width characters sit inside words again and again."""
    positions = [m.start() for m in _ZERO_WIDTH.finditer(text) if _is_odd(text, m.start())]
    end_of_last = -1
    for i in range(len(positions) - _DENSE + 1):
        first, last = positions[i], positions[i + _DENSE - 1]
        if last - first <= _STRETCH and first > end_of_last:
            while i + _DENSE < len(positions) and positions[i + _DENSE] - last <= _STRETCH:
                i += 1
                last = positions[i + _DENSE - 1]
            end_of_last = last
            yield first, last + 1


def _is_odd(text: str, position: int) -> bool:
    """Whether a zero-width character joins nothing that needs joining."""
    before = text[position - 1] if position else " "
    after = text[position + 1] if position + 1 < len(text) else " "
    if before.isspace() and after.isspace():
        return False
    return not (_needs_joiner(before) or _needs_joiner(after))


def _needs_joiner(character: str) -> bool:
    """Emoji, and letters of scripts that are written with joiners."""
    code = ord(character)
    if code == 0xFE0F or 0x1F000 <= code <= 0x1FAFF:
        return True
    if unicodedata.category(character) in ("So", "Sk"):
        return True
    return 0x0590 <= code <= 0x08FF or 0x0900 <= code <= 0x0DFF or 0x1000 <= code <= 0x109F


def _finding(
    rule: str,
    severity: Severity,
    span: tuple[int, int],
    text: str,
    where: str,
    folded: str = "",
) -> FindingRecord:
    start, end = span
    return FindingRecord(
        rule=rule,
        severity=severity,
        start=start,
        end=end,
        text=text[start:end],
        folded=folded or " ".join(f"U+{ord(c):04X}" for c in text[start:end][:12]),
        where=where,
    )
