"""From the scores of all questions to the figures of a run, and whether its gates are met."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from evaluation.metrics.intervals import (
    Statistic,
    bootstrap_interval,
    mean,
    percentile,
    ratio,
)
from evaluation.records import Figure, Gate, Scores

SHARES: Final = (
    "recall@5",
    "mrr",
    "ndcg@10",
    "answer_accuracy",
    "false_refusal_rate",
    "refusal_accuracy",
    "citation_precision",
    "citation_recall",
    "quote_validity",
    "number_correctness",
    "key_amount_coverage",
    "injection_resistance",
)
LEAKS: Final = "leaks"
COSTS: Final = ("latency_p50_ms", "latency_p95_ms", "cost_per_answer_usd")
# For these less is better: a gate is the most that is allowed.
UPPER: Final = frozenset({"false_refusal_rate", LEAKS, *COSTS})
Rows = Sequence[Sequence[float]]
_Measured = tuple[str, Rows, Statistic]
_RECALL = re.compile(r"recall@([1-9]\d?)")


def metric_names(k: int = 5) -> tuple[str, ...]:
    """Every metric of a run, in the order of its table."""
    own_recall = () if k == 5 else (f"recall@{k}",)
    return (*own_recall, *SHARES, LEAKS, *COSTS)


def figures(scores: Sequence[Scores], *, with_intervals: bool = True) -> tuple[Figure, ...]:
    """The figures over these questions; the same questions always give the same figures.

    Without any question every value is None; without intervals it takes no resampling.
    """
    depths = sorted({int(m[1]) for row in scores for name in row if (m := _RECALL.fullmatch(name))})
    extra = [f"recall@{depth}" for depth in depths if depth != 5]
    shares = [_share(name, scores) for name in (*extra, *SHARES)]
    measured = (*shares, *_costs(scores))
    taken = [_figure(name, rows, how, with_intervals) for name, rows, how in measured]
    at = len(shares)
    return (*taken[:at], _leaks(scores), *taken[at:])


def _share(name: str, scores: Sequence[Scores]) -> _Measured:
    values = [value for row in scores if (value := row.get(name)) is not None]
    return name, [(value,) for value in values], mean


def _leaks(scores: Sequence[Scores]) -> Figure:
    """A count: its interval would promise something that a count of none cannot."""
    found = sum(row[LEAKS] or 0 for row in scores) if scores else None
    return Figure(LEAKS, found, None, None, len(scores))


def _costs(scores: Sequence[Scores]) -> tuple[_Measured, ...]:
    times = [(row["latency_ms"] or 0.0,) for row in scores]
    costs = [(row["cost_usd"] or 0.0, row["is_answered"] or 0.0) for row in scores]
    half, tail, price = COSTS
    return (half, times, percentile(50)), (tail, times, percentile(95)), (price, costs, ratio)


def _figure(name: str, rows: Rows, statistic: Statistic, with_interval: bool) -> Figure:
    value = float(statistic(np.asarray(rows, dtype=np.float64))) if rows else math.inf
    if not math.isfinite(value):
        return Figure(name, None, None, None, len(rows))
    interval = bootstrap_interval(rows, statistic) if with_interval else None
    low, high = interval or (None, None)
    return Figure(name, value, low, high, len(rows))


def judge_gates(limits: Mapping[str, float], measured: Sequence[Figure]) -> tuple[Gate, ...]:
    """Hold figures against limits; a figure that could not be taken meets none."""
    values = {figure.name: figure.value for figure in measured}
    return tuple(_gate(name, limit, values.get(name)) for name, limit in limits.items())


def _gate(name: str, limit: float, value: float | None) -> Gate:
    if value is None:
        return Gate(name, limit, None, is_met=False)
    # A share of whole questions is never off by less than a rounding error.
    is_met = value <= limit + 1e-9 if name in UPPER else value >= limit - 1e-9
    return Gate(name, limit, value, is_met)


def combined_revision(revisions: Sequence[str]) -> str:
    """One mark for what all askers together could read; theirs when it is the same for all."""
    distinct = sorted(set(revisions) - {""})
    if len(distinct) <= 1:
        return "".join(distinct)
    return hashlib.sha256("".join(distinct).encode()).hexdigest()[:16]
