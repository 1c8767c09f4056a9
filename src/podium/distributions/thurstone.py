"""Thurstone's model (1927, case V): rankings by scores with independent normal noise.

Document i gets S_i ~ N(s_i, σ²), and the largest is first.

>>> from podium.distributions import Thurstone
>>> Thurstone().prefers([1.0, 0.0])[0, 1].round(4)  # Φ(1/√2)
np.float64(0.7602)
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import ArrayLike

from podium.base.arrays import Array, Ints
from podium.base.registry import param, register
from podium.distributions.base import RankingDistribution
from podium.distributions.race import count_distribution, take_out
from podium.jit import sorting as ranking
from podium.jit.compiled import compiled


@register
class Thurstone(RankingDistribution):
    """Thurstone distribution over strict rankings: P(π) = P(S_{π(1)} > S_{π(2)} > …), S_i ~ N(s_i, σ²)."""

    sigma: float = param(default=1.0, above=0, search=(0.1, 3.0, "log"))
    """Standard deviation of the noise on each score."""

    def log_prob(self, scores: ArrayLike, ranks: ArrayLike) -> float:
        """Logarithm of a nested integral, accurate to 1e−9; ties have probability 0 and are refused.

        If even the likeliest S in this order has a density below e^−300 of the largest, that exponent is returned.
        """
        from scipy.optimize import isotonic_regression

        s, places = self._checked(scores, ranks)
        if len(s) < 2:
            return 0.0
        best_first = s[ranking.order(-places)] / self.sigma
        likeliest = isotonic_regression(best_first, increasing=False).x
        lost = 0.5 * float(np.sum((best_first - likeliest) ** 2))
        return -lost if lost > _DEEP else math.log(_chance_of_order(best_first, likeliest))

    def sample(self, scores: ArrayLike, rng: np.random.Generator, size: int = 1) -> Ints:
        """Sample rankings, one per row: the order of s_i plus normal noise."""  # (size, n)
        s = np.asarray(scores, np.float64)
        places = np.empty((size, len(s)), np.int64)
        for row in range(size):
            places[row] = ranking.dense_ranks(s + self.sigma * rng.standard_normal(len(s)))
        return places

    def mode(self, scores: ArrayLike) -> Ints:
        """Order of scores; equal ones in input order."""
        return ranking.ordinal_ranks(scores)

    def rank_marginals(
        self, scores: ArrayLike, *, rng: np.random.Generator | None = None, samples: int = 10_000
    ) -> Array:
        """P(document i has rank r + 1) at [i, r], by an integral over its variable, accurate to 1e−10."""
        z = np.array(scores, np.float64) / self.sigma
        marginals = np.zeros((len(z), len(z)))
        if len(z):
            _integrate(z, _STEP / math.sqrt(len(z) + 16.0), marginals)
        return np.maximum(marginals, 0.0)  # rounding may leave −1e−17

    def has_exact_marginals(self, n: int) -> bool:
        return n <= MAX_EXACT_N

    def prefers(self, scores: ArrayLike, *, rng: np.random.Generator | None = None, samples: int = 10_000) -> Array:
        """P(document i comes before document j) = Φ((s_i − s_j)/(√2σ))."""
        from scipy.special import ndtr

        s = np.asarray(scores, np.float64)
        before: Array = ndtr((s[:, None] - s) / (math.sqrt(2.0) * self.sigma))
        np.fill_diagonal(before, 0.0)
        return before


MAX_EXACT_N = 300
"""Largest number of documents whose exact rank marginals are fast."""
_DEEP = 300.0  # nats: beyond this, products of densities would underflow
_REACH = 10.0  # standard deviations: a normal variable is beyond with probability 1e−23
_PANEL, _NODES = 0.1, 16  # densities change by e^±3.5 across a panel, which 16 nodes integrate to 1e−13
_STEP = 1.2  # times 1/√(n + 16): the integrand is about 1/√n wide


def _chance_of_order(z: Array, likeliest: Array) -> float:
    """P(Z_1 > … > Z_n), Z_i ~ N(z_i, 1): h_i(x) = ∫_{−∞}^x φ(t − z_i) h_{i+1}(t) dt, on panels near any Z_i."""
    from scipy.special import ndtr

    first, last = (np.floor((likeliest + side * _REACH) / _PANEL).astype(np.int64) for side in (-1, 1))
    panels = np.unique(np.concatenate([np.arange(a, b + 1) for a, b in zip(first, last, strict=True)]))
    nodes, weights, up_to = _rule()
    t = (panels[:, None] + 0.5 * (nodes + 1.0)) * _PANEL  # (panels, nodes)
    below = ndtr(t - z[-1])
    for mean in z[-2::-1]:
        density = 0.5 * _PANEL / math.sqrt(2.0 * math.pi) * np.exp(-0.5 * (t - mean) ** 2) * below
        whole = density @ weights
        below = (np.cumsum(whole) - whole)[:, None] + density @ up_to
    return float(whole.sum())


@functools.cache
def _rule() -> tuple[Array, Array, Array]:
    """Gauss–Legendre nodes and weights on (−1, 1), and at [a, b] the weight of node a in the integral up to node b."""
    nodes, weights = legendre.leggauss(_NODES)
    values = legendre.legvander(nodes, _NODES)
    integrals = [nodes + 1.0]
    integrals += [(values[:, d + 1] - values[:, d - 1]) / (2 * d + 1) for d in range(1, _NODES)]
    return nodes, weights, np.asarray(np.linalg.solve(values[:, :-1].T, np.array(integrals)), np.float64)


@compiled
def _integrate(z: Array, step: float, marginals: Array) -> None:
    """P(rank of i = r + 1) = ∫ φ(x − z_i) P(r others are above x) dx, by the trapezoid rule."""
    n = len(z)
    above, counts, without = np.empty(n), np.empty(n + 1), np.empty(n)
    last = int(np.ceil((np.max(z) + _REACH) / step))
    for node in range(int(np.floor((np.min(z) - _REACH) / step)), last + 1):
        x, wanted = node * step, False
        for j in range(n):
            above[j] = 0.5 * math.erfc((x - z[j]) * math.sqrt(0.5))
            wanted |= abs(x - z[j]) < _REACH
        if wanted:
            low, high = count_distribution(above, counts)
            for i in range(n):
                if abs(x - z[i]) < _REACH:
                    first, end = take_out(counts, low, high, above[i], without)
                    weight = step * math.exp(-0.5 * (x - z[i]) ** 2) / math.sqrt(2.0 * math.pi)
                    for r in range(first, end):
                        marginals[i, r] += weight * without[r]
