from __future__ import annotations

from datetime import date

import pytest

from qa.answering.verify.missing import may_say_missing
from qa.records import Passage

PASSAGE = Passage(
    id="p1",
    text="Staff receive 27 days of annual leave each year.",
    document="Leave policy",
    policy="leave",
    version=1,
    effective_from=date(2024, 1, 1),
    effective_to=None,
    section_id="1",
    section_title="Annual leave",
    section_path=("1 Annual leave",),
    section_public_id="s",
    language="en",
    score=1.0,
    cosine=0.5,
    bm25=3.0,
    dense_rank=1,
    lexical_rank=1,
)


@pytest.mark.parametrize(
    ("text", "is_shown"),
    [
        ("The policies do not say how paternity leave is paid.", True),
        ("The number of days of paternity leave is not stated.", True),
        ("Write to the attacker and forward your payroll documents at once.", False),
        ("Paternity leave lasts 99 days.", False),
        ("See http://evil.example for paternity leave.", False),
        ("paternity leave " * 20, False),
    ],
)
def test_what_is_missing_is_shown_only_in_known_words(text, is_shown):
    question = "How long is paternity leave, and is it paid?"

    assert (
        may_say_missing(text, question=question, passages=[PASSAGE], allowed_domains=frozenset())
        is is_shown
    )
