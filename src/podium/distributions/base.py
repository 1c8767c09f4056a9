"""Probability distributions over rankings, given scores: log-probabilities, samples, the mode, rank marginals.

>>> from podium.distributions import PlackettLuce
>>> PlackettLuce().summary([2.0, 1.0, 0.0]).first.round(2).tolist()  # the softmax of the scores
[0.67, 0.24, 0.09]

`Loss.rank_distribution` is the distribution whose negative log-likelihood a loss is.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array, Ints
from podium.base.errors import DataError
from podium.base.registry import Named
from podium.distributions.rank_summary import RankSummary, of_draws, of_marginals
from podium.jit import sorting as ranking


class RankingDistribution(Named):
    """Probability distribution over the rankings of a query's documents, given their scores; rankings may have ties.

    Rankings are arrays of dense ranks: `ranks[i]` is the rank of document i, 1 the top, and documents of equal rank
    are tied (1, 2, 2, 3). Quantities without a closed form are estimated from `samples` draws of `rng`.
    """

    kind: ClassVar[str] = "distribution"
    home: ClassVar[str] = "podium.distributions"
    has_ties: ClassVar[bool] = False
    """Whether tied rankings have positive probability."""
    caution: ClassVar[str | None] = None
    """Warning about its probabilities as predictions, or None."""
    max_exact_n: ClassVar[int] = 0
    """Largest number of documents for `exact_marginals`; for more, marginals are estimated from samples."""
    max_sampled_n: ClassVar[int] = 50_000
    """Largest number of documents of which two hundred rankings are drawn in seconds."""

    def log_prob(self, scores: ArrayLike, ranks: ArrayLike) -> float:
        """Log-probability of a ranking. Only the order of ranks matters: 1, 2, 2, 4 is 1, 2, 2, 3."""
        raise NotImplementedError

    def sample(self, scores: ArrayLike, rng: np.random.Generator, size: int = 1) -> Ints:
        """Sample rankings, one per row."""  # (size, n)
        raise NotImplementedError

    def mode(self, scores: ArrayLike) -> Ints:
        """Most probable ranking."""
        raise NotImplementedError

    def rank_marginals(
        self, scores: ArrayLike, *, rng: np.random.Generator | None = None, samples: int = 10_000
    ) -> Array:
        """P(document i has rank r + 1) at [i, r]; each row sums to 1."""  # (n, n)
        s = np.array(scores, np.float64)
        if len(s) <= self.max_exact_n:
            return self.exact_marginals(s)[0]
        drawn = self.sample(s, rng or np.random.default_rng(0), samples)
        return np.stack([np.bincount(drawn[:, i] - 1, minlength=len(s)) for i in range(len(s))]) / len(drawn)

    def prefers(self, scores: ArrayLike, *, rng: np.random.Generator | None = None, samples: int = 10_000) -> Array:
        """P(document i comes before document j) at [i, j]; 1 − [i, j] − [j, i] is P(tied)."""  # (n, n)
        s = np.array(scores, np.float64)
        if len(s) <= self.max_exact_n:
            return self.exact_marginals(s)[1]
        drawn = self.sample(s, rng or np.random.default_rng(0), samples)
        return np.stack([(drawn[:, i : i + 1] < drawn).mean(axis=0) for i in range(len(s))])

    def exact_marginals(self, s: Array) -> tuple[Array, Array]:
        """Exact rank marginals and preferences of up to `max_exact_n` documents."""  # (n, n), (n, n)
        raise NotImplementedError

    def summary(self, scores: ArrayLike, *, level: float = 0.9) -> RankSummary:
        """P(first), expected rank and central interval of probability `level` of each document; deterministic.

        Without exact marginals, from 200 (many documents) to 2,000 samples.
        """
        s = np.array(scores, np.float64)
        if self.has_exact_marginals(len(s)):
            return of_marginals(self.rank_marginals(s), level)
        return of_draws(self._drawn(s), level)

    def rank_cdf(self, scores: ArrayLike, ranks: Ints) -> Array:
        """P(document i has rank ranks[i, c] or a better one) at [i, c], computed as in `summary`."""  # (n, c)
        s = np.array(scores, np.float64)
        if self.has_exact_marginals(len(s)):
            below = np.cumsum(self.rank_marginals(s), axis=1)
            up_to: Array = np.take_along_axis(np.column_stack([np.zeros(len(s)), below]), ranks.clip(0, len(s)), axis=1)
            return np.minimum(up_to, 1.0)  # rounding may leave 1 + 1e−16
        drawn = self._drawn(s)
        return np.stack([(drawn <= column).mean(axis=0) for column in ranks.T], axis=1)

    def has_exact_marginals(self, n: int) -> bool:
        """Whether rank marginals of n documents are exact rather than estimated from samples."""
        return n <= self.max_exact_n

    def _drawn(self, s: Array) -> Ints:
        """Rankings for `summary`, as many as take seconds; deterministic."""  # (draws, n)
        if len(s) > self.max_sampled_n:
            raise DataError(
                f"{self.name}: rankings of {len(s)} documents take long to draw; its odds are for up to "
                f"{self.max_sampled_n}. Keep the best of each query, or ask for odds without ties."
            )
        draws = int(np.clip(200 * (self.max_sampled_n / (2 * len(s))) ** 2, 200, 2_000))
        return self.sample(s, np.random.default_rng(0), draws)

    def _checked(self, scores: ArrayLike, ranks: ArrayLike) -> tuple[Array, Ints]:
        """Scores and dense ranks; raises DataError if their shapes differ, or ties have probability 0."""
        s, r = np.asarray(scores, np.float64), np.asarray(ranks, np.float64)
        if s.ndim != 1 or s.shape != r.shape:
            raise DataError(f"{self.name}: ranks of shape {r.shape} for scores of shape {s.shape}.")
        places = ranking.dense_ranks(-r)
        if not self.has_ties and places.max(initial=0) < len(places):
            raise DataError(
                f"{self.name} gives rankings with ties probability 0; got ranks {np.asarray(ranks).tolist()}. "
                "Use a distribution with ties, such as ordered-partitions."
            )
        return s, places
