"""Reverse Plackett–Luce: ranks are filled from the bottom, each with P(i) = e^{−s_i} / Σ e^{−s} of the remaining.

It is Plackett–Luce of −s with the ranking reversed. Documents get S_i = s_i − Gumbel noise, and the largest is first: a
document may be far worse than its score, but hardly far better. In Plackett–Luce it is the other way round, so a clear
leader hardly ever falls.

>>> from podium.distributions import PlackettLuce, ReversePlackettLuce
>>> [d.rank_marginals([2.0, 0.0, 0.0])[0].round(2).tolist() for d in (PlackettLuce(), ReversePlackettLuce())]
[[0.79, 0.19, 0.03], [0.82, 0.11, 0.06]]
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.distributions.base import RankingDistribution
from podium.distributions.plackett_luce import PlackettLuce
from podium.distributions.rank_summary import RankSummary
from podium.jit import sorting as ranking


@register
class ReversePlackettLuce(RankingDistribution):
    """Reverse Plackett–Luce distribution over strict rankings: P(π) = Π_k ψ_{π(k)} / Σ_{l ≤ k} ψ_{π(l)}, ψ = e^−s."""

    def log_prob(self, scores: ArrayLike, ranks: ArrayLike) -> float:
        """Σ_k −s_{π(k)} − log Σ_{l ≤ k} ψ_{π(l)}; ties have probability 0 and are refused."""
        s, strict = self._checked(scores, ranks)
        return _FORWARD.log_prob(-s, -strict)

    def log_prob_of_grades(self, scores: ArrayLike, labels: ArrayLike) -> float:
        """Log-probability that documents come in the order of grades, in any order within a grade."""
        return _FORWARD.log_prob_of_grades(-np.asarray(scores, np.float64), -np.asarray(labels, np.float64))

    def likelihood_of_grades(self, labels: Array, offsets: Ints) -> Callable[[Array], Array]:
        """Function from the scores of many queries (N,) to the `log_prob_of_grades` of each (Q,)."""
        turned = _FORWARD.likelihood_of_grades(-labels, offsets)
        return lambda scores: turned(-scores)

    def sample(self, scores: ArrayLike, rng: np.random.Generator, size: int = 1) -> Ints:
        """Sample rankings, one per row: the order of s_i minus Gumbel noise."""  # (size, n)
        s = np.asarray(scores, np.float64)
        return len(s) + 1 - _FORWARD.sample(-s, rng, size)

    def mode(self, scores: ArrayLike) -> Ints:
        """Order of scores; equal ones in input order."""
        return ranking.ordinal_ranks(scores)

    def rank_marginals(
        self, scores: ArrayLike, *, rng: np.random.Generator | None = None, samples: int = 10_000
    ) -> Array:
        """P(document i has rank r + 1) at [i, r], by an integral, accurate to 1e−10."""
        return np.ascontiguousarray(_FORWARD.rank_marginals(-np.asarray(scores, np.float64))[:, ::-1])

    def has_exact_marginals(self, n: int) -> bool:
        return _FORWARD.has_exact_marginals(n)

    def summary(self, scores: ArrayLike, *, level: float = 0.9) -> RankSummary:
        """P(first), expected rank and interval of each document; for more than 300, intervals by moments."""
        s = np.asarray(scores, np.float64)
        if self.has_exact_marginals(len(s)):
            return super().summary(s, level=level)
        turned, n = _FORWARD.summary(-s, level=level), len(s)
        return RankSummary(_chance_of_first(s), n + 1 - turned.expected, n + 1 - turned.high, n + 1 - turned.low)

    def rank_cdf(self, scores: ArrayLike, ranks: Ints) -> Array:
        """P(document i has rank ranks[i, c] or a better one) at [i, c]; for more than 300 documents by moments."""
        s = np.asarray(scores, np.float64)
        return 1.0 - _FORWARD.rank_cdf(-s, len(s) - ranks.clip(0, len(s)))

    def prefers(self, scores: ArrayLike, *, rng: np.random.Generator | None = None, samples: int = 10_000) -> Array:
        """P(document i comes before document j) = e^{s_i}/(e^{s_i} + e^{s_j}), as in Plackett–Luce."""
        return _FORWARD.prefers(scores)


_FORWARD = PlackettLuce()
_STEP = 0.02  # of log t: the logarithm of the last of 50,000 arrivals has a deviation of 0.12
_NEVER = 40.0  # e^−40: negligible in the integral


def _chance_of_first(s: Array) -> Array:
    """P(i arrives last) = ∫ ψ_i e^{−ψ_i t} Π_{j ≠ i} (1 − e^{−ψ_j t}) dt, by the trapezoid rule in u = log t.

    Documents whose score is more than 40 below the best have probability 0.
    """
    chances = np.zeros(len(s))
    near = np.flatnonzero(s > s.max() - _NEVER)
    rates = -(s[near] - s.max())  # (m,) logarithms of ψ, 0 for the best
    for u in np.arange(-_NEVER, math.log(_NEVER), _STEP):
        x = np.exp(u + rates)
        arrived = np.log(-np.expm1(-x))
        log_all = float(arrived.sum())
        if log_all > -2 * _NEVER:
            chances[near] += np.exp(u + rates - x + log_all - arrived)
    return np.asarray(chances / chances.sum())
