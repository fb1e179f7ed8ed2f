"""What a clause does, told by its grammar, in English and Chinese.

A sentence is what its first main verb makes it (`kinds_english`, `kinds_han`); a clause of
several sentences is what most of those that say anything are, and where two kinds draw, the
stricter one wins. A clause that opens with a definition is a definition. A sentence that
introduces a list (`The owner must:`) speaks for its items, and an exception (`provided that`,
但) never outweighs its rule. Measured by `benchmarks/chunk_kinds.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from documents.ingestion import commands, kinds_english, kinds_han
from documents.ingestion.sentences import split_sentences
from documents.records import ChunkKind

_HAN = re.compile("[\u3400-\u9fff]")
_ITEM = re.compile(
    r"[^\S\n]*(?:[-*+•‣▪●○–]\s|\(?(?:[a-zA-Z]{1,4}|\d{1,3})[.)]\s|\d{1,3}(?:\.\d{1,3})+\.?\s"
    r"|[一二三四五六七八九十百]{1,4}、|[（(][一二三四五六七八九十]{1,3}[)）])"
)
_NUMBERED = re.compile(r"[^\S\n]*(?:\(?\d{1,2}[.)]\s|step\s+\d|第[一二三四五六七八九十]+步)", re.I)
_LEAD_IN = re.compile(r"(?:[:：]|[—–]|--)[*_\s]*$")
_EXCEPTION = re.compile(r"但|惟|(?:provided|except|save)\s+that\b", re.IGNORECASE)
_STRICT_FIRST = (
    ChunkKind.PROHIBITION,
    ChunkKind.OBLIGATION,
    ChunkKind.RIGHT,
    ChunkKind.PERMISSION,
    ChunkKind.DEFINITION,  # later in a clause it explains a word of the rule
)
_MIN_STEPS = 2
_LIST_WEIGHT = 2.0  # a lead-in stands for the items that are not counted
_EXCEPTION_WEIGHT = 0.01  # decides only where the rule itself says nothing
_MAX_HEADING_WORDS = 6
_SAMPLE_CHARACTERS = 20_000


def classify(text: str) -> ChunkKind:
    """The kind of clause that `text` is; `general` where its grammar says nothing."""
    text = text[:_SAMPLE_CHARACTERS]
    if _is_procedure(text):
        return ChunkKind.PROCEDURE
    weights: dict[ChunkKind, float] = {}
    is_first = True
    for sentence, weight in _weighed(text):
        kind, certainty = _sentence_kind(sentence)
        if kind is ChunkKind.DEFINITION and is_first:
            return kind
        if kind is not None:
            weights[kind] = weights.get(kind, 0.0) + weight * certainty
        is_first = is_first and kind is None and _is_heading(sentence)
    strict_first = sorted(weights, key=_STRICT_FIRST.index)
    return max(strict_first, key=lambda kind: round(weights[kind], 1), default=ChunkKind.GENERAL)


def _weighed(text: str) -> Iterator[tuple[str, float]]:
    """The sentences that count, each with its weight; items follow their lead-in."""
    spans = split_sentences(text)
    governs = is_governed = False
    for place, (start, end) in enumerate(spans):
        sentence = text[start:end]
        if _opens_line(text, start):
            is_governed = governs and _ITEM.match(text, start) is not None
            governs = governs and is_governed
        if is_governed:
            continue
        governs = _introduces(text, spans, place) and _sentence_kind(sentence)[0] is not None
        is_exception = place > 0 and _EXCEPTION.match(sentence) is not None
        yield sentence, _EXCEPTION_WEIGHT if is_exception else _LIST_WEIGHT if governs else 1.0


def _is_heading(sentence: str) -> bool:
    """Whether it may be a title that runs into the clause: `4. Exceptions`."""
    return len(sentence.split()) <= _MAX_HEADING_WORDS and not _HAN.search(sentence)


def _opens_line(text: str, start: int) -> bool:
    return not text[text.rfind("\n", 0, start) + 1 : start].strip()


def _introduces(text: str, spans: list[tuple[int, int]], place: int) -> bool:
    """Whether this sentence ends in a colon or dash and an item follows it."""
    if place + 1 == len(spans) or not _LEAD_IN.search(text[slice(*spans[place])]):
        return False
    following = spans[place + 1][0]
    return _opens_line(text, following) and _ITEM.match(text, following) is not None


def _sentence_kind(sentence: str) -> tuple[ChunkKind | None, float]:
    if _HAN.search(sentence) and (found := kinds_han.sentence_kind(sentence)):
        return found
    return kinds_english.sentence_kind(sentence) or (None, 0.0)


def _is_procedure(text: str) -> bool:
    """Ordered steps: a list announced as such, or commands that are numbered or in sequence."""
    if kinds_han.announces_steps(text) or commands.announces_steps(text):
        return True
    sentences = [text[start:end] for start, end in split_sentences(text)]
    steps = [sentence for sentence in sentences if commands.is_command(sentence)]
    if steps and steps[0] is sentences[0] and commands.has_step(sentences[0]):
        return True
    if any(map(commands.is_on_screen, steps)) and 2 * len(steps) >= len(sentences):
        return True
    if len(steps) < _MIN_STEPS or 3 * len(steps) < len(sentences):
        return False
    numbered = sum(_NUMBERED.match(sentence) is not None for sentence in steps)
    return numbered >= _MIN_STEPS or any(map(commands.has_sequence, steps))
