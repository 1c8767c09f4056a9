"""Base of the models of pairs with ties: every two documents are compared, and win, tie or lose.

As a loss, pairs are taken as independent, as in the literature. As a distribution over rankings, the outcomes of all
pairs must be consistent: the probability of a ranking is proportional to the product over its pairs. `tied_orders.py`
sums over all rankings of up to 12 documents, and samples longer ones by a Markov chain.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array, Ints
from podium.base.errors import DataError
from podium.distributions import tied_orders
from podium.distributions.base import RankingDistribution
from podium.jit import sorting as ranking

_CHUNK = 1000  # rankings per call of the chain


class TiedPairs(RankingDistribution):
    """Rankings with ties, P ∝ Π over pairs of the probability of their outcome: i before j, or tied."""

    has_ties: ClassVar[bool] = True
    caution: ClassVar[str | None] = "pairs are learned one by one; all of a query's together are far too sure of it"
    max_exact_n: ClassVar[int] = tied_orders.MOST_FOR_SUBSETS
    max_sampled_n: ClassVar[int] = 1_000

    def log_odds(self, differences: Array) -> tuple[Array, Array]:
        """log P(i before j) and log P(i and j tied) at s_i − s_j, of a pair alone."""
        raise NotImplementedError

    def pair_probabilities(self, scores: ArrayLike) -> tuple[Array, Array, Array]:
        """P(i before j), P(i and j tied), P(i after j) at [i, j], of each pair alone; a document ties with itself."""
        before, tied = (np.exp(log) for log in self._logs(scores))
        np.fill_diagonal(before, 0.0)
        np.fill_diagonal(tied, 1.0)
        return before, tied, before.T.copy()

    def log_prob(self, scores: ArrayLike, ranks: ArrayLike) -> float:
        """Σ log P(outcome) over pairs, minus the log-sum over all rankings; up to 12 documents."""
        s, places = self._checked(scores, ranks)
        if len(s) > self.max_exact_n:
            raise DataError(
                f"{self.name}: the probability of a ranking sums over all rankings, which is done for up to "
                f"{self.max_exact_n} documents; got {len(s)}. Use `sample`, or `pair_probabilities`."
            )
        win, tie = self._logs(s)
        above, level = places[:, None] < places, np.triu(places[:, None] == places, 1)
        return float(win[above].sum() + tie[level].sum() - tied_orders.log_sums(*tied_orders.tables(win, tie))[-1])

    def sample(self, scores: ArrayLike, rng: np.random.Generator, size: int = 1) -> Ints:
        """Sample rankings, one per row; for more than 12 documents, successive states of a Markov chain."""
        win, tie = self._logs(scores)
        n = len(win)
        if n <= self.max_exact_n:
            places = np.zeros((size, n), np.int64)
            beats, ties = tied_orders.tables(win, tie)
            tied_orders.draw(beats, ties, tied_orders.log_sums(beats, ties), rng.random((size, n)), places)
            return places
        state, drawn = self.mode(scores) - 1, []
        for done in range(0, size + tied_orders.BURN_IN, _CHUNK):
            places = np.zeros((min(_CHUNK, size + tied_orders.BURN_IN - done), n), np.int64)
            tied_orders.run_chain(win, tie, rng.random(places.shape), state, places)
            drawn.append(places)
        return np.concatenate(drawn)[tied_orders.BURN_IN :]

    def mode(self, scores: ArrayLike) -> Ints:
        """Most probable ranking; its blocks are runs of the order of scores."""
        s = np.asarray(scores, np.float64)
        order, places = ranking.order(s), np.empty(len(s), np.int64)
        places[order] = tied_orders.heaviest(*self._logs(s[order]))
        return places

    def exact_marginals(self, s: Array) -> tuple[Array, Array]:
        """Sums over all rankings."""
        beats, ties = tied_orders.tables(*self._logs(s))
        ranks, before = tied_orders.marginals(beats, ties, tied_orders.log_sums(beats, ties))
        return ranks, before

    def _logs(self, scores: ArrayLike) -> tuple[Array, Array]:
        s = np.asarray(scores, np.float64)
        return self.log_odds(s[:, None] - s[None, :])
