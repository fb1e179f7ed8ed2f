"""The answerer without a model: the best verbatim sentences, or an honest refusal.

Sites without internet use it, and everyone does whose label forbids a hosted model. It
scores each clause of the passages by how much of the question it and its surroundings
(stem, neighbours, headings) cover, demands the sort of thing that was asked for, and
declines when a word that matters is nowhere near. It never writes a word of its own: a
claim is one clause, or a lead-in with its items, each quoted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from documents.ingestion.analysis import content_words
from qa.answering.answer_kinds import defines, enumerates, fits
from qa.answering.clauses import ITEM, Clause, count_words, split_clauses
from qa.answering.question_words import synonyms
from qa.answering.questions import Keyword, Question, Wanted, read_question
from qa.answering.verify.addresses import find_addresses
from qa.answering.verify.output_policy import is_safe_sentence
from qa.answering.verify.quantities import find_quantities
from qa.answering.verify.quote import MAX_WORDS, MIN_WORDS
from qa.records import Confidence, DraftCitation, DraftClaim, DraftEnd, Passage

Similarity = Callable[[str, Sequence[str]], Sequence[float]]

MAX_CLAIMS: Final = 4
MAX_CANDIDATES: Final = 400  # clauses scored; passages come best first
# Calibrated on demo/calibration.jsonl; see docs/explanation/verification.md.
MIN_SCORE: Final = 0.62
MIN_SCORE_CJK: Final = 0.5
ALSO_ANSWERS: Final = 0.92  # of the best score, for a second claim
_IN_CLAUSE, _IN_HEADING, _IN_NEIGHBOUR, _IN_PASSAGE = 1.0, 0.85, 0.6, 0.3
_SYNONYM: Final = 0.95
_MISSING: Final = 0.3  # a keyword with less credit than this counts as missing
_SIMILARITY_WEIGHT: Final = 0.25
_SAME_QUANTITY: Final = 0.12  # a clause about the very amount or time that was asked about
_MAX_MISSING_CHARACTERS: Final = 200


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A clause of a passage with how well it answers."""

    passage: Passage
    position: int  # among the passage's clauses
    clause: Clause
    text: str  # with its lead-in
    credits: tuple[float, ...]  # per keyword
    has_wanted: bool
    score: float


def draft(
    question: str,
    passages: Sequence[Passage],
    *,
    language: str,
    similarity: Similarity | None,
    unseen_terms: Sequence[str] = (),
) -> tuple[list[DraftClaim], DraftEnd]:
    """Choose and order verbatim sentences that answer `question`.

    Args:
        question: as asked, cleaned.
        passages: best first, ids unique.
        language: of the question.
        similarity: cosine of the question with each of some texts, or None.
        unseen_terms: content terms of the question that no readable chunk holds.

    Returns:
        At most four claims, each made of quotes that stand in its passage, and the end of
        the draft. Not answerable: no claims, and `missing` names the words of the question
        that nothing covers.
    """
    asked = read_question(question, language)
    candidates = _candidates(asked, passages)
    if not candidates:
        return _decline(asked, (), unseen_terms)
    candidates = _rank(asked, candidates, similarity)
    best = candidates[0]
    score = best.score - _penalty(asked, best, unseen_terms)
    if score < (MIN_SCORE_CJK if asked.is_cjk else MIN_SCORE):
        return _decline(asked, best.credits, unseen_terms)
    chosen = _choose(asked, candidates)
    claims = [claim for item in chosen for claim in _claims(asked, item)][:MAX_CLAIMS]
    confidence = Confidence.HIGH if score >= 0.8 else Confidence.MEDIUM
    return claims, DraftEnd(True, None, confidence)


def _decline(
    asked: Question, credits: Sequence[float], unseen_terms: Sequence[str]
) -> tuple[list[DraftClaim], DraftEnd]:
    missing = [
        keyword.surface
        for index, keyword in enumerate(asked.keywords)
        if keyword.weight >= 1 and (index >= len(credits) or credits[index] < _MISSING)
    ] or list(unseen_terms)
    separator = "、" if asked.is_cjk else ", "
    text = separator.join(dict.fromkeys(missing))[:_MAX_MISSING_CHARACTERS]
    return [], DraftEnd(False, text or None, Confidence.LOW)


