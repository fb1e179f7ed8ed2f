"""Drawn lines under or through words: they mark text and part no cells."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from documents.ingestion.parsers.pdf.page import Rule, Word

_ABOVE, _BELOW = 0.9, 0.35  # of a word's size, from its base line: where such lines are drawn
_SLACK = 0.35  # of a word's size at both ends


def without_underlines(rules: Sequence[Rule], words: Sequence[Word]) -> list[Rule]:
    """The rules that do not begin and end with the words that they touch."""
    upright = sorted((w for w in words if w.rotation == 0), key=lambda word: word.baseline)
    levels = [word.baseline for word in upright]
    largest = max((word.size for word in upright), default=0.0)
    kept = []
    for rule in rules:
        low = bisect_left(levels, rule.box[1] - _BELOW * largest)
        high = bisect_right(levels, rule.box[3] + _ABOVE * largest)
        if not rule.is_horizontal or not _is_underline(rule, upright[low:high]):
            kept.append(rule)
    return kept


def _is_underline(rule: Rule, near: Sequence[Word]) -> bool:
    left, top, right, bottom = rule.box
    touched = [
        word
        for word in near
        if word.box[0] < right
        and word.box[2] > left
        and -_ABOVE * word.size < top - word.baseline
        and bottom - word.baseline < _BELOW * word.size
    ]
    if not touched:
        return False
    slack = _SLACK * touched[0].size
    starts = min(abs(word.box[0] - left) for word in touched)
    ends = min(abs(word.box[2] - right) for word in touched)
    return starts <= slack and ends <= slack
