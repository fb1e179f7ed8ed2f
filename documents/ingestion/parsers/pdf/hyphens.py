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
_WORD = re.compile(r"[^\W_]+(?:[-\u2010\u2011][^\W_]+)*")
# Prefixes and first parts that English writes with a hyphen more often than without.
_KEEPS_AFTER = frozenset(
    {"anti", "cross", "ex", "first", "second", "third", "fourth", "fifth", "full", "half", "high",
     "long", "low", "many", "mid", "non", "off", "one", "two", "three", "four", "five", "six",
     "post", "pre", "quasi", "self", "semi", "short", "single", "twice", "ultra", "vice", "well",
     "decision", "e", "multi", "co", "all"}
)  # fmt: skip
_KEEPS_BEFORE = frozenset(
    {"based", "related", "specific", "free", "term", "party", "driven", "wide", "level", "house",
     "up", "in", "off", "out", "on", "to", "of", "the", "and", "or", "year", "day", "week",
     "compliant", "looking", "facing", "owned", "managed", "approved", "defined", "insured",
     "employed", "compliance", "disclosure"}
)  # fmt: skip
_SUSPENDED = frozenset({"and", "or", "to", "und", "oder", "et", "ou", "bzw"})


class HyphenJudge:
    """Knows the words of one document."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._words: Counter[str] = Counter()
        for text in texts:
            for word in _WORD.findall(text):
                self._words[word.casefold().replace("\u2010", "-").replace("\u2011", "-")] += 1

    def keeps_hyphen(self, before: str, after: str) -> bool:
        """Whether `before-` at a line's end and `after` on the next keep their hyphen.

        `before` comes without the hyphen. Both are whole words, marks around them included.
        """
        left, right = _last_word(before), _first_word(after)
        if not left or not right:
            return True
        joined, hyphened = (left + right).casefold(), f"{left}-{right}".casefold()
        if self._words[joined] != self._words[hyphened]:
            return self._words[hyphened] > self._words[joined]
        return _keeps_by_letters(left, right)

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
