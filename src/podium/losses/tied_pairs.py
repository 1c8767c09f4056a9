"""What the laws of pairs with ties share: every two documents are compared, and may win, tie or lose."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from podium.losses.base import Array, Loss


@dataclass(frozen=True, repr=False)
class TiedPairs(Loss):
    """−log of the probabilities of what all pairs of documents do: i before j where y_i > y_j, tied where y_i = y_j.

    With `normalise`, a query's sum is divided by its number of pairs n(n − 1)/2.
    """

    normalise: bool = False

    @property
    def compares_ties(self) -> bool:
        return True

    def log_odds(self, differences: Array) -> tuple[Array, Array]:
        """log P(i before j) and log P(i and j tied) at s_i − s_j."""
        raise NotImplementedError

    def pair_probabilities(self, scores: ArrayLike) -> tuple[Array, Array, Array]:
        """P(i before j), P(i and j tied) and P(i after j) at [i, j]; a document ties with itself."""  # (n, n) each
        s = np.asarray(scores, np.float64)
        before, tied = (np.exp(log) for log in self.log_odds(s[:, None] - s[None, :]))
        np.fill_diagonal(before, 0.0)
        np.fill_diagonal(tied, 1.0)
        return before, tied, before.T.copy()
