"""Prices by hand: nothing is ever counted too low."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from qa.answering.prices import PRICES, Price, cost_usd, price_of


@pytest.mark.parametrize(
    ("model", "tokens", "expected"),
    [
        ("claude-opus-5-5", {"input_tokens": 900, "output_tokens": 300}, "0.0096"),
        ("claude-haiku-5-5", {"input_tokens": 900, "output_tokens": 300}, "0.00024"),
        ("claude-haiku-5-5", {"input_tokens": 100_000, "output_tokens": 0}, "0.01"),
        ("claude-haiku-5-5", {"input_tokens": 100_001, "output_tokens": 2}, "0.0500055"),
        ("claude-opus-5-5", {"input_tokens": 0, "output_tokens": 0}, "0"),
    ],
)
def test_cost_worked_out_by_hand(model: str, tokens: dict[str, int], expected: str) -> None:
    cost = cost_usd(
        model, input_tokens=tokens["input_tokens"], output_tokens=tokens["output_tokens"]
    )

    assert cost == Decimal(expected)


def test_cached_tokens_have_their_own_prices() -> None:
    cost = cost_usd(
        "claude-opus-5-5",
        input_tokens=0,
        output_tokens=0,
        cache_write_tokens=1_000_000,
        cache_read_tokens=1_000_000,
    )

    assert cost == Decimal("5.20")


def test_cached_tokens_count_as_length_of_the_prompt() -> None:
    short = cost_usd("claude-haiku-5-5", input_tokens=1, output_tokens=1_000_000)
    long = cost_usd(
        "claude-haiku-5-5", input_tokens=1, output_tokens=1_000_000, cache_read_tokens=100_000
    )

    assert short < Decimal("0.51")
    assert long > Decimal("2.50")


def test_snapshot_costs_what_its_alias_costs() -> None:
    assert price_of("claude-opus-5-5-20260915") == price_of("claude-opus-5-5")


def test_unknown_model_costs_as_much_as_the_dearest() -> None:
    assert price_of("claude-next").output == max(price.output for price in PRICES)


def test_a_day_before_every_row_counts_as_unknown() -> None:
    price = price_of("claude-haiku-5-5", on=date(2020, 1, 1))

    assert price.output == max(row.output for row in PRICES)


def test_the_newest_row_of_the_day_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    old = price_of("claude-opus-5-5")
    one = Decimal(1)
    new = Price("claude-opus-5-5", date(2027, 1, 1), one, one, one, one)
    monkeypatch.setattr("qa.answering.prices.PRICES", (old, new))

    assert price_of("claude-opus-5-5", on=date(2026, 12, 31)) == old
    assert price_of("claude-opus-5-5", on=date(2027, 1, 1)) == new
    assert price_of("claude-opus-5-5") == new
