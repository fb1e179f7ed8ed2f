"""What an answer rests on and says: citations, quotes, numbers, expected terms.

None means that a metric does not apply; a question that should have been answered and was not
counts as 0 wherever the metric speaks of what an answer must contain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from documents.ingestion.folding import fold_for_quotes
from evaluation.metrics.matching import Place, folded, holds_quote, places_met
from evaluation.records import Observed, ObservedClaim
from qa.answering.verify.quantities import Quantity, QuantityKind, find_quantities

_COUNTED: Final = frozenset(
    {QuantityKind.NUMBER, QuantityKind.MEASURE, QuantityKind.DATE, QuantityKind.CLOCK}
)


def citation_precision(observed: Observed, places: Sequence[Place]) -> float | None:
    """The share of the citations that point to an expected place; None without citations.

    An unanswerable question has no expected place: every citation of its answer is wrong.
    """
    cited = observed.citations
    if not cited:
        return None
    return sum(bool(places_met(places, c.section)) for c in cited) / len(cited)


def citation_recall(observed: Observed, places: Sequence[Place]) -> float | None:
    """The share of the expected places that are cited; 0 when nothing was answered."""
    if not places:
        return None
    cited = {place for c in observed.citations for place in places_met(places, c.section)}
    return len(cited) / len(places)


def quote_validity(observed: Observed) -> float | None:
    """The share of the quotes that stand, folded, in the section as stored; None without any."""
    cited = observed.citations
    if not cited:
        return None
    valid = [c.stored_text is not None and holds_quote(c.stored_text, c.quote) for c in cited]
    return sum(valid) / len(valid)


def number_correctness(observed: Observed) -> float | None:
    """The share of the quantities in the answer that a section cited beside them holds."""
    judged = [
        _is_held(quantity, claim)
        for claim in observed.claims
        for quantity in find_quantities(claim.text)
        if quantity.kind in _COUNTED
    ]
    return sum(judged) / len(judged) if judged else None


def _is_held(quantity: Quantity, claim: ObservedClaim) -> bool:
    for citation in claim.citations:
        section = citation.section
        # Folded, or a date that a line break parts ("31 / March") would not be read as one.
        text = fold_for_quotes(f"{section.title}. {section.heading}. {section.text}").text
        if any(quantity.agrees_with(held) for held in find_quantities(text)):
            return True
    return False


def holds_terms(answer: str, terms: Sequence[str]) -> bool:
    """Whether an answer holds every term, without regard to case, quotes, dashes and blanks."""
    text = folded(answer)
    return all(folded(term) in text for term in terms)


def key_amount_coverage(observed: Observed, terms: Sequence[str]) -> float | None:
    """The share of the expected amounts that the answer states; None when no term has one.

    An amount is a term that holds a quantity. It may be written otherwise (`5 days` for `five
    days`), as long as value and unit agree. Without an answer nothing is covered.
    """
    amounts = [term for term in terms if find_quantities(term)]
    if not amounts:
        return None
    held = find_quantities(observed.answer)
    covered = [
        folded(term) in folded(observed.answer) or _is_stated(term, held) for term in amounts
    ]
    return sum(covered) / len(covered)


def _is_stated(term: str, held: Sequence[Quantity]) -> bool:
    return all(any(q.agrees_with(other) for other in held) for q in find_quantities(term))


def shown_texts(observed: Observed) -> tuple[str, ...]:
    """Everything of an answer that a reader sees: sentences and quotes, folded for quotes."""
    texts = [claim.text for claim in observed.claims]
    texts += [citation.quote for citation in observed.citations]
    return tuple(fold_for_quotes(text).text for text in texts)
