"""Asks one labelled question as a holder of its labels, and observes what came of it.

The answer is got as a reader gets it, with `k` passages; the ranking is looked at deeper, by a
search of its own. What the answer rests on is then read anew as the asker: quotes are checked
against the stored text, and whatever can't be read is a leak.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any
from uuid import UUID

from django.conf import settings

from documents import access
from documents.access import ReadableSection, Reader, Reading
from documents.errors import DocumentsError
from evaluation.metrics.matching import expected_places, holds_quote, is_met, places_met
from evaluation.metrics.scores import RANKING_DEPTH
from evaluation.records import (
    Expected,
    FoundSection,
    LabelledQuestion,
    Observed,
    ObservedCitation,
    ObservedClaim,
)
from qa import pipeline
from qa.answering.present import outcome_json, source_json
from qa.errors import QAError
from qa.pipeline import Asked
from qa.records import Outcome, Passage, VerifiedClaim
from qa.retrieval.search import joined


@dataclass(frozen=True, slots=True)
class Observation:
    """What came of a question, for judging and for keeping.

    `expected` and `terms` are those of the question as far as its asker can read the places;
    `chunk_ids` are all chunks that anything in here comes from.
    """

    observed: Observed
    as_of: date
    outcome: dict[str, Any] | None
    retrieved: tuple[dict[str, Any], ...]
    expected: tuple[dict[str, Any], ...]
    terms: tuple[str, ...]
    chunk_ids: frozenset[str]
    corpus_revision: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class _Reread:
    """What the asker can read, looked up after the answer."""

    texts: dict[str, str]  # by the section's public id
    is_all_readable: bool
    expected: tuple[dict[str, Any], ...]
    expected_chunks: frozenset[str]
    is_all_found: bool


def asker_labels(question: LabelledQuestion) -> tuple[str, ...]:
    """The labels that a question's asker holds: its own, else the label of everyone."""
    everyone = (settings.EVERYONE_LABEL,) if settings.EVERYONE_LABEL else ()
    return question.labels or everyone


def observe(
    question: LabelledQuestion,
    *,
    today: date,
    answerer: str | None,
    k: int,
    guarded_quotes: Sequence[str] = (),
) -> Observation:
    """Ask a question and look at everything that came of it.

    Args:
        question: with its labels, which must exist.
        today: the as-of date of questions that name none.
        answerer: `claude`, `extractive`, or None for what is configured.
        k: passages that the answerer gets.
        guarded_quotes: words that this asker must not get to see.
    """
    as_of = question.as_of or today
    asked = Asked(
        asker=Reader.with_labels(asker_labels(question)),
        question=question.question,
        as_of=as_of,
        n_results=k,
        answerer=answerer,
        door="eval",
    )
    started = time.perf_counter()
    try:
        outcome = pipeline.ask(asked).outcome
        latency_ms = (time.perf_counter() - started) * 1000
        ranking = _ranking(asked)
    except (QAError, DocumentsError) as error:
        latency_ms = (time.perf_counter() - started) * 1000
        return _failed(as_of, latency_ms, f"{error.code}: {error.message}")
    again = _reread(asked, question.expected, outcome, ranking)
    observed = _observed(outcome, ranking, again, latency_ms)
    is_leak = not again.is_all_readable or _shows(outcome, ranking, guarded_quotes)
    return Observation(
        observed=replace(observed, is_leak=is_leak),
        as_of=as_of,
        outcome={key: v for key, v in outcome_json(outcome).items() if key != "sources"},
        retrieved=tuple(_rows(question, outcome, ranking)),
        expected=again.expected,
        terms=question.terms if again.is_all_found else (),
        chunk_ids=again.expected_chunks | _chunk_ids([*outcome.sources, *ranking]),
        corpus_revision=outcome.corpus_revision,
    )


def _ranking(asked: Asked) -> tuple[Passage, ...]:
    deep = replace(asked, n_results=max(asked.n_results, RANKING_DEPTH))
    return pipeline.search_passages(deep).passages


def _failed(as_of: date, latency_ms: float, error: str) -> Observation:
    observed = Observed("failed", latency_ms=latency_ms)
    return Observation(observed, as_of, None, (), (), (), frozenset(), error=error)


