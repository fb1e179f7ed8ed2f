"""Check 5: the cited passages say what the claim says.

A claim that is a verbatim piece of its passages, or its quotes put together, is supported by
definition. Otherwise the share of its content words in the cited passages (with their
headings) must reach `MIN_SHARE`, no clause of it may stand apart from them, its subject
must occur, and where a model of the language is at hand its meaning must be near the quote.
Words alone cannot compare two languages; there quotes, numbers and meaning decide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from documents.ingestion.analysis import content_words
from documents.ingestion.folding import fold_for_quotes
from qa.answering.clauses import ITEM, is_cjk
from qa.answering.verify.modality import Force, stance_of
from qa.answering.verify.numbers import matched_quantities
from qa.answering.verify.quote import find_whole
from qa.answering.verify.source import Source, topic_words
from qa.records import RefusalCode, Verdict, VerifiedCitation

CHECK: Final = "support"
MIN_SHARE: Final = 0.6
MIN_CLAUSE_SHARE: Final = 0.34
MIN_SIMILARITY: Final = 0.35
CROSS_LANGUAGE: Final = 0.6  # the support shown where words cannot be compared
_CLAUSE: Final = re.compile(
    r"[;；]|[,，]\s*(?:and|but|while|which|whereas|so)?\b|\b(?:and|but|while|whereas)\b",
    re.IGNORECASE,
)
_PRONOUN: Final = re.compile(
    r"^(?:[-*•]\s*)?(?:yes|no|it|they|you|we|he|she|this|that|these|those|there|here|according|"
    r"under|if|when|to|in|at|on|do|for|please|within|after|before|by|from|with|as)\b",
    re.IGNORECASE,
)

Similarity = Callable[[str, Sequence[str]], Sequence[float]]


def check_support(
    claim: str,
    sources: Sequence[Source],
    citations: Sequence[VerifiedCitation],
    *,
    similarity: Similarity | None = None,
    question: str = "",
    is_quoted: bool = True,
) -> Verdict:
    """Whether the cited passages say what `claim` says; the score is the share found."""
    if is_verbatim(claim, sources, citations if is_quoted else ()):
        return Verdict(CHECK, passed=True, reason="The sentence is the passage's own.", score=1.0)
    own = [source for source in sources if source.is_cjk == is_cjk(claim)]
    if not own:
        return _across_languages(claim, sources, is_quoted=is_quoted)
    share, reason = _lexical(claim, own, question)
    if not reason and similarity is not None and citations:
        nearest = max(similarity(claim, [c.quote for c in citations]))
        if nearest < MIN_SIMILARITY:
            reason = "The sentence means something else than the quoted words."
    if reason:
        return _failed(reason, share)
    return Verdict(CHECK, passed=True, reason="The cited passage says so.", score=share)


def is_verbatim(
    claim: str, sources: Sequence[Source], citations: Sequence[VerifiedCitation]
) -> bool:
    """Whether the claim, folded, stands in a passage or is its quotes one after the other."""
    return verbatim_spans(claim, sources, citations) is not None


def verbatim_spans(
    claim: str, sources: Sequence[Source], citations: Sequence[VerifiedCitation]
) -> list[tuple[Source, int, int]] | None:
    """Where a verbatim claim stands, as (source, start, end); None when it is not verbatim."""
    text = _plain(claim)
    if not text:
        return None
    for source in sources:
        at = find_whole(source.folded.text, text)
        if at >= 0:
            return [(source, *source.folded.span(at, at + len(text)))]
    return _quoted_spans(text, sources, citations)


def _quoted_spans(
    text: str, sources: Sequence[Source], citations: Sequence[VerifiedCitation]
) -> list[tuple[Source, int, int]] | None:
    by_id = {source.passage.id: source for source in sources}
    spans: list[tuple[Source, int, int]] = []
    for citation in citations:
        piece = _plain(citation.quote)
        if not text.startswith(piece):
            return None
        text = text[len(piece) :].lstrip(" :：;；,，-")
        spans.append((by_id[citation.passage.id], citation.start, citation.end))
    return spans if spans and not text else None


def takes_whole_clauses(spans: Sequence[tuple[Source, int, int]]) -> bool:
    """Whether the spans leave no word of a clause, or of its lead-in, behind."""
    for source, start, end in spans:
        for clause in source.clauses:
            if not (clause.start < end and start < clause.end):
                continue
            stretches = [(clause.start, clause.end)] + ([clause.stem] if clause.stem else [])
            if any(_has_rest(source, left, right, spans) for left, right in stretches):
                return False
    return True


def _has_rest(
    source: Source, start: int, end: int, spans: Sequence[tuple[Source, int, int]]
) -> bool:
    """Whether a word of the stretch is outside all spans."""
    text = source.passage.text
    marker = ITEM.match(text, start, end)
    start = marker.end() if marker else start
    covered = {i for s, left, right in spans if s is source for i in range(left, right)}
    return any(text[i].isalnum() and i not in covered for i in range(start, end))


def _plain(text: str) -> str:
    folded = fold_for_quotes(text).text
    return re.sub(r"\s+", " ", folded).strip(" .。;；,，:：-*•")


def _failed(reason: str, share: float) -> Verdict:
    code = RefusalCode.NOT_SUPPORTED
    return Verdict(CHECK, passed=False, code=code, reason=reason, score=round(share, 3))


def _lexical(claim: str, sources: Sequence[Source], question: str) -> tuple[float, str]:
    known = frozenset().union(*(source.words for source in sources))
    words = topic_words(claim, sources[0].language)
    if not words:
        has_numbers = matched_quantities(claim, sources) > 0
        has_words = bool(set(content_words(claim, sources[0].language)) & known)
        if has_numbers or has_words:
            return 1.0, ""
        return 0.0, "The sentence shares no word with the cited passage."
    share = sum(word in known for word in words) / len(words)
    if share < MIN_SHARE:
        return share, "Too few of the sentence's words are in the cited passage."
    for clause in _CLAUSE.split(claim):
        own = topic_words(clause or "", sources[0].language)
        if len(own) >= 2 and sum(word in known for word in own) / len(own) < MIN_CLAUSE_SHARE:
            return share, f"“{clause.strip()}” is not in the cited passage."
    asked = frozenset(content_words(question, sources[0].language)) if question else frozenset()
    if not is_cjk(claim) and not _PRONOUN.match(claim) and words[0] not in known | asked:
        return share, "What the sentence is about is not in the cited passage."
    return share, ""


def _across_languages(claim: str, sources: Sequence[Source], *, is_quoted: bool) -> Verdict:
    force = stance_of(claim)
    stances = [stance_of(unit.text) for source in sources for unit in source.units]
    has_stance = (force.force is not Force.FACT or force.is_negative) and any(
        force.force is s.force and force.is_negative == s.is_negative for s in stances
    )
    if is_quoted or has_stance or matched_quantities(claim, sources):
        reason = "The passage is in another language: its quotes and numbers were compared."
        return Verdict(CHECK, passed=True, reason=reason, score=CROSS_LANGUAGE)
    return _failed("The passage is in another language and shares no number.", 0.0)
