from __future__ import annotations

from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.summary import (
    SHARES,
    combined_revision,
    figures,
    judge_gates,
    metric_names,
)
from evaluation.records import Figure

share = st.none() | st.floats(0, 1)


def row(**changed: float | None) -> dict[str, float | None]:
    base: dict[str, float | None] = dict.fromkeys(SHARES)
    return base | {"leaks": 0, "latency_ms": 100, "cost_usd": 0, "is_answered": 1} | changed


def by_name(scores: list[dict[str, float | None]], **options: bool) -> dict[str, Figure]:
    return {figure.name: figure for figure in figures(scores, **options)}


def test_a_figure_is_the_mean_over_the_questions_it_applies_to() -> None:
    found = by_name([row(mrr=1), row(mrr=0.5), row()])
    assert (found["mrr"].value, found["mrr"].questions) == (0.75, 2)
    assert found["refusal_accuracy"] == Figure("refusal_accuracy", None, None, None, 0)


def test_leaks_are_counted_and_costs_shared_by_the_answered() -> None:
    costs = [row(leaks=1, cost_usd=0.3), row(leaks=1, cost_usd=0.1, is_answered=0)]
    found = by_name(costs)
    assert found["leaks"].value == 2
    assert found["cost_per_answer_usd"].value == pytest.approx(0.4)
    assert found["latency_p95_ms"].value == 100
    assert by_name([row(is_answered=0)])["cost_per_answer_usd"].value is None


def test_every_metric_has_a_figure_in_order_also_without_questions() -> None:
    assert tuple(f.name for f in figures([])) == metric_names()
    assert all(figure.value is None for figure in figures([]))
    deep = [row() | {"recall@8": 1.0}]
    assert tuple(f.name for f in figures(deep)) == metric_names(8)


def test_gates_hold_rates_and_leaks_from_above_and_the_rest_from_below() -> None:
    measured = figures([row(mrr=0.85, false_refusal_rate=0.1)])
    limits = {"mrr": 0.85, "false_refusal_rate": 0.1, "leaks": 0, "latency_p95_ms": 99}
    met = {gate.name: gate.is_met for gate in judge_gates(limits, measured)}
    assert met == {"mrr": True, "false_refusal_rate": True, "leaks": True, "latency_p95_ms": False}
    assert not judge_gates({"mrr": 0.86}, measured)[0].is_met
    assert not judge_gates({"false_refusal_rate": 0.05}, measured)[0].is_met


def test_a_figure_that_could_not_be_taken_meets_no_gate() -> None:
    assert not judge_gates({"refusal_accuracy": 0.0}, figures([row()]))[0].is_met
    assert not judge_gates({"leaks": 0.0}, figures([]))[0].is_met


@given(st.lists(st.fixed_dictionaries(dict.fromkeys(SHARES, share)), max_size=8))
def test_figures_lie_within_0_and_1_and_leave_the_scores_alone(scores: list[dict]) -> None:  # type: ignore[type-arg]  # drawn
    scores = [row(**drawn) for drawn in scores]
    before = deepcopy(scores)
    for figure in figures(scores, with_intervals=False):
        if figure.name in SHARES and figure.value is not None:
            assert 0 <= figure.value <= 1
    assert scores == before


def test_revisions_combine_without_regard_to_order_or_repetition() -> None:
    assert combined_revision(["a", "", "a"]) == "a"
    assert combined_revision([]) == ""
    assert combined_revision(["a", "b"]) == combined_revision(["b", "a", "b"]) != "a"
