from __future__ import annotations

import pytest

from evaluation.metrics import citations
from evaluation.metrics.matching import expected_places
from evaluation.records import (
    Expected,
    FoundSection,
    Observed,
    ObservedCitation,
    ObservedClaim,
)

TEXT = "Claims must be made within 60 days. Receipts are needed above £15."
RIGHT = FoundSection("expenses", "Expenses", "2", "2 Claims", TEXT)
WRONG = FoundSection("travel", "Travel", "2", "2 Claims", TEXT)
PLACES = expected_places([Expected("expenses", "2"), Expected("expenses", "5")])


def answered(
    text: str, *sections: FoundSection, quote: str = "within 60 days", stored: str | None = TEXT
) -> Observed:
    cited = tuple(ObservedCitation(quote, section, stored) for section in sections)
    return Observed("answered", claims=(ObservedClaim(text, cited),))


REFUSED = Observed("refused", "below_threshold")


def test_precision_counts_citations_and_recall_expected_places() -> None:
    observed = answered("Within 60 days.", RIGHT, WRONG, RIGHT)
    assert citations.citation_precision(observed, PLACES) == pytest.approx(2 / 3)
    assert citations.citation_recall(observed, PLACES) == 1 / 2


def test_an_unanswered_question_has_no_precision_and_counts_as_no_recall() -> None:
    assert citations.citation_precision(REFUSED, PLACES) is None
    assert citations.citation_recall(REFUSED, PLACES) == 0


def test_every_citation_of_an_answer_that_should_not_be_is_wrong() -> None:
    assert citations.citation_precision(answered("x", RIGHT), ()) == 0
    assert citations.citation_recall(answered("x", RIGHT), ()) is None


def test_a_quote_is_valid_when_the_stored_section_holds_it() -> None:
    assert citations.quote_validity(answered("x", RIGHT)) == 1
    assert citations.quote_validity(answered("x", RIGHT, quote="within 61 days")) == 0
    assert citations.quote_validity(answered("x", RIGHT, stored=None)) == 0
    assert citations.quote_validity(REFUSED) is None


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("Claim within 60 days.", 1),
        ("Claim within sixty days, with receipts above £15.", 1),
        ("Claim within 90 days, with receipts above £15.", 0.5),
        ("Claim within 60 hours.", 0),
        ("Claim soon.", None),
    ],
)
def test_numbers_are_correct_when_a_cited_section_holds_them(
    text: str, share: float | None
) -> None:
    assert citations.number_correctness(answered(text, RIGHT)) == share


def test_a_number_is_not_correct_by_a_section_that_another_sentence_cites() -> None:
    one = ObservedClaim("Within 60 days.", ())
    other = ObservedClaim("Above £15.", (ObservedCitation("above £15", RIGHT, TEXT),))
    observed = Observed("answered", claims=(one, other))
    assert citations.number_correctness(observed) == 0.5


def test_terms_are_found_without_regard_to_case_dashes_and_blanks() -> None:
    assert citations.holds_terms("It takes  Sixty–one Days.", ["sixty-one days"])
    assert not citations.holds_terms("It takes 60 days.", ["60 days", "£15"])
    assert citations.holds_terms("", [])


def test_coverage_counts_amounts_however_they_are_written() -> None:
    observed = answered("Within sixty days.", RIGHT)
    assert citations.key_amount_coverage(observed, ["60 days", "£15", "receipts"]) == 0.5
    assert citations.key_amount_coverage(observed, ["60 hours"]) == 0
    assert citations.key_amount_coverage(observed, ["receipts"]) is None
    assert citations.key_amount_coverage(REFUSED, ["60 days"]) == 0
