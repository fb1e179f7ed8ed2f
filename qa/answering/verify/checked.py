"""Run the checks on each claim, in order, and let through only what passes them all.

citation -> quote -> numbers -> modality -> support -> output policy. Nothing of a draft is
shown before `Checked.accept` has returned it as a `VerifiedClaim`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from qa.answering.clauses import is_cjk
from qa.answering.verify.citation import check_citation
from qa.answering.verify.modality import check_modality
from qa.answering.verify.numbers import check_numbers, matched_quantities
from qa.answering.verify.output_policy import check_output_policy, plain_text
from qa.answering.verify.quote import check_quotes, find_quote
from qa.answering.verify.source import Source, topic_words
from qa.answering.verify.support import (
    Similarity,
    check_support,
    takes_whole_clauses,
    verbatim_spans,
)
from qa.records import (
    DraftClaim,
    Passage,
    RejectedClaim,
    Verdict,
    VerifiedCitation,
    VerifiedClaim,
)

MAX_CLAIM_CHARACTERS: Final = 2_000


class Checked:
    """The checks of one question over the passages that were supplied for it.

    Args:
        passages: what was supplied, with ids unique within this question.
        allowed_domains: hosts that may be named without standing in a passage, exact.
        similarity: cosine of a sentence with each of some texts, where a model of the
            language is at hand; without it support is judged by words alone.
        question: what was asked; a claim may name its subject in the question's words.
        requires_quotes: False for answers whose citations have no quotes (`verify` command);
            claims are then checked against the whole cited passages.
    """

    def __init__(
        self,
        passages: Sequence[Passage],
        *,
        allowed_domains: frozenset[str] = frozenset(),
        similarity: Similarity | None = None,
        question: str = "",
        requires_quotes: bool = True,
    ) -> None:
        self._sources = {passage.id: Source(passage) for passage in passages}
        self._allowed_domains = allowed_domains
        self._similarity = similarity
        self._question = question
        self._requires_quotes = requires_quotes

    def accept(self, draft: DraftClaim) -> VerifiedClaim | RejectedClaim:
        """Check one claim; what comes back says why, check by check."""
        text = plain_text(draft.text[:MAX_CLAIM_CHARACTERS])
        verdicts = [check_citation(draft.citations, self._sources.keys())]
        if not verdicts[0].passed:
            return RejectedClaim(text, (*verdicts, self._output_policy(draft.text, ())))
        citations, quote_verdict = self._quotes(draft)
        verdicts.append(quote_verdict)
        citations = [c for c in citations if self._bears_on(text, c)]
        if not quote_verdict.passed or not citations:
            return self._without_citation(draft, verdicts)
        sources = self._cited(citations)
        verdicts += self._content(text, sources, citations)
        verdicts.append(self._output_policy(draft.text, sources))
        if not all(verdict.passed for verdict in verdicts):
            return RejectedClaim(text, tuple(verdicts))
        support = min(v.score for v in verdicts if v.score is not None)
        return VerifiedClaim(text, tuple(citations), tuple(verdicts), support)

    def _quotes(self, draft: DraftClaim) -> tuple[list[VerifiedCitation], Verdict]:
        if not self._requires_quotes:
            return [self._whole(c.passage) for c in draft.citations], Verdict(
                "quote", passed=True, reason="No quote was asked for."
            )
        found, reasons = [], []
        for citation in draft.citations:
            verified, reason = find_quote(self._sources[citation.passage], citation.quote)
            if verified is None:
                reasons.append(reason)
            elif verified not in found:
                found.append(verified)
        return found, check_quotes(len(found), reasons)

    def _whole(self, passage_id: str) -> VerifiedCitation:
        passage = self._sources[passage_id].passage
        return VerifiedCitation(passage, passage.text, 0, len(passage.text))

    def _bears_on(self, text: str, citation: VerifiedCitation) -> bool:
        """Whether a citation has to do with the claim at all; one that has not is dropped."""
        source = self._sources[citation.passage.id]
        words = topic_words(text, source.language)
        quoted = set(topic_words(citation.quote, source.language))
        return (
            source.is_cjk != is_cjk(text)
            or not words
            or bool(quoted & set(words))
            or bool(source.words & set(words) and not self._requires_quotes)
            or matched_quantities(text, [source]) > 0
            or not quoted
        )

    def _cited(self, citations: Iterable[VerifiedCitation]) -> list[Source]:
        ids = dict.fromkeys(citation.passage.id for citation in citations)
        return [self._sources[passage_id] for passage_id in ids]

    def _content(
        self, text: str, sources: Sequence[Source], citations: Sequence[VerifiedCitation]
    ) -> list[Verdict]:
        spans = citations if self._requires_quotes else ()
        found = verbatim_spans(text, sources, spans)
        if found is not None and takes_whole_clauses(found):
            reason = "The sentence is the passage's own."
            numbers, modality = (
                Verdict(check, passed=True, reason=reason) for check in ("numbers", "modality")
            )
        else:
            numbers = check_numbers(text, sources)
            modality = check_modality(text, sources, spans)
        support = check_support(
            text, sources, citations, similarity=self._similarity, question=self._question,
            is_quoted=self._requires_quotes,
        )  # fmt: skip
        return [numbers, modality, support]

    def _output_policy(self, text: str, sources: Sequence[Source]) -> Verdict:
        return check_output_policy(text, sources, self._allowed_domains)

    def _without_citation(self, draft: DraftClaim, verdicts: list[Verdict]) -> RejectedClaim:
        if verdicts[-1].passed:
            reason = "No citation has anything to do with the sentence."
            code = check_citation((), ()).code
            verdicts.append(Verdict("citation", passed=False, code=code, reason=reason))
        policy = self._output_policy(draft.text, ())
        return RejectedClaim(plain_text(draft.text), (*verdicts, policy))


def verify_claims(
    drafts: Iterable[DraftClaim],
    passages: Sequence[Passage],
    *,
    allowed_domains: frozenset[str] = frozenset(),
    similarity: Similarity | None = None,
    question: str = "",
) -> list[VerifiedClaim | RejectedClaim]:
    """Check several claims against the same passages, in order."""
    checked = Checked(
        passages, allowed_domains=allowed_domains, similarity=similarity, question=question
    )
    return [checked.accept(draft) for draft in drafts]
