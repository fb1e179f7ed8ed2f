"""From a question to the passages that this reader may read, best first.

Both legs come from one statement under the reader's role; what may not be read is never
ranked. Passages are whole sections where they fit: a clause's exceptions live beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from documents import access, embedding, vectors
from documents.access import (
    Candidates,
    Hit,
    ReadableChunk,
    ReadableSection,
    Reading,
    VectorModel,
)
from documents.ingestion import analysis
from documents.ingestion.analysis.terms import term_of
from qa.records import Passage, PassagePart, SearchResult
from qa.retrieval.fusion import min_max_fusion

# A longer section is given as its best chunk with the neighbours that fit in here.
MAX_PASSAGE_CHARACTERS = 4_000


@dataclass(frozen=True, slots=True)
class Query:
    """A question prepared for both legs; made before the transaction is opened."""

    text: str
    language: str
    terms: dict[int, str]  # hash to readable term
    vector: tuple[float, ...] | None
    model: VectorModel | None = None  # what made the vector


def prepare(question: str) -> Query:
    """Analyse a question, and embed it with the model whose vectors are searched now.

    No policy is read and no transaction held while the model runs.
    """
    language = analysis.detect_language(question)
    terms = analysis.query_terms(question, language)
    index = vectors.live()
    if not index.spec.speaks(language):
        return Query(question, language, terms, None)
    vector = embedding.encode_query(question, language, source=index.source)
    return Query(question, language, terms, tuple(float(x) for x in vector), index.searched)


@dataclass(frozen=True, slots=True)
class Scope:
    """What the asker narrows the search to; empty: everything readable."""

    policy: str = ""  # slug
    department: str = ""
    jurisdiction: str = ""


EVERYWHERE = Scope()


def hybrid(
    reading: Reading, query: Query, *, limit: int, scope: Scope = EVERYWHERE
) -> SearchResult:
    """The best `limit` passages for a question, with what the gate needs to know.

    Scores, ranks and statistics are computed over what this reader may read, and over
    nothing else.
    """
    found = access.candidates(reading, query.vector, query.terms, query.model)
    ranked = min_max_fusion(found.hits)
    best: dict[int, tuple[Hit, float]] = {}
    for hit, score in ranked:
        best.setdefault(hit.section_id, (hit, score))
    passages = _passages(reading, query, best, limit, scope)
    words = list(dict.fromkeys(analysis.content_words(query.text, query.language)))
    return SearchResult(
        passages=passages,
        is_anything_readable=not found.is_empty,
        question_terms=tuple(words),
        unseen_terms=tuple(w for w in words if _is_unseen(w, query, found)),
        corpus_revision=access.corpus_revision(reading),
        language=query.language,
    )


def _is_unseen(word: str, query: Query, found: Candidates) -> bool:
    term = term_of(word).hash
    return term in query.terms and not found.document_frequency.get(term)


def _passages(
    reading: Reading,
    query: Query,
    best: dict[int, tuple[Hit, float]],
    limit: int,
    scope: Scope,
) -> tuple[Passage, ...]:
    wanted = list(best)[:limit] if scope == EVERYWHERE else list(best)
    sections = access.sections_of(reading, wanted)
    allowed = _in_scope(reading, scope)
    made: list[Passage] = []
    for section_id in wanted:
        section = sections.get(section_id)
        if section is None or (allowed is not None and section.policy_slug not in allowed):
            continue
        hit, score = best[section_id]
        made.append(_passage(f"p{len(made) + 1}", section, hit, score, query))
        if len(made) == limit:
            break
    return tuple(made)


def _in_scope(reading: Reading, scope: Scope) -> frozenset[str] | None:
    """The slugs of the readable policies in scope, without regard to case; None: all."""
    if scope == EVERYWHERE:
        return None
    return frozenset(
        policy.slug
        for policy in access.readable_policies(reading)
        if _same(scope.policy, policy.slug)
        and _same(scope.department, policy.department)
        and _same(scope.jurisdiction, policy.jurisdiction)
    )


def _same(wanted: str, held: str) -> bool:
    return not wanted or wanted.casefold() == held.casefold()


def _passage(id_: str, section: ReadableSection, hit: Hit, score: float, query: Query) -> Passage:
    text, parts, is_hosted = joined(_window(section.chunks, hit.chunk_id))
    return Passage(
        id=id_,
        text=text,
        document=section.policy_title,
        policy=section.policy_slug,
        version=section.version_number,
        effective_from=section.effective_from,
        effective_to=section.effective_to,
        section_id=section.number or section.title,
        section_title=section.title,
        section_path=section.path,
        section_public_id=str(section.public_id),
        language=section.language,
        score=score,
        cosine=hit.cosine,
        bm25=hit.bm25,
        dense_rank=hit.dense_rank,
        lexical_rank=hit.lexical_rank,
        matched_terms=tuple(query.terms[term] for term in hit.matched if term in query.terms),
        parts=parts,
        owner=section.contact,
        hosted_model_allowed=is_hosted,
    )


def _window(chunks: Sequence[ReadableChunk], best_id: int) -> list[ReadableChunk]:
    """The whole section, or the best chunk with the neighbours that fit, in order."""
    if sum(len(chunk.text) for chunk in chunks) <= MAX_PASSAGE_CHARACTERS:
        return list(chunks)
    at = next((i for i, chunk in enumerate(chunks) if chunk.id == best_id), 0)
    first = last = at
    size = len(chunks[at].text)
    while True:
        # the text after a clause (its exceptions) is worth more than the text before it
        after = chunks[last + 1] if last + 1 < len(chunks) else None
        before = chunks[first - 1] if first > 0 else None
        if after is not None and size + len(after.text) <= MAX_PASSAGE_CHARACTERS:
            last, size = last + 1, size + len(after.text)
        elif before is not None and size + len(before.text) <= MAX_PASSAGE_CHARACTERS:
            first, size = first - 1, size + len(before.text)
        else:
            return list(chunks[first : last + 1])


def joined(chunks: Sequence[ReadableChunk]) -> tuple[str, tuple[PassagePart, ...], bool]:
    """The passage's text, its parts, and whether all of it may go to a hosted model."""
    text, parts = "", []
    end = 0
    for chunk in chunks:
        if text:
            text += Passage.GAP if chunk.is_after_gap else _separator(text, chunk, end)
        parts.append(
            PassagePart(
                chunk_id=str(chunk.public_id),
                start=len(text),
                end=len(text) + len(chunk.text),
                chunk_start=chunk.start,
                page=chunk.page,
                kind=chunk.kind,
                pages=chunk.pages,
            )
        )
        text += chunk.text
        end = chunk.start + len(chunk.text)
    return text, tuple(parts), all(chunk.is_hosted for chunk in chunks)


def _separator(text: str, chunk: ReadableChunk, end: int) -> str:
    """What stood between two neighbouring chunks: blank characters only, never a word."""
    gap = chunk.start - end
    if gap <= 0 or text.endswith("\n"):
        return ""
    return " " if gap == 1 else "\n"


def marked_for_review(result: SearchResult, reading: Reading) -> SearchResult:
    """Mark the passages of policies of which a passage awaits review; after the reading."""
    slugs = {passage.policy for passage in result.passages}
    waiting = access.policies_awaiting_review(reading, slugs) if slugs else frozenset()
    if not waiting:
        return result
    return replace(
        result,
        passages=tuple(
            replace(passage, has_pending_review=passage.policy in waiting)
            for passage in result.passages
        ),
    )
