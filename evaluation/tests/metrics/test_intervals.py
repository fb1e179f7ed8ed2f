from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics import intervals
from evaluation.metrics.intervals import bootstrap_interval, percentile, ratio

values = st.lists(st.floats(0, 1), min_size=1, max_size=40)


def rows(numbers: list[float]) -> list[tuple[float]]:
    return [(number,) for number in numbers]


def test_the_same_scores_always_give_the_same_interval() -> None:
    scores = rows([0, 1, 1, 1, 0.5])
    assert bootstrap_interval(scores) == bootstrap_interval(scores)
    assert bootstrap_interval(scores) != bootstrap_interval(scores, seed=1)


def test_an_interval_of_a_share_is_near_the_normal_one() -> None:
    low, high = bootstrap_interval(rows([1.0] * 80 + [0.0] * 20)) or (0, 0)
    assert low == pytest.approx(0.8 - 1.96 * 0.04, abs=0.02)
    assert high == pytest.approx(0.8 + 1.96 * 0.04, abs=0.02)


def test_nothing_has_no_interval_and_one_value_is_its_own() -> None:
    assert bootstrap_interval([]) is None
    assert bootstrap_interval(rows([0.25])) == (0.25, 0.25)


def test_percentiles_and_ratios_have_intervals_too() -> None:
    low, high = bootstrap_interval(rows([float(n) for n in range(101)]), percentile(50)) or (0, 0)
    assert low < 50 < high
    assert bootstrap_interval([(2.0, 1.0), (2.0, 1.0)], ratio) == (2, 2)
    assert bootstrap_interval([(2.0, 0.0)], ratio) is None


def test_resampling_in_blocks_draws_the_whole_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intervals, "_BLOCK_NUMBERS", 7)
    sizes: list[int] = []

    def counted(block: intervals.Array) -> np.ndarray:
        sizes.append(len(block))
        return intervals.mean(block)

    assert bootstrap_interval(rows([0.0, 1.0]), counted, resamples=10) is not None
    assert sizes == [3, 3, 3, 1]


@given(values)
def test_an_interval_lies_within_the_values_and_leaves_them_alone(numbers: list[float]) -> None:
    before = list(numbers)
    low, high = bootstrap_interval(rows(numbers), resamples=50) or (0, 0)
    assert min(numbers) - 1e-9 <= low <= high <= max(numbers) + 1e-9
    assert numbers == before
