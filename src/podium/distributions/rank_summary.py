"""Summary of the rank of a document: the probability of rank 1, the expected rank, and an interval.

>>> import numpy as np
>>> summary = of_marginals(np.array([[0.5, 0.4, 0.1], [0.4, 0.3, 0.3], [0.1, 0.3, 0.6]]), 0.6)
>>> summary.expected.round(2).tolist(), summary.low.tolist(), summary.high.tolist()
([1.6, 1.9, 2.5], [1, 1, 2], [2, 3, 3])
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.errors import ParameterError


@dataclass(frozen=True, eq=False)
class RankSummary:
    """Summary of the rank of each document, 1 the top."""

    first: Array  # (n,) P(rank 1)
    expected: Array  # (n,)
    low: Ints  # (n,) the rank is below this with probability at most (1 − level)/2
    high: Ints  # (n,) and above this


def of_marginals(marginals: Array, level: float) -> RankSummary:
    """Summary from P(document i has rank r + 1) at [i, r]."""
    outside = tails(level)
    below = np.cumsum(marginals, axis=1)
    low, high = (np.minimum((below < share - _ROUNDING).sum(axis=1) + 1, len(below)) for share in outside)
    return RankSummary(marginals[:, :1].sum(axis=1), marginals @ np.arange(1, len(below) + 1), low, high)


def of_draws(ranks: Ints, level: float) -> RankSummary:
    """Summary from sampled rankings, one per row."""  # (draws, n)
    low, high = np.quantile(ranks, tails(level), axis=0, method="inverted_cdf").astype(np.int64)
    return RankSummary((ranks == 1).mean(axis=0), ranks.mean(axis=0), low, high)


def tails(level: float) -> tuple[float, float]:
    """Probabilities up to the two ends of a central interval."""
    if not 0 < level < 1:
        raise ParameterError(f"The level of an interval is between 0 and 1; got {level}.")
    return (1 - level) / 2, (1 + level) / 2


_ROUNDING = 1e-9
