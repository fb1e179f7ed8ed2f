from __future__ import annotations

import math
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.ranking import ndcg_at_k, recall_at_k, reciprocal_rank

RANKING = [set(), {"a"}, set(), {"b"}, {"a"}]
rankings = st.lists(st.sets(st.sampled_from("abcdef"), max_size=2), max_size=15)
relevants = st.sets(st.sampled_from("abcdef"), min_size=1)
depths = st.integers(1, 20)


def test_recall_counts_the_places_met_within_k() -> None:
    assert recall_at_k(RANKING, {"a", "b", "c"}, k=2) == pytest.approx(1 / 3)
    assert recall_at_k(RANKING, {"a", "b", "c"}, k=5) == pytest.approx(2 / 3)


def test_reciprocal_rank_looks_at_the_first_place_met_and_no_deeper_than_k() -> None:
    assert reciprocal_rank(RANKING, {"a"}) == 1 / 2
    assert reciprocal_rank(RANKING, {"b"}) == 1 / 4
    assert reciprocal_rank(RANKING, {"b"}, k=3) == 0
    assert reciprocal_rank([], {"b"}) == 0


def test_ndcg_worked_by_hand() -> None:
    # a at rank 2, b at rank 4: (1/log2(3) + 1/log2(5)) / (1 + 1/log2(3))
    gain = 1 / math.log2(3) + 1 / math.log2(5)
    assert ndcg_at_k(RANKING, {"a", "b"}) == pytest.approx(gain / (1 + 1 / math.log2(3)))
    assert ndcg_at_k([{"a"}, {"b"}], {"a", "b"}) == 1
    assert ndcg_at_k([{"a"}, {"a"}], {"a"}) == 1  # met again, it gains nothing


def test_two_places_in_one_section_do_not_take_ndcg_above_one() -> None:
    assert ndcg_at_k([{"a", "b"}], {"a", "b"}) == 1


@pytest.mark.parametrize("metric", [recall_at_k, reciprocal_rank, ndcg_at_k])
def test_nothing_relevant_or_no_depth_is_an_error(metric: Any) -> None:
    with pytest.raises(ValueError, match="expected places"):
        metric(RANKING, set(), k=5)
    with pytest.raises(ValueError, match="at least 1"):
        metric(RANKING, {"a"}, k=0)


def _dcg(gains: list[int]) -> float:
    return sum(gain / math.log2(i + 2) for i, gain in enumerate(gains))


@given(st.permutations(list("abcdefghij")), relevants, depths)
def test_ndcg_agrees_with_the_textbook_on_a_ranking_of_documents(
    order: list[str], relevant: set[str], k: int
) -> None:
    gains = [int(document in relevant) for document in order]
    reference = _dcg(gains[:k]) / _dcg(sorted(gains, reverse=True)[:k])
    assert ndcg_at_k([{d} for d in order], relevant, k=k) == pytest.approx(reference)


@given(rankings, relevants, depths)
def test_metrics_lie_within_0_and_1_and_leave_their_input_alone(
    ranking: list[set[str]], relevant: set[str], k: int
) -> None:
    before = deepcopy((ranking, relevant))
    for metric in (recall_at_k, reciprocal_rank, ndcg_at_k):
        assert 0 <= metric(ranking, relevant, k=k) <= 1
    assert (ranking, relevant) == before


@given(rankings, relevants, depths)
def test_looking_deeper_never_lowers_recall(
    ranking: list[set[str]], relevant: set[str], k: int
) -> None:
    assert recall_at_k(ranking, relevant, k=k) <= recall_at_k(ranking, relevant, k=k + 1)
    found = recall_at_k(ranking, relevant, k=k) > 0
    assert found == (reciprocal_rank(ranking, relevant, k=k) > 0)