def _candidates(asked: Question, passages: Sequence[Passage]) -> list[_Candidate]:
    found: list[_Candidate] = []
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
) -> _Candidate:
    clause = clauses[position]
    stem = passage.text[slice(*clause.stem)] if clause.stem else ""
    own = words[position] | (_words(stem, passage) if stem else frozenset())
    near = frozenset().union(*words[max(0, position - 2) : position + 2])
    everywhere = frozenset().union(*words)
    levels = (
        (own, _IN_CLAUSE),
        (heading, _IN_HEADING),
        (near, _IN_NEIGHBOUR),
        (everywhere, _IN_PASSAGE),
    )
    credits = tuple(_credit(keyword, levels) for keyword in asked.keywords)
    text = f"{stem} {clause.text}".strip()
    has_wanted = fits(asked, text)
    return _Candidate(passage, position, clause, text, credits, has_wanted, 0.0)


def _credit(keyword: Keyword, levels: Sequence[tuple[frozenset[str], float]]) -> float:
    table = synonyms()
    best = 0.0
    for words, worth in levels:
        if keyword.stems <= words:
            best = max(best, worth)
        elif any(table.get(stem, frozenset()) & words for stem in keyword.stems):
            best = max(best, worth * _SYNONYM)
        elif len(keyword.stems) > 1 and keyword.stems & words:
            best = max(best, worth * 0.7)
    if keyword.is_head and best < _IN_NEIGHBOUR:
        return best / 2
    return best


def _rank(
    asked: Question, candidates: Sequence[_Candidate], similarity: Similarity | None
) -> list[_Candidate]:
    weights = _weights(asked, candidates)
    scored = [_scored(asked, c, _coverage(c, weights)) for c in candidates]
    scored.sort(key=lambda candidate: -candidate.score)
    if similarity is not None and scored:
        top = scored[:24]
        cosines = similarity(asked.text, [candidate.text for candidate in top])
        scored = [
            replace(candidate, score=candidate.score + _SIMILARITY_WEIGHT * (cosine - 0.4))
            for candidate, cosine in zip(top, cosines, strict=True)
        ]
        scored.sort(key=lambda candidate: -candidate.score)
    return scored


def _scored(asked: Question, candidate: _Candidate, score: float) -> _Candidate:
    score -= 0.0 if candidate.has_wanted else 0.45
    score += 0.04 * candidate.passage.score
    score += _SAME_QUANTITY * _speaks_of(asked, candidate.text)
    score -= 0.02 * min(4.0, count_words(candidate.clause.text) / 40)
    score -= 0.1 if candidate.clause.continues else 0.0
    return replace(candidate, score=score + _form_bonus(asked, candidate))


def _speaks_of(asked: Question, text: str) -> bool:
    if not asked.quantities:
        return False
    own = find_quantities(text)
    return any(q.agrees_with(o) and q.bound in {"", o.bound} for q in asked.quantities for o in own)


def _form_bonus(asked: Question, candidate: _Candidate) -> float:
    """What the form of the clause says beyond its words."""
    if asked.wanted is Wanted.DEFINITION:
        return 0.2 if defines(candidate.text) else 0.0
    if asked.wanted is Wanted.LIST:
        is_list = candidate.clause.is_stem or candidate.clause.stem is not None
        return 0.1 if is_list else (0.0 if enumerates(candidate.text) else -0.15)
    if asked.wanted is Wanted.COUNT:
        heads = [i for i, keyword in enumerate(asked.keywords) if keyword.is_head]
        is_counted = all(candidate.credits[i] >= _IN_CLAUSE * _SYNONYM for i in heads)
        return 0.0 if is_counted else -0.3
    return 0.0


def _weights(asked: Question, candidates: Sequence[_Candidate]) -> list[float]:
    """Keyword weights: a word that every clause holds says little about which one answers."""
    total = len(candidates)
    weights = []
    for index, keyword in enumerate(asked.keywords):
        holding = sum(candidate.credits[index] >= _IN_CLAUSE * _SYNONYM for candidate in candidates)
        rarity = math.log(1 + total / (0.5 + holding)) / math.log(1 + total / 0.5)
        weights.append(keyword.weight * (0.6 + 0.4 * rarity) * (1.3 if keyword.is_head else 1.0))
    return weights


def _coverage(candidate: _Candidate, weights: Sequence[float]) -> float:
    total = sum(weights)
    if not total:
        return 0.0
    pairs = zip(candidate.credits, weights, strict=True)
    return sum(credit * weight for credit, weight in pairs) / total


def _penalty(asked: Question, best: _Candidate, unseen_terms: Sequence[str]) -> float:
    """What a missing word costs beyond the coverage it takes away."""
    penalty = 0.0
    unseen = {term.casefold() for term in unseen_terms}
    for keyword, credit in zip(asked.keywords, best.credits, strict=True):
        if keyword.weight < 1 or credit >= _MISSING:
            continue
        is_unseen = bool(keyword.stems & unseen) or keyword.surface.casefold() in unseen
        is_name = (
            not asked.is_cjk
            and keyword.surface[:1].isupper()
            and keyword.surface != (asked.text.split() or [""])[0]
        )
        penalty += 0.08 * is_unseen * (not asked.is_cjk) + 0.12 * keyword.is_head + 0.12 * is_name
    return penalty


