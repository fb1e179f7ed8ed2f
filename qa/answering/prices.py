"""What a model call costs: one dated table of prices, in US dollars per million tokens.

`qa.claude` prices every try with it, failed ones included, so that budgets never count too
little. To change a price, add a row with its day; rows are never edited, so that the cost of
an old answer can be worked out again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

_MILLION = Decimal(1_000_000)
_SNAPSHOT = re.compile(r"-\d{8}$")  # `claude-haiku-4-5-20251001` costs what the alias costs


@dataclass(frozen=True, slots=True)
class Price:
    """Prices of one model from `since` on, for prompts up to `up_to_tokens`.

    `cache_write` and `cache_read` are the prices of input tokens that are written to the
    prompt cache (for five minutes) or read from it. `up_to_tokens` is None where the price
    does not depend on the length of the prompt.
    """

    model: str
    since: date
    input: Decimal
    output: Decimal
    cache_write: Decimal
    cache_read: Decimal
    up_to_tokens: int | None = None


def _price(
    model: str, since: date, usd: tuple[str, str, str, str], up_to_tokens: int | None = None
) -> Price:
    into, out, write, read = map(Decimal, usd)
    return Price(model, since, into, out, write, read, up_to_tokens)


# Source: the provider's model pages "Claude Opus 5.5" and "Claude Haiku 5.5", as of 2026-10-24.
# A cache read of Opus 5.5 costs 5 % of an input token, not the 10 % that is usual elsewhere.
# (input, output, cache write, cache read)
_DAY = date(2026, 10, 24)
PRICES: tuple[Price, ...] = (
    _price("claude-opus-5-5", _DAY, ("4", "20", "5", "0.20")),
    _price("claude-haiku-5-5", _DAY, ("0.10", "0.50", "0.125", "0.01"), up_to_tokens=100_000),
    _price("claude-haiku-5-5", _DAY, ("0.50", "2.50", "0.625", "0.05")),
)


def price_of(model: str, *, prompt_tokens: int = 0, on: date | None = None) -> Price:
    """The price of a call to `model` with a prompt of that length.

    A model that is not in the table gets the dearest price in it: a budget then counts too
    much, never too little.

    Args:
        model: model id, with or without the date of its snapshot.
        prompt_tokens: all input tokens, cached ones included.
        on: the day of the call; None takes the newest row.
    """
    name = _SNAPSHOT.sub("", model)
    rows = [row for row in PRICES if row.model == name and (on is None or row.since <= on)]
    fitting = [row for row in rows if row.up_to_tokens is None or prompt_tokens <= row.up_to_tokens]
    if not fitting:
        return max(PRICES, key=lambda row: (row.output, row.input))
    newest = max(row.since for row in fitting)
    return min((row for row in fitting if row.since == newest), key=lambda row: row.input)


def cost_usd(
    model: str,
    *,
    input_tokens: int,
    output_tokens: int,
    cache_write_tokens: int = 0,
    cache_read_tokens: int = 0,
    on: date | None = None,
) -> Decimal:
    """The price of one call in US dollars, exact.

    Args:
        model: model id.
        input_tokens: input tokens that were neither written to the cache nor read from it.
        output_tokens: output tokens, thinking included.
        cache_write_tokens: input tokens written to the prompt cache.
        cache_read_tokens: input tokens read from the prompt cache.
        on: the day of the call; None takes the newest prices.
    """
    prompt_tokens = input_tokens + cache_write_tokens + cache_read_tokens
    price = price_of(model, prompt_tokens=prompt_tokens, on=on)
    total = (
        input_tokens * price.input
        + output_tokens * price.output
        + cache_write_tokens * price.cache_write
        + cache_read_tokens * price.cache_read
    )
    return total / _MILLION
