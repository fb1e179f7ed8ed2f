"""The clauses that may answer, each scored by how well it does.

A clause is judged with its surroundings: its lead-in, its neighbours and its headings may
hold the words of the question; what answers must stand in the clause itself.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from documents.ingestion.analysis import content_words
from qa.answering.answer_kinds import defines, enumerates, fits
from qa.answering.clauses import Clause, count_words, split_clauses
from qa.answering.focus import (
    does_other_things,
    entitles,
    is_in_unit,
    names_limit,
    points_elsewhere,
)
from qa.answering.question_words import synonyms
from qa.answering.questions import Keyword, Question, Wanted
from qa.answering.verify.addresses import find_addresses
from qa.answering.verify.output_policy import is_safe_sentence
from qa.answering.verify.quantities import find_quantities
from qa.records import Passage

Similarity = Callable[[str, Sequence[str]], Sequence[float]]

MAX_CANDIDATES: Final = 400  # clauses scored; passages come best first
_IN_CLAUSE, _IN_HEADING, _IN_NEIGHBOUR, _IN_PASSAGE = 1.0, 0.85, 0.6, 0.3
_SYNONYM: Final = 0.95
HELD: Final = _IN_CLAUSE * _SYNONYM  # the credit of a word that the clause itself holds
_SIMILARITY_WEIGHT: Final = 0.25
_SAME_QUANTITY: Final = 0.12  # a clause about the very amount or time that was asked about
_NOT_WANTED: Final = 0.45  # lacks what was asked for
_NOT_DEFINED: Final = 0.7  # uses the term that was to be defined
_OTHER_THING: Final = 0.15
_ENTITLES: Final = 0.08
_IN_UNIT: Final = 0.06
_NAMES_LIMIT: Final = 0.15
_APART: Final = 0.15  # `expense claims`, where the words stand nowhere together
_SILENT_ON_QUANTITY: Final = 0.15  # `if I am 15`, and the clause names no number at all
_TOGETHER: Final = 3  # words
_MISSING_WORD: Final = 0.3


@dataclass(frozen=True, slots=True)
class Candidate:
    """A clause of a passage with how well it answers."""

    passage: Passage
    position: int  # among the passage's clauses
    clause: Clause
    text: str  # with its lead-in
    credits: tuple[float, ...]  # per keyword
    has_wanted: bool
    score: float
    apart: int = 0  # pairs of the question's words that its surroundings hold only apart
    bonus: float = 0.0  # orders candidates; says nothing about whether the best one answers


def find_candidates(asked: Question, passages: Sequence[Passage]) -> list[Candidate]:
    """Every clause that says something by itself and is safe to quote, not yet scored."""
    found: list[Candidate] = []
    for passage in passages:
        clauses = split_clauses(passage.text)
        unsafe = _unsafe(passage.text, clauses)
        words = [_words(clause.text, passage) for clause in clauses]
        heading = _words(
            "\n".join([passage.document, *passage.section_path, passage.section_title]), passage
        )
        for position, clause in enumerate(clauses):
            if position in unsafe or not _is_sentence(clause, asked, clauses, position):
                continue
            found.append(_candidate(asked, passage, clauses, words, heading, position))
        if len(found) >= MAX_CANDIDATES:
            break
    return found


def _words(text: str, passage: Passage) -> frozenset[str]:
    return frozenset(content_words(text, passage.language))


def _unsafe(text: str, clauses: Sequence[Clause]) -> set[int]:
    """Clauses that speak to an assistant, ask for secrets or hold marks, and their paragraph.

    What stands beside a planted order was planted with it.
    """
    bad = {
        index
        for index, clause in enumerate(clauses)
        if not is_safe_sentence(clause.text)
        or any(address.kind in {"active", "ip"} for address in find_addresses(clause.text))
    }
    for index in sorted(bad):
        for step in (-1, 1):
            other = index + step
            while 0 <= other < len(clauses) and _same_paragraph(text, clauses, other, other - step):
                bad = bad | {other}
                other += step
    return bad


def _same_paragraph(text: str, clauses: Sequence[Clause], first: int, second: int) -> bool:
    left, right = sorted((clauses[first], clauses[second]), key=lambda clause: clause.start)
    return re.search(r"\n\s*\n", text[left.end : right.start]) is None


def _is_sentence(clause: Clause, asked: Question, clauses: Sequence[Clause], position: int) -> bool:
    """Whether the clause says something by itself: no heading, no lead-in without its list."""
    if clause.is_stem:
        follows = position + 1 < len(clauses) and clauses[position + 1].stem is not None
        return follows and asked.wanted in {Wanted.LIST, Wanted.ANY, Wanted.YES_NO}
    if clause.is_item or clause.is_row:
        return True
    is_ended = clause.text.rstrip().endswith((".", "。", "!", "！", ";", "；", "”", '"', ")", "）"))
    return is_ended or count_words(clause.text) >= 6


def _candidate(
    asked: Question,
    passage: Passage,
    clauses: Sequence[Clause],
    words: Sequence[frozenset[str]],
    heading: frozenset[str],
    position: int,
) -> Candidate:
    clause = clauses[position]
    stem = passage.text[slice(*clause.stem)] if clause.stem else ""
    own = words[position] | (_words(stem, passage) if stem else frozenset())
    near = frozenset().union(*words[max(0, position - 2) : position + 2])
    near_clauses = clauses[max(0, position - 2) : position + 2]
    everywhere = frozenset().union(*words)
    levels = (
        (own, _IN_CLAUSE),
        (heading, _IN_HEADING),
        (near, _IN_NEIGHBOUR),
        (everywhere, _IN_PASSAGE),
    )
    used: set[str] = set()
    credits = tuple(_credit(keyword, levels, used) for keyword in asked.keywords)
    text = f"{stem} {clause.text}".strip()
    headings = (passage.section_title, *passage.section_path)
    has_wanted = fits(asked, text, headings) and not points_elsewhere(asked, text)
    around = "\n".join([passage.document, *headings, stem, *(c.text for c in near_clauses)])
    apart = sum(_is_apart(asked, pair, credits, around) for pair in asked.pairs)
    return Candidate(passage, position, clause, text, credits, has_wanted, 0.0, apart)


def _is_apart(
    asked: Question, pair: tuple[int, int], credits: Sequence[float], around: str
) -> bool:
    """Whether the one thing that a pair of words names is not there, though its words may be."""
    missing = [credits[index] < _MISSING_WORD for index in pair]
    if any(missing):
        return not all(missing)
    first, second = (_alternatives(asked.keywords[index]) for index in pair)
    words = [set(content_words(word, "en")) for word in re.findall(r"[^\W_]+", around)]
    places = [i for i, word in enumerate(words) if word & second]
    return not any(
        words[j] & first
        for i in places
        for j in range(max(0, i - _TOGETHER), min(len(words), i + _TOGETHER + 1))
        if j != i
    )


def _alternatives(keyword: Keyword) -> frozenset[str]:
    table = synonyms()
    return keyword.stems.union(*(table.get(stem, frozenset()) for stem in keyword.stems))


def _credit(
    keyword: Keyword, levels: Sequence[tuple[frozenset[str], float]], used: set[str]
) -> float:
    """How near the keyword stands; a word that stood in for one keyword serves no second one."""
    best = 0.0
    for words, worth in levels:
        others = (_alternatives(keyword) - keyword.stems) & words - used
        if keyword.stems <= words:
            best = max(best, worth)
        elif others and worth * _SYNONYM > best:
            best = worth * _SYNONYM
            used |= others
        elif len(keyword.stems) > 1 and keyword.stems & words:
            best = max(best, worth * 0.7)
    if keyword.is_head and best < _IN_NEIGHBOUR:
        return best / 2
    return best


def rank(
    asked: Question, candidates: Sequence[Candidate], similarity: Similarity | None
) -> list[Candidate]:
    """The candidates scored, best first; only the likeliest where their meaning is compared."""
    weights = _weights(asked, candidates)
    scored = [_scored(asked, c, _coverage(c, weights)) for c in candidates]
    scored.sort(key=lambda candidate: -(candidate.score + candidate.bonus))
    if similarity is not None and scored:
        top = scored[:24]
        cosines = similarity(asked.text, [candidate.text for candidate in top])
        scored = [
            replace(candidate, score=candidate.score + _SIMILARITY_WEIGHT * (cosine - 0.4))
            for candidate, cosine in zip(top, cosines, strict=True)
        ]
        scored.sort(key=lambda candidate: -(candidate.score + candidate.bonus))
    return scored


def _scored(asked: Question, candidate: Candidate, score: float) -> Candidate:
    if not candidate.has_wanted:
        score -= _NOT_DEFINED if asked.term or asked.role else _NOT_WANTED
    score += 0.04 * candidate.passage.score
    score += _SAME_QUANTITY * _speaks_of(asked, candidate.text)
    score -= 0.02 * min(4.0, count_words(candidate.clause.text) / 40)
    score -= 0.1 if candidate.clause.continues else 0.0
    score -= _APART * candidate.apart
    score += _form_bonus(asked, candidate)
    return replace(candidate, score=score, bonus=_bonus(asked, candidate.text))


def _bonus(asked: Question, text: str) -> float:
    """What makes one clause a likelier answer than another that holds as many words."""
    if asked.wanted is Wanted.QUANTITY:
        return _NAMES_LIMIT * names_limit(text)
    if not asked.is_extent:
        return 0.0
    if does_other_things(asked, text):
        return -_OTHER_THING
    return _ENTITLES * entitles(text) + _IN_UNIT * is_in_unit(asked, text)


def _speaks_of(asked: Question, text: str) -> bool:
    if not asked.quantities:
        return False
    own = find_quantities(text)
    return any(q.agrees_with(o) and q.bound in {"", o.bound} for q in asked.quantities for o in own)


def _form_bonus(asked: Question, candidate: Candidate) -> float:
    """What the form of the clause says beyond its words."""
    if asked.wanted is Wanted.YES_NO and asked.quantities:
        return 0.0 if find_quantities(candidate.text) else -_SILENT_ON_QUANTITY
    if asked.wanted is Wanted.DEFINITION:
        return 0.2 if defines(candidate.text) else 0.0
    if asked.wanted is Wanted.LIST:
        is_list = candidate.clause.is_stem or candidate.clause.stem is not None
        return 0.1 if is_list else (0.0 if enumerates(candidate.text) else -0.15)
    if asked.wanted in {Wanted.COUNT, Wanted.PERSON}:
        heads = [i for i, keyword in enumerate(asked.keywords) if keyword.is_head]
        is_counted = all(candidate.credits[i] >= HELD for i in heads)
        return 0.0 if is_counted else -0.3
    return 0.0


def _weights(asked: Question, candidates: Sequence[Candidate]) -> list[float]:
    """Keyword weights: a word that every clause holds says little about which one answers."""
    total = len(candidates)
    weights = []
    for index, keyword in enumerate(asked.keywords):
        holding = sum(candidate.credits[index] >= HELD for candidate in candidates)
        rarity = math.log(1 + total / (0.5 + holding)) / math.log(1 + total / 0.5)
        weights.append(keyword.weight * (0.6 + 0.4 * rarity) * (1.3 if keyword.is_head else 1.0))
    return weights


def _coverage(candidate: Candidate, weights: Sequence[float]) -> float:
    total = sum(weights)
    if not total:
        return 0.0
    pairs = zip(candidate.credits, weights, strict=True)
    return sum(credit * weight for credit, weight in pairs) / total
