"""What becomes of a hyphen at the end of a line.

A word that was broken is joined; a word that owns its hyphen keeps it. The document itself is
asked first: does it have the word elsewhere, in one form or the other? Then the letters decide.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

HYPHENS = frozenset("-\u2010\u00ad")
SOFT_HYPHEN = "\u00ad"
_FEW_LINES = 60
_BREAK_SHARE = 0.015  # of the lines; a program that breaks words ends 3 to 10 % of them so
_WORD = re.compile(r"[^\W_]+(?:[-\u2010\u2011][^\W_]+)*")
# Prefixes and first parts that English writes with a hyphen more often than without.
_KEEPS_AFTER = frozenset(
    {"anti", "cross", "ex", "first", "second", "third", "fourth", "fifth", "full", "half", "high",
     "long", "low", "many", "mid", "non", "off", "one", "two", "three", "four", "five", "six",
     "post", "pre", "quasi", "self", "semi", "short", "single", "twice", "ultra", "vice", "well",
     "decision", "e", "multi", "co", "all"}
)  # fmt: skip
_KEEPS_BEFORE = frozenset(
    {"based", "related", "specific", "free", "term", "party", "driven", "wide", "level", "up",
     "off", "year", "compliant", "looking", "facing", "owned", "managed", "approved", "defined",
     "insured", "employed", "compliance", "disclosure"}
)  # fmt: skip
_SUSPENDED = frozenset({"and", "or", "to", "und", "oder", "et", "ou", "bzw"})


class HyphenJudge:
    """Knows the words of one document."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._words: Counter[str] = Counter()
        total = broken = 0
        for line in lines:
            # What stands at the start or the end of a line may be half a word.
            for word in _WORD.findall(" ".join(line.split(" ")[1:-1])):
                self._words[word.casefold().replace("\u2010", "-").replace("\u2011", "-")] += 1
            total += 1
            broken += line[-1:] in HYPHENS and line[-2:-1].isalpha()
        # Where the program breaks no words, a hyphen at a line's end belongs to its word.
        self._breaks_words = total < _FEW_LINES or broken > _BREAK_SHARE * total

    def keeps_hyphen(self, before: str, after: str, *, is_soft: bool = False) -> bool:
        """Whether `before-` at a line's end and `after` on the next keep their hyphen.

        `before` comes without the hyphen. Both are whole words, marks around them included.
        `is_soft`: the file says that the hyphen only breaks the word.
        """
        left, right = _last_word(before), _first_word(after)
        if not left or not right:
            return True
        joined, hyphened = (left + right).casefold(), f"{left}-{right}".casefold()
        if self._words[joined] != self._words[hyphened]:
            return self._words[hyphened] > self._words[joined]
        if not self._breaks_words and self._is_word(left) and self._is_word(right):
            return not is_soft
        return not is_soft and _keeps_by_letters(left, right)

    def _is_word(self, text: str) -> bool:
        return len(text) > 2 and self._words[text.casefold()] > 0

    def is_suspended(self, after: str) -> bool:
        """Whether the hyphen waits for a later word, as in `pre- and post-trip`."""
        return _first_word(after).casefold() in _SUSPENDED


def _keeps_by_letters(left: str, right: str) -> bool:
    if "-" in left or any(c.isdigit() for c in (left[-1], right[0])):
        return True
    if right[0].isupper() or (len(left) > 1 and left.isupper()) or len(left) == 1:
        return True
    return left.casefold() in _KEEPS_AFTER or right.casefold() in _KEEPS_BEFORE


def _last_word(text: str) -> str:
    found = _WORD.findall(text)
    return found[-1] if found and text.endswith(found[-1]) else ""


def _first_word(text: str) -> str:
    found = _WORD.search(text)
    return found.group() if found and not text[: found.start()].strip() else ""
