"""Plackett–Luce with some rankings at random."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.distributions.base import RankingDistribution
from podium.distributions.plackett_luce import PlackettLuce


@register
class Contaminated(RankingDistribution):
    """P(π) = (1 − ε)·P_PL(π) + ε/n!: with probability ε the judge did not look."""

    epsilon: float = param(default=0.1, above=0, below=1)
    max_exact_n = 300

    def log_prob(self, scores: ArrayLike, ranks: ArrayLike) -> float:
        s, places = self._checked(scores, ranks)
        looked = math.log1p(-self.epsilon) + PlackettLuce().log_prob(s, places)
        return float(np.logaddexp(looked, math.log(self.epsilon) - math.lgamma(len(s) + 1)))

    def sample(self, scores: ArrayLike, rng: np.random.Generator, size: int = 1) -> NDArray[np.int64]:
        s = np.asarray(scores, np.float64)
        drawn = PlackettLuce().sample(s, rng, size)
        blind = rng.random(size) < self.epsilon
        drawn[blind] = rng.permuted(np.tile(np.arange(1, len(s) + 1), (int(blind.sum()), 1)), axis=1)
        return drawn

    def mode(self, scores: ArrayLike) -> NDArray[np.int64]:
        return PlackettLuce().mode(scores)

    def exact_marginals(self, s: Array) -> tuple[Array, Array]:
        n, looked = len(s), 1.0 - self.epsilon
        ranks = looked * PlackettLuce().rank_marginals(s) + self.epsilon / n
        before = looked * PlackettLuce().prefers(s) + self.epsilon * 0.5 * (1.0 - np.eye(n))
        return ranks, before
