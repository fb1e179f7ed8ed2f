"""The day that a text names for itself is found where it says so, and nowhere else."""

from __future__ import annotations

from datetime import date

import pytest

from documents.ingestion.effective import effective_date_in


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("These rules take effect on 15 April 2025.", date(2025, 4, 15)),
        ("Effective Date: January 1st, 2025\n\n1.1 All staff", date(2025, 1, 1)),
        (
            "This policy is effective from 2025-07-01 and replaces the one of 2019.",
            date(2025, 7, 1),
        ),
        ("It comes into force on 3rd of March 2026.", date(2026, 3, 3)),
        ("本辦法自中華民國114年4月15日施行。", date(2025, 4, 15)),
        ("本規則自2025年4月15日起生效。", date(2025, 4, 15)),
        ("Signed on 15 April 2025 in Geneva.", None),
        (
            "The Act that took effect on 1 May 2018 and this, which takes effect on 2 May 2019.",
            None,
        ),
        ("These rules take effect on 31 February 2025.", None),
        ("noise-rules-2023-final", None),
        ("", None),
    ],
)
def test_the_day_in_the_text(text, day):
    assert effective_date_in(text) == day


def test_a_sentence_in_the_middle_is_about_something_else():
    filler = "Work is quiet. " * 400

    assert effective_date_in(f"{filler}It takes effect on 1 May 2025. {filler}") is None
    assert effective_date_in(f"{filler}{filler}It takes effect on 1 May 2025.") == date(2025, 5, 1)
