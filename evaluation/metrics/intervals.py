"""Bootstrap intervals: how far a figure could move with other questions of the same kind.

Percentile bootstrap over questions with a fixed seed, so that the same scores always give the
same interval. It cannot see what never happened: of 28 questions all right it says [1, 1],
while the rule of three (3 / 28) allows a failure rate up to about 0.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

SEED: Final = 20_260_101
RESAMPLES: Final = 1_000
_BLOCK_NUMBERS: Final = 1_000_000  # held at once while resampling: 8 MB
Array = NDArray[np.float64]
# From (…, n, columns) to (…): one value for each sample of n questions.
Statistic = Callable[[Array], NDArray[Any]]


def mean(rows: Array) -> NDArray[Any]:
    """The mean of the first column."""
    return np.asarray(rows[..., 0].mean(axis=-1))


def percentile(share: float) -> Statistic:
    """The statistic `share` percentile of the first column, such as 95."""
    return lambda rows: np.asarray(np.percentile(rows[..., 0], share, axis=-1))


def ratio(rows: Array) -> NDArray[Any]:
    """The sum of the first column over that of the second; infinite over nothing."""
    above, below = rows[..., 0].sum(axis=-1), rows[..., 1].sum(axis=-1)
    return np.where(below > 0, above / np.where(below > 0, below, 1), np.inf)


def bootstrap_interval(
    rows: Sequence[Sequence[float]],
    statistic: Statistic = mean,
    *,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> tuple[float, float] | None:
    """The percentile interval of a statistic over resampled questions.

    Args:
        rows: one row of numbers per question, all of one length.
        statistic: from an array float64 (…, n, columns) to one (…).
        level: how much of the bootstrap distribution lies inside, 0 to 1.
        resamples: how often to draw n questions with replacement.
        seed: of the generator; the same seed and rows give the same interval.

    Returns:
        (low, high), or None when there is no row or no resample has a finite value.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13.
    """
    if not rows:
        return None
    table: Array = np.asarray(rows, dtype=np.float64)
    drawn = np.concatenate([statistic(block) for block in _resampled(table, resamples, seed)])
    values = drawn[np.isfinite(drawn)]
    if not len(values):
        return None
    edge = (1 - level) / 2 * 100
    low, high = np.percentile(values, [edge, 100 - edge])
    return float(low), float(high)


def _resampled(table: Array, resamples: int, seed: int) -> Iterator[Array]:
    generator = np.random.default_rng(seed)
    at_once = max(1, _BLOCK_NUMBERS // table.size)
    for begin in range(0, resamples, at_once):
        shape = (min(at_once, resamples - begin), len(table))
        yield table[generator.integers(0, len(table), shape)]