def _observed(
    outcome: Outcome, ranking: Sequence[Passage], again: _Reread, latency_ms: float
) -> Observed:
    return Observed(
        status=outcome.status,
        refusal_code=outcome.refusal.code.value if outcome.refusal else "",
        claims=tuple(_claim(claim, again.texts) for claim in outcome.claims),
        retrieved=tuple(map(_found, ranking)),
        latency_ms=latency_ms,
        cost_usd=float(outcome.usage.cost_usd),
    )


def _claim(claim: VerifiedClaim, texts: dict[str, str]) -> ObservedClaim:
    citations = tuple(
        ObservedCitation(c.quote, _found(c.passage), texts.get(c.passage.section_public_id))
        for c in claim.citations
    )
    return ObservedClaim(claim.text, citations)


def _found(passage: Passage) -> FoundSection:
    return FoundSection(
        document=passage.policy,
        title=passage.document,
        section=passage.section_id,
        heading=passage.section_path[-1] if passage.section_path else passage.section_title,
        text=passage.text,
    )


def _reread(
    asked: Asked, expected: Sequence[Expected], outcome: Outcome, ranking: Sequence[Passage]
) -> _Reread:
    cited = {c.passage.section_public_id for claim in outcome.claims for c in claim.citations}
    with access.reading_as(asked.asker, asked.as_of) as reading:
        sections = {id_: access.readable_section(reading, UUID(id_)) for id_ in cited}
        shown, chunks, is_all_found = _expected_places(reading, expected)
        supplied = _chunk_ids([*outcome.sources, *ranking])
        return _Reread(
            texts={id_: joined(found.chunks)[0] for id_, found in sections.items() if found},
            is_all_readable=access.are_readable(reading, supplied),
            expected=shown,
            expected_chunks=chunks,
            is_all_found=is_all_found,
        )


def _expected_places(
    reading: Reading, expected: Sequence[Expected]
) -> tuple[tuple[dict[str, Any], ...], frozenset[str], bool]:
    """The expected places that the asker can read, with their chunks.

    Of a place that can't be read nothing is kept but that it was expected: its name and its
    words could come from a policy that viewers of the run may not read either.
    """
    policies = {policy.slug: policy.title for policy in access.readable_policies(reading)}
    shown: list[dict[str, Any]] = []
    chunks: set[str] = set()
    for item in expected:
        sections = [
            section
            for slug, title in policies.items()
            if item.document.casefold() in (slug.casefold(), title.casefold())
            for section in access.readable_sections(reading, slug)
            if is_met(item, _readable(section))
        ]
        found = {"document": item.document, "section": item.section, "quote": item.quote}
        is_whole = bool(sections) and _holds(sections, item.quote)
        shown.append({"is_found": is_whole, **(found if is_whole else {})})
        chunks |= {str(chunk.public_id) for section in sections for chunk in section.chunks}
    return tuple(shown), frozenset(chunks), all(item["is_found"] for item in shown)


def _holds(sections: Iterable[ReadableSection], quote: str) -> bool:
    """Whether the readable text itself has the quote: a label may quote what is hidden in it."""
    return not quote or any(holds_quote(joined(s.chunks)[0], quote) for s in sections)


def _readable(section: ReadableSection) -> FoundSection:
    return FoundSection(
        document=section.policy_slug,
        title=section.policy_title,
        section=section.number or section.title,
        heading=section.path[-1] if section.path else section.title,
        text=joined(section.chunks)[0],
    )


def _chunk_ids(passages: Iterable[Passage]) -> frozenset[str]:
    return frozenset(part.chunk_id for passage in passages for part in passage.parts)


def _rows(
    question: LabelledQuestion, outcome: Outcome, ranking: Sequence[Passage]
) -> Iterable[dict[str, Any]]:
    """The ranking for the page: where each section lies, its scores, and if it was expected."""
    places = expected_places(question.expected)
    for rank, passage in enumerate(ranking, start=1):
        row = source_json(passage, outcome.claims)
        del row["text"]
        yield row | {
            "rank": rank,
            "is_expected": bool(places_met(places, _found(passage))),
            "is_supplied": rank <= len(outcome.sources),
        }


def _shows(outcome: Outcome, ranking: Sequence[Passage], quotes: Sequence[str]) -> bool:
    texts = [passage.text for passage in (*outcome.sources, *ranking)]
    texts += [claim.text for claim in outcome.claims]
    return any(holds_quote(text, quote) for quote in quotes for text in texts)
