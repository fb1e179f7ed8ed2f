"""What is measured on a text and its chunks, the same way for every system.

Words are runs of letters and digits, and single Han or kana characters; punctuation and white
space are no words, so that no system gains by its marks. Shares are weighted by characters.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")
_ENDS = frozenset(".!?。！？；;:：…")
_CLOSERS = " \t\n\"'”’»)]}）】」』》>*_`~|﹞〕"
_NEW_BLOCK = re.compile(
    r"[^\S\n]*(?:\n[^\S\n]*(?:\n|$)|$|\n[^\S\n]*(?:[^a-z\s]|\(?[a-z]{1,4}[.)]\s))"
)


def words(text: str) -> list[str]:
    """The words of a text, case folded, in order."""
    return [word.casefold() for word in _WORD.findall(text)]


def characters(sequence: Sequence[str]) -> int:
    """How many characters words have."""
    return sum(map(len, sequence))


def kept(source: Sequence[str], text: Sequence[str]) -> int:
    """The characters of the source's words that the text has too, each word as often."""
    return characters(list((Counter(source) & Counter(text)).elements()))


def bag_f1(source: Sequence[str], text: Sequence[str]) -> float:
    """F1 of two bags of words."""
    return _f1(sum((Counter(source) & Counter(text)).values()), len(source), len(text))


def ordered_f1(source: Sequence[str], text: Sequence[str]) -> float:
    """F1 of two sequences: what both have in the same order counts."""
    return _f1(common_in_order(source, text), len(source), len(text))


def common_in_order(first: Sequence[str], second: Sequence[str]) -> int:
    """The length of the longest common subsequence.

    Source: Hyyrö, *Bit-parallel LCS-length computation revisited*, 2004; one integer holds a
    row of the table, so that 20,000 words take a tenth of a second.
    """
    places: dict[str, int] = {}
    for place, word in enumerate(first):
        places[word] = places.get(word, 0) | 1 << place
    every = (1 << len(first)) - 1
    row = every
    for word in second:
        match = places.get(word, 0)
        if match:
            both = row & match
            row = ((row + both) | (row - both)) & every
    return len(first) - row.bit_count()


def _f1(common: int, first: int, second: int) -> float:
    return 2 * common / (first + second) if first + second else 1.0


def cut_sentences(text: str, chunks: Sequence[str]) -> list[int]:
    """Which chunks end inside a sentence, by their place in `chunks`.

    A chunk does when its last character ends no sentence and the text goes on in the same
    block: neither a blank line, nor the end, nor a line that begins with anything but a small
    letter follows. Chunks are found by their characters without white space, so that it does
    not matter how a system joins lines; one that is not found is judged by its end alone.
    """
    places = [place for place, character in enumerate(text) if not character.isspace()]
    squeezed = "".join(text[place] for place in places)
    cut: list[int] = []
    position = 0
    for ordinal, chunk in enumerate(chunks):
        body = "".join(chunk.split())
        found = squeezed.find(body, position)
        if found < 0:
            found = squeezed.find(body)
        if found >= 0 and body:
            position = found + 1
            following = text[places[found + len(body) - 1] + 1 :][:400]
        else:
            following = " x"
        if not _ends_sentence(chunk) and not _NEW_BLOCK.match(following):
            cut.append(ordinal)
    return cut


def _ends_sentence(chunk: str) -> bool:
    stripped = chunk.rstrip(_CLOSERS)
    return not stripped or stripped[-1] in _ENDS
