from __future__ import annotations

import pytest

from evaluation.metrics.matching import expected_places, is_met, places_met, section_names
from evaluation.records import Expected, FoundSection

CARRY = FoundSection("leave", "Leave Policy", "4.2", "4.2 Carry-over", "Up to five\ndays move on.")
CLAUSE = FoundSection("leave", "Leave Policy", "4.3", "4.3", "Data is kept for two years.")
UNNUMBERED = FoundSection("leave", "Leave Policy", "Sick leave", "Sick leave", "Call by 09:30.")


@pytest.mark.parametrize(
    ("section", "found"),
    [
        ("4.2", CARRY),
        ("4.2.", CARRY),
        ("carry-over", CARRY),
        ("CARRY–OVER", CARRY),
        ("4.2 Carry-over", CARRY),
        ("4.3", CLAUSE),
        ("Sick Leave", UNNUMBERED),
    ],
)
def test_a_section_is_met_by_number_or_title(section: str, found: FoundSection) -> None:
    assert is_met(Expected("leave", section), found)
    assert is_met(Expected("LEAVE POLICY", section), found)


@pytest.mark.parametrize("section", ["4", "4.20", "2", "Carry", "Leave Policy", ""])
def test_a_parent_a_longer_number_or_part_of_a_title_is_another_section(section: str) -> None:
    assert not is_met(Expected("leave", section), CARRY)


def test_a_parent_is_not_met_by_its_clause_nor_a_clause_by_its_parent() -> None:
    parent = FoundSection("leave", "Leave Policy", "4", "4 Leave", "")
    assert is_met(Expected("leave", "4"), parent)
    assert not is_met(Expected("leave", "4"), CLAUSE)
    assert not is_met(Expected("leave", "4.3"), parent)


def test_another_policy_with_the_same_section_is_not_met() -> None:
    assert not is_met(Expected("travel", "4.2", "Up to five days move on."), CARRY)


def test_a_quote_in_the_text_counts_across_line_breaks_but_not_in_other_case() -> None:
    assert is_met(Expected("leave", "9", "five days move"), CARRY)
    assert not is_met(Expected("leave", "9", "Five days move"), CARRY)


def test_quotes_of_one_section_are_one_place_and_sectionless_quotes_each_their_own() -> None:
    expected = [
        Expected("leave", "4.2", "a"),
        Expected("Leave", "4.2.", "b"),
        Expected("leave", "", "first words"),
        Expected("leave", "", "other words"),
    ]
    places = expected_places(expected)
    assert [len(place) for place in places] == [2, 1, 1]
    assert places_met(places, CARRY) == {0}


def test_names_of_an_untitled_clause_are_its_number_alone() -> None:
    assert section_names(CLAUSE) == {"4.3"}
    assert section_names(CARRY) == {"4.2", "4.2 carry-over", "carry-over"}
