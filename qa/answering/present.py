"""An outcome as the JSON that every door shows and the log keeps (DESIGN §9)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from qa.records import (
    Outcome,
    Passage,
    PassagePart,
    Refusal,
    Step,
    VerifiedCitation,
    VerifiedClaim,
)


def outcome_json(outcome: Outcome) -> dict[str, Any]:
    """The whole answer; `answer` is the claims' text, each followed by its citations."""
    numbers = citation_numbers(outcome.claims)
    claims = [claim_json(claim, numbers) for claim in outcome.claims]
    return {
        "id": outcome.id,
        "status": outcome.status,
        "question": outcome.question,
        "as_of": outcome.as_of.isoformat(),
        "answer": answer_text(outcome.claims) or None,
        "claims": claims,
        "sources": [source_json(passage, outcome.claims) for passage in outcome.sources],
        "confidence": outcome.confidence.value if outcome.confidence else None,
        "support": round(outcome.support, 4) if outcome.support is not None else None,
        "refusal": refusal_json(outcome.refusal) if outcome.refusal else None,
        "steps": [step_json(step) for step in outcome.steps],
        "usage": {
            "model": outcome.usage.model,
            "input_tokens": outcome.usage.input_tokens,
            "output_tokens": outcome.usage.output_tokens,
            "cached_tokens": outcome.usage.cached_tokens,
            "cost_usd": float(outcome.usage.cost_usd),
        },
        "model": outcome.model,
        "corpus_revision": outcome.corpus_revision,
        "notices": list(outcome.notices),
    }


def answer_text(claims: Sequence[VerifiedClaim]) -> str:
    """The claims in order, each with `[Doc: <document>, Section: <section>]` behind it."""
    return " ".join(
        claim.text + "".join(f" {_mark(passage)}" for passage in _cited(claim)) for claim in claims
    )


def _mark(passage: Passage) -> str:
    return f"[Doc: {passage.document}, Section: {passage.section_id}]"


def _cited(claim: VerifiedClaim) -> list[Passage]:
    """The passages of a claim's citations, each once, in order."""
    return list({c.passage.id: c.passage for c in claim.citations}.values())


def citation_numbers(claims: Sequence[VerifiedClaim]) -> dict[str, int]:
    """A number for each cited passage id, counted from 1 in order of first citation."""
    numbers: dict[str, int] = {}
    for claim in claims:
        for citation in claim.citations:
            numbers.setdefault(citation.passage.id, len(numbers) + 1)
    return numbers


def claim_json(claim: VerifiedClaim, numbers: dict[str, int]) -> dict[str, Any]:
    """One sentence with its citations; `numbers` gives each passage its number."""
    return {
        "text": claim.text,
        "citations": [_citation_json(c, numbers[c.passage.id]) for c in claim.citations],
    }


def _citation_json(citation: VerifiedCitation, n: int) -> dict[str, Any]:
    passage = citation.passage
    start, end, part = canonical_span(passage, citation.start, citation.end)
    return {
        "n": n,
        "document": passage.document,
        "version": passage.version,
        "effective_from": passage.effective_from.isoformat(),
        "section_id": passage.section_id,
        "section_title": passage.section_title,
        "section_public_id": passage.section_public_id,
        "quote": citation.quote,
        "start": start,
        "end": end,
        "page": part.page_at(start) if part else None,
        "chunk_id": part.chunk_id if part else None,
        "url": f"{_address(passage)}&start={start}&end={end}#cited",
    }


def _address(passage: Passage) -> str:
    """Where the section can be read; the day keeps it valid when a later version takes over."""
    return f"/sections/{passage.section_public_id}/?as_of={passage.effective_from.isoformat()}"


def canonical_span(passage: Passage, start: int, end: int) -> tuple[int, int, PassagePart | None]:
    """A span of a passage's text as one of the version's canonical text, and where it begins."""
    first = _part_at(passage, start)
    last = _part_at(passage, end - 1)
    if first is None or last is None:
        return start, end, first
    return (
        first.chunk_start + start - first.start,
        last.chunk_start + end - last.start,
        first,
    )


def _part_at(passage: Passage, position: int) -> PassagePart | None:
    for part in passage.parts:
        if part.start <= position < part.end:
            return part
    return None


def source_json(passage: Passage, claims: Sequence[VerifiedClaim] = ()) -> dict[str, Any]:
    """A retrieved passage with both ranks and scores."""
    cited = {c.passage.id for claim in claims for c in claim.citations}
    return {
        "document": passage.document,
        "policy": passage.policy,
        "version": passage.version,
        "effective_from": passage.effective_from.isoformat(),
        "effective_to": passage.effective_to.isoformat() if passage.effective_to else None,
        "section_id": passage.section_id,
        "section_title": passage.section_title,
        "section_public_id": passage.section_public_id,
        "section_path": list(passage.section_path),
        "text": passage.text,
        "score": round(passage.score, 6),
        "cosine": round(passage.cosine, 6) if passage.cosine is not None else None,
        "bm25": round(passage.bm25, 6),
        "dense_rank": passage.dense_rank,
        "lexical_rank": passage.lexical_rank,
        "matched_terms": list(passage.matched_terms),
        "is_cited": passage.id in cited,
        "has_pending_review": passage.has_pending_review,
        "url": _address(passage),
    }


def refusal_json(refusal: Refusal) -> dict[str, Any]:
    """Why there is no answer, and what a reader can do."""
    return {
        "code": refusal.code.value,
        "message": refusal.message,
        "missing": refusal.missing,
        "looked_at": list(refusal.looked_at),
        "ask": refusal.ask,
        "top_score": round(refusal.top_score, 4) if refusal.top_score is not None else None,
        "threshold": refusal.threshold,
    }


def step_json(step: Step) -> dict[str, Any]:
    """One step with its status and milliseconds."""
    return {
        "name": step.name,
        "status": step.status,
        "ms": round(step.ms, 1),
        "detail": dict(step.detail),
    }
