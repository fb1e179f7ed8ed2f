"""A passage cut into what can be quoted: sentences, list items, table rows.

An item depends on the words that lead into its list (`The company does not reimburse: -
parking fines`), so each item carries the span of its stem. Half-sentences that Chinese
statutes join with `；` stay together, since only the first of them names its subject.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from documents.ingestion.sentences import split_sentences
from qa.records import Passage

ITEM: Final = re.compile(
    r"[ \t]*(?:[-*•·‣▪]\s+|\(?(?:\d{1,2}|[a-z]|[ivx]{1,5})[.)]\s+|"
    r"[（(]?[一二三四五六七八九十]{1,3}[、)）]\s*)",
    re.IGNORECASE,
)
_ROW: Final = re.compile(r"[^:\n;]{1,80}: [^;\n]*;(?: ?[^:\n;]{1,80}: ?[^;\n]*;?)+$")
_BREAK: Final = re.compile(r"\n[ \t]*\n|\n")
_CJK: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_WORD: Final = re.compile(r"[^\W_]+(?:['’.,-][^\W_]+)*")
_CONTINUES: Final = re.compile(
    r"(?:但|惟|然而|however\b|this does not apply|that does not apply|except\b|unless\b|"
    r"but\b|the same does not|in that case|otherwise\b|不在此限|前項)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Clause:
    """A stretch of a passage's text that can be quoted; `stem` is its lead-in's span."""

    start: int
    end: int
    text: str
    stem: tuple[int, int] | None = None
    is_item: bool = False
    is_row: bool = False

    @property
    def is_stem(self) -> bool:
        """Whether it only introduces what follows."""
        return self.text.rstrip().endswith((":", "："))

    @property
    def continues(self) -> bool:
        """Whether it limits the sentence before it."""
        return _CONTINUES.match(self.text) is not None


def split_clauses(text: str) -> list[Clause]:
    """The clauses of a passage's text in order; together they hold all but white space."""
    clauses: list[Clause] = []
    stem: tuple[int, int] | None = None
    for start, end, is_item, is_row in _blocks(text):
        depends = stem if is_item or is_row else None
        pieces = _pieces(text, start, end, is_whole=is_row)
        for index, (left, right) in enumerate(pieces):
            own_stem = depends if index == 0 else None
            clauses.append(Clause(left, right, text[left:right], own_stem, is_item, is_row))
        if pieces and not (is_item or is_row):
            last = clauses[-1]
            stem = (last.start, last.end) if last.is_stem else None
    return clauses


def _blocks(text: str) -> list[tuple[int, int, bool, bool]]:
    """Paragraphs, items and rows as (start, end, is_item, is_row)."""
    blocks: list[tuple[int, int, bool, bool]] = []
    for start, end in _segments(text):
        cursor = start
        for line_start, line_end, is_new in _lines(text, start, end):
            line = text[line_start:line_end]
            is_item, is_row = ITEM.match(line) is not None, _ROW.match(line) is not None
            joins = blocks and not (is_new or is_item or is_row) and blocks[-1][1] > cursor - 2
            if joins and not blocks[-1][3]:
                first, _, was_item, was_row = blocks[-1]
                blocks[-1] = (first, line_end, was_item, was_row)
            else:
                blocks.append((line_start, line_end, is_item, is_row))
            cursor = line_end
    return blocks


def _segments(text: str) -> list[tuple[int, int]]:
    """Stretches between gap marks: nothing is quoted across text a reader may not see."""
    spans, start = [], 0
    while (gap := text.find(Passage.GAP, start)) >= 0:
        spans.append((start, gap))
        start = gap + len(Passage.GAP)
    return [*spans, (start, len(text))]


def _lines(text: str, start: int, end: int) -> list[tuple[int, int, bool]]:
    """Lines that hold text as (start, end, opens a paragraph)."""
    lines, is_new = [], True
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        if text[start:stop].strip():
            lines.append((start, stop, is_new))
            is_new = False
        else:
            is_new = True
        start = stop + 1
    return lines


def _pieces(text: str, start: int, end: int, *, is_whole: bool) -> list[tuple[int, int]]:
    block = text[start:end]
    spans = [(0, len(block))] if is_whole else split_sentences(block)
    joined: list[tuple[int, int]] = []
    for left, right in spans:
        if joined and block[: joined[-1][1]].rstrip().endswith(("；", ";")):
            joined[-1] = (joined[-1][0], right)
        else:
            joined.append((left, right))
    trimmed = [_trim(text, start + left, start + right) for left, right in joined]
    return [(left, right) for left, right in trimmed if left < right]


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def count_words(text: str) -> int:
    """How long a quote is: words, where two characters of a script without blanks make one."""
    characters = len(_CJK.findall(text))
    return len(_WORD.findall(_CJK.sub(" ", text))) + (characters + 1) // 2


def is_cjk(text: str) -> bool:
    """Whether the text is mostly in a script without blanks."""
    letters = sum(character.isalpha() for character in text)
    return letters > 0 and len(_CJK.findall(text)) * 3 >= letters
