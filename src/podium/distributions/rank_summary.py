"""What is told of a document's rank: the chance to come first, the expected rank, and an interval.

>>> import numpy as np
>>> found = of_marginals(np.array([[0.5, 0.4, 0.1], [0.4, 0.3, 0.3], [0.1, 0.3, 0.6]]), 0.6)
>>> found.expected.round(2).tolist(), found.low.tolist(), found.high.tolist()
([1.6, 1.9, 2.5], [1, 1, 2], [2, 3, 3])
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podium.base.errors import ParameterError


@dataclass(frozen=True, eq=False)
class RankSummary:
    """The rank of each document, 1 the top, in short."""

    first: NDArray[np.float64]  # (n,) P(rank 1)
    expected: NDArray[np.float64]  # (n,)
    low: NDArray[np.int64]  # (n,) the rank is below this with probability (1 − level)/2 at most
    high: NDArray[np.int64]  # (n,) and above this


def of_marginals(marginals: NDArray[np.float64], level: float) -> RankSummary:
    """From P(document i has rank r + 1) at [i, r]."""
    outside = tails(level)
    below = np.cumsum(marginals, axis=1)
    low, high = (np.minimum((below < share - _ROUNDING).sum(axis=1) + 1, len(below)) for share in outside)
    return RankSummary(marginals[:, :1].sum(axis=1), marginals @ np.arange(1, len(below) + 1), low, high)


def of_draws(ranks: NDArray[np.int64], level: float) -> RankSummary:
    """From drawn rankings, one per row."""  # (draws, n)
    low, high = np.quantile(ranks, tails(level), axis=0, method="inverted_cdf").astype(np.int64)
    return RankSummary((ranks == 1).mean(axis=0), ranks.mean(axis=0), low, high)


def tails(level: float) -> tuple[float, float]:
    """The shares of probability up to the ends of a central interval."""
    if not 0 < level < 1:
        raise ParameterError(f"The level of an interval lies between 0 and 1; got {level}.")
    return (1 - level) / 2, (1 + level) / 2


_ROUNDING = 1e-9
