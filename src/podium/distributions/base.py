"""Distributions over rankings: the probability of a ranking given scores, samples, the mode, rank marginals.

>>> from podium.distributions import PlackettLuce
>>> PlackettLuce().summary([2.0, 1.0, 0.0]).first.round(2).tolist()  # the softmax of the scores
[0.67, 0.24, 0.09]

A loss that is the negative log-likelihood of one says so by `Loss.rank_distribution`.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.base.arrays import Array
from podium.base.errors import DataError
from podium.base.registry import Named
from podium.distributions.rank_summary import RankSummary, of_draws, of_marginals
from podium.jit import sorting as ranking


class RankingDistribution(Named):
    """The probabilities of all rankings of a query's documents, given their scores; rankings may have ties.

    Rankings are arrays of dense ranks: `ranks[i]` is the rank of document i, 1 the top, and documents that share a
    rank are tied (1, 2, 2, 3). What has no closed form is estimated from `samples` draws of `rng`.
    """

    kind: ClassVar[str] = "distribution"
    home: ClassVar[str] = "podium.distributions"
    has_ties: ClassVar[bool] = False
    """Whether tied rankings have positive probability."""
    caution: ClassVar[str | None] = None
    """What to know before its probabilities are read as predictions."""
    max_exact_n: ClassVar[int] = 0
    """Documents up to which `exact_marginals` knows rank marginals and preferences; of more they are drawn."""
    max_sampled_n: ClassVar[int] = 50_000
    """Documents up to which drawing two hundred rankings is a matter of seconds."""

    def log_prob(self, scores: ArrayLike, ranks: ArrayLike) -> float:
        """The logarithm of the probability of a ranking. Only the order of ranks matters: 1, 2, 2, 4 is 1, 2, 2, 3."""
        raise NotImplementedError

    def sample(self, scores: ArrayLike, rng: np.random.Generator, size: int = 1) -> NDArray[np.int64]:
        """Rankings drawn from the distribution, one per row."""  # (size, n)
        raise NotImplementedError

    def mode(self, scores: ArrayLike) -> NDArray[np.int64]:
        """The most probable ranking."""
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
        """P(document i comes before document j) at [i, j]; what is missing to 1 with [j, i] is P(tied)."""  # (n, n)
        s = np.array(scores, np.float64)
        if len(s) <= self.max_exact_n:
            return self.exact_marginals(s)[1]
        drawn = self.sample(s, rng or np.random.default_rng(0), samples)
        return np.stack([(drawn[:, i : i + 1] < drawn).mean(axis=0) for i in range(len(s))])

    def exact_marginals(self, s: Array) -> tuple[Array, Array]:
        """Rank marginals and preferences without drawing, of up to `max_exact_n` documents."""  # (n, n), (n, n)
        raise NotImplementedError

    def summary(self, scores: ArrayLike, *, level: float = 0.9) -> RankSummary:
        """P(first), the expected rank and the interval of `level` of each document; always the same numbers.

        Of more documents than marginals are computed for, from 200 to 2,000 draws, the fewer the more there are.
        """
        s = np.array(scores, np.float64)
        if self.has_exact_marginals(len(s)):
            return of_marginals(self.rank_marginals(s), level)
        return of_draws(self._drawn(s), level)

    def rank_cdf(self, scores: ArrayLike, ranks: NDArray[np.int64]) -> Array:
        """P(document i has rank ranks[i, c] or a better one) at [i, c], by the means of `summary`."""  # (n, c)
        s = np.array(scores, np.float64)
        if self.has_exact_marginals(len(s)):
            below = np.cumsum(self.rank_marginals(s), axis=1)
            up_to: Array = np.take_along_axis(np.column_stack([np.zeros(len(s)), below]), ranks.clip(0, len(s)), axis=1)
            return np.minimum(up_to, 1.0)  # where rounding leaves 1 + 1e−16
        drawn = self._drawn(s)
        return np.stack([(drawn <= column).mean(axis=0) for column in ranks.T], axis=1)

    def has_exact_marginals(self, n: int) -> bool:
        """Whether rank marginals of n documents are computed rather than drawn."""
        return n <= self.max_exact_n

    def _drawn(self, s: Array) -> NDArray[np.int64]:
        """As many rankings as a matter of seconds allows, always the same."""  # (draws, n)
        if len(s) > self.max_sampled_n:
            raise DataError(
                f"{self.name}: rankings of {len(s)} documents take long to draw; its odds are for up to "
                f"{self.max_sampled_n}. Keep the best of each query, or ask for odds without ties."
            )
        draws = int(np.clip(200 * (self.max_sampled_n / (2 * len(s))) ** 2, 200, 2_000))
        return self.sample(s, np.random.default_rng(0), draws)

    def _checked(self, scores: ArrayLike, ranks: ArrayLike) -> tuple[Array, NDArray[np.int64]]:
        """Scores and dense ranks; raises a clear error if they do not fit together, or ties have probability 0."""
        s, given = np.asarray(scores, np.float64), np.asarray(ranks, np.float64)
        if s.ndim != 1 or s.shape != given.shape:
            raise DataError(f"{self.name}: ranks of shape {given.shape} for scores of shape {s.shape}.")
        places = ranking.dense_ranks(-given)
        if not self.has_ties and places.max(initial=0) < len(places):
            raise DataError(
                f"{self.name} gives rankings with ties probability 0; got ranks {np.asarray(ranks).tolist()}. "
                "Use a distribution with ties, such as ordered-partitions."
            )
        return s, places
