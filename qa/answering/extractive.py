"""The answerer without a model: the best verbatim sentences, or an honest refusal.

Sites without internet use it, and everyone does whose label forbids a hosted model. It
scores each clause of the passages by how much of the question it and its surroundings
(stem, neighbours, headings) cover, demands the sort of thing that was asked for, and
declines when a word that matters is nowhere near. It never writes a word of its own: a
claim is one clause, or a lead-in with its items, each quoted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from qa.answering.candidates import HELD, Candidate, Similarity, find_candidates, rank
from qa.answering.clauses import ITEM, Clause, count_words, split_clauses
from qa.answering.questions import Question, Wanted, read_question
from qa.answering.verify.output_policy import is_safe_sentence
from qa.answering.verify.quote import MAX_WORDS, MIN_WORDS
from qa.records import Confidence, DraftCitation, DraftClaim, DraftEnd, Passage

MAX_CLAIMS: Final = 4
# Calibrated on demo/calibration.jsonl; see docs/explanation/verification.md.
MIN_SCORE: Final = 0.62
MIN_SCORE_CJK: Final = 0.5
ALSO_ANSWERS: Final = 0.92  # of the best score, for a second claim
_MAX_ROWS: Final = 8
_MISSING: Final = 0.3  # a keyword with less credit than this counts as missing
_MAX_MISSING_CHARACTERS: Final = 200


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
    candidates = find_candidates(asked, passages)
    if not candidates:
        return _decline(asked, (), unseen_terms)
    candidates = rank(asked, candidates, similarity)
    best = candidates[0]
    score = best.score - _penalty(asked, best, unseen_terms)
    if score < (MIN_SCORE_CJK if asked.is_cjk else MIN_SCORE):
        return _decline(asked, best.credits, unseen_terms)
    if _is_any_row(best, candidates):
        claims = [_list_claim(best, split_clauses(best.passage.text))]
    else:
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


def _penalty(asked: Question, best: Candidate, unseen_terms: Sequence[str]) -> float:
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


def _choose(asked: Question, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The best clause, and others only where they add something."""
    best = candidates[0]
    chosen = [best]
    covered = set(_covered(best))
    is_vague = sum(keyword.weight >= 1 for keyword in asked.keywords) <= 1
    for other in candidates[1:]:
        if len(chosen) >= (MAX_CLAIMS if is_vague else 2):
            break
        if not other.has_wanted or other.bonus < 0 or any(_overlap(other, c) for c in chosen):
            continue
        adds = set(_covered(other)) - covered if _shares(best, other) else set()
        is_rival = is_vague and other.score >= 0.97 * best.score
        is_exception = _limits(best, other) and other.score >= 0.7 * best.score
        if (adds and other.score >= ALSO_ANSWERS * best.score) or is_rival or is_exception:
            chosen.append(other)
            covered |= adds
    return sorted(chosen, key=lambda c: (c is not best, c.passage is not best.passage, c.position))


def _is_any_row(best: Candidate, candidates: Sequence[Candidate]) -> bool:
    """Whether the question fits each row of a table alike: then only the whole table answers."""
    rows = [
        other
        for other in candidates
        if other.passage is best.passage
        and other.clause.is_row
        and other.clause.stem == best.clause.stem
    ]
    is_table = best.clause.is_row and best.clause.stem is not None
    is_alike = all(row.credits == best.credits and row.has_wanted for row in rows)
    return is_table and is_alike and 1 < len(rows) <= _MAX_ROWS


def _covered(candidate: Candidate) -> list[int]:
    return [i for i, credit in enumerate(candidate.credits) if credit >= HELD]


def _shares(best: Candidate, other: Candidate) -> bool:
    """Whether `other` speaks of most of what `best` speaks of: else it answers something else."""
    mine = set(_covered(best))
    return len(mine & set(_covered(other))) * 2 > len(mine)


def _overlap(first: Candidate, second: Candidate) -> bool:
    return first.text == second.text or (
        first.passage is second.passage and first.position == second.position
    )


def _limits(best: Candidate, other: Candidate) -> bool:
    """Whether `other` is an exception to `best` that stands right behind it."""
    return (
        other.passage is best.passage
        and other.position == best.position + 1
        and other.clause.continues
    )


def _claims(asked: Question, item: Candidate) -> list[DraftClaim]:
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


def _list_claim(item: Candidate, clauses: Sequence[Clause]) -> DraftClaim:
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
