"""Raised and lowered letters as plain text that keeps its meaning.

`10<sup>6</sup>` must not become 106, nor `employees<sup>3</sup>` a number of employees: a
power is written with a caret, a unit's with its own sign, and a raised number after a word or
a stop is a footnote's mark, which leaves the text.
"""

from __future__ import annotations

import re

_RAISED = str.maketrans("0123456789+-−()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁽⁾ⁿ")
_MARK = re.compile(r"\s*[\[(]?(?:\d{1,3}|[*†‡§¶]{1,3})(?:\s*[,–-]\s*\d{1,3})*[\])]?\s*\Z")
_UNIT = re.compile(r"(?:^|[\d\s(/·])(?:[kcdmµ]?m|ft|in|yd|mi|km|s|h|[A-Za-zΩ])\Z")
_POWER = re.compile(r"[−+-]?[\dn]{1,4}\Z")


def raised_text(before: str, raised: str) -> str:
    """What stands for `raised` after the text `before`; empty for a footnote's mark."""
    bare = raised.strip()
    if before[-1:].isdigit():
        return f"^{bare}" if bare and (bare[0].isdigit() or bare[0] in "−+-n") else raised
    if _POWER.match(bare) and _UNIT.search(before):
        return bare.translate(_RAISED)
    return "" if _MARK.match(raised) else raised


def lowered_text(before: str, lowered: str) -> str:
    """What stands for `lowered`: as written, but never as more digits of a number."""
    return f"_{lowered}" if before[-1:].isdigit() and lowered.strip()[:1].isdigit() else lowered
