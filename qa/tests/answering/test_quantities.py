from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa.answering.verify.quantities import QuantityKind, find_quantities


def says(claim: str, source: str) -> bool:
    """Whether every quantity of the claim is in the source."""
    found, own = find_quantities(claim), find_quantities(source)
    return bool(found) and all(any(q.agrees_with(o) for o in own) for q in found)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("1800", "1,800"),
        ("NT$1,800", "新臺幣一千八百元"),
        ("1.2 million", "1,200,000"),
        ("thirty (30) days", "30 days"),
        ("3 years", "three years"),
        ("15 %", "fifteen per cent"),
        ("20%", "百分之二十"),
        ("21 days", "廿一日"),
        ("half a day", "半日"),
        ("6 pm", "18:00"),
        ("下午六時", "18:00"),
        ("4 March 2025", "2025-03-04"),
        ("2025年3月4日", "民國一百十四年三月四日"),
        ("aged 65", "六十五歲"),
        ("€40", "40 euros"),
        ("one month", "within a month"),
        ("seven hours", "more than seven\nhours"),
        ("80 euros", "Limit (EUR): 80"),
        ("two business days", "2 working days"),
        ("clause 12", "第十二條"),
        ("Form X-7", "form x7"),
    ],
)
def test_equal_quantities_agree(claim: str, source: str) -> None:
    assert says(claim, source)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("72 days", "72 hours"),
        ("10 days", "10 working days"),
        ("$75", "£75"),
        ("5", "5%"),
        ("2 percent", "2 percentage points"),
        ("4 euros per month", "4 euros per day"),
        ("3 days", "72 hours"),
        ("3 April 2025", "4 March 2025"),
        ("February 2028", "28 February 2027"),
        ("六千三百元", "三千六百元"),
        ("21 weeks", "二十一日"),
        ("-5", "5"),
        ("12.50", "1250"),
        ("clause 3.4", "clause 3.5"),
        ("Form X-8", "form X-7"),
        ("the third offence", "the second offence"),
    ],
)
def test_different_quantities_do_not_agree(claim: str, source: str) -> None:
    assert not says(claim, source)


def test_numerals_inside_chinese_words_count_nothing() -> None:
    assert find_quantities("一般員工統一辦理，不得有任一例外") == ()


@pytest.mark.parametrize("bound", ["no less than", "not less than", "at least"])
def test_lower_bounds_are_read_before_the_words_inside_them(bound: str) -> None:
    assert [q.bound for q in find_quantities(f"{bound} 10 days")] == ["min"]


@given(st.integers(0, 10**9))
def test_grouping_changes_no_value(number: int) -> None:
    assert says(f"{number:,} days", f"{number} days")


@given(st.text(max_size=80))
def test_any_text_is_read_without_overlaps(text: str) -> None:
    found = find_quantities(text)

    assert all(a.end <= b.start for a, b in pairwise(found))


@pytest.mark.parametrize("text", ["used by 31\nMarch.", "used by 31 March\n2026", "on 5\nMay"])
def test_a_date_that_a_line_break_parts_is_one_date(text: str) -> None:
    assert [q.kind for q in find_quantities(text)] == [QuantityKind.DATE]