def _choose(asked: Question, candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """The best clause, and others only where they add something."""
    best = candidates[0]
    chosen = [best]
    covered = set(_covered(best))
    is_vague = sum(keyword.weight >= 1 for keyword in asked.keywords) <= 1
    for other in candidates[1:]:
        if len(chosen) >= (MAX_CLAIMS if is_vague else 2):
            break
        if not other.has_wanted or any(_overlap(other, c) for c in chosen):
            continue
        adds = set(_covered(other)) - covered
        is_rival = is_vague and other.score >= 0.97 * best.score
        is_exception = _limits(best, other) and other.score >= 0.7 * best.score
        if (adds and other.score >= ALSO_ANSWERS * best.score) or is_rival or is_exception:
            chosen.append(other)
            covered |= adds
    return sorted(chosen, key=lambda c: (c is not best, c.passage is not best.passage, c.position))


def _covered(candidate: _Candidate) -> list[int]:
    return [i for i, credit in enumerate(candidate.credits) if credit >= _IN_CLAUSE * _SYNONYM]


def _overlap(first: _Candidate, second: _Candidate) -> bool:
    return first.text == second.text or (
        first.passage is second.passage and first.position == second.position
    )


def _limits(best: _Candidate, other: _Candidate) -> bool:
    """Whether `other` is an exception to `best` that stands right behind it."""
    return (
        other.passage is best.passage
        and other.position == best.position + 1
        and other.clause.continues
    )


def _claims(asked: Question, item: _Candidate) -> list[DraftClaim]:
    """The clause as claims: with its lead-in, its list, and the exception that follows it."""
    clauses = split_clauses(item.passage.text)
    if item.clause.is_stem or (item.clause.stem is not None and asked.wanted is Wanted.LIST):
        return [_list_claim(item, clauses)]
    spans = [item.clause.stem] if item.clause.stem else []
    claims = [_claim(item.passage, [*spans, (item.clause.start, item.clause.end)])]
    for following in clauses[item.position + 1 : item.position + 2]:
        if following.continues and not following.is_stem and is_safe_sentence(following.text):
            claims.append(_claim(item.passage, [(following.start, following.end)]))
    return claims


def _list_claim(item: _Candidate, clauses: Sequence[Clause]) -> DraftClaim:
    stem = item.clause.stem or (item.clause.start, item.clause.end)
    items = [(c.start, c.end) for c in clauses if c.stem == stem and is_safe_sentence(c.text)]
    return _claim(item.passage, [stem, *items])


def _claim(passage: Passage, spans: Sequence[tuple[int, int]]) -> DraftClaim:
    """A claim of the passage's own words: each span quoted, markers of items left out."""
    pieces = []
    for start, end in spans:
        marker = ITEM.match(passage.text, start, end)
        start = marker.end() if marker else start
        pieces += [passage.text[left:right] for left, right in _quotable(passage.text, start, end)]
    text = " ".join(" ".join(piece.split()) for piece in pieces)
    return DraftClaim(text, tuple(DraftCitation(passage.id, piece) for piece in pieces))


def _quotable(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The span in pieces short enough to quote, cut after commas and semicolons."""
    if count_words(text[start:end]) <= MAX_WORDS:
        return [(start, end)]
    pieces: list[tuple[int, int]] = []
    left = start
    cuts = [m.end() for m in re.finditer(r"[,;:，；：、]\s*|\s", text[start:end])]
    good = [m.end() for m in re.finditer(r"[,;:，；：、]\s*", text[start:end])]
    while count_words(text[left:end]) > MAX_WORDS:
        fitting = [start + c for c in good if _is_short(text, left, start + c)]
        fitting = fitting or [start + c for c in cuts if _is_short(text, left, start + c)]
        stop = fitting[-1] if fitting else min(end, left + MAX_WORDS)
        pieces.append((left, _rstrip(text, left, stop)))
        left = stop
    return [*pieces, (left, end)]


def _is_short(text: str, left: int, stop: int) -> bool:
    return left < stop and MIN_WORDS <= count_words(text[left:stop]) <= MAX_WORDS - MIN_WORDS


def _rstrip(text: str, start: int, end: int) -> int:
    while end > start and text[end - 1].isspace():
        end -= 1
    return end
