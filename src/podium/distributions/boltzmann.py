"""Boltzmann distribution over rankings, with an energy that is linear in scores and ranks (Volkovs & Zemel, 2009).

    P(r) ∝ e^{−E(r)},   E(r) = (2α/(n−1)) Σ_u (r_u − (n+1)/2) s_u

which equals (2α/n(n−1)) Σ (r_u − r_v)(s_u − s_v) over the pairs with u ranked below v. The normaliser is a permanent:
a sum over subsets for few documents, and an integral over α for many.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array, Ints
from podium.base.registry import param, register
from podium.distributions.base import RankingDistribution
from podium.jit import sorting as ranking
from podium.jit.compiled import compiled
from podium.kernels.draws import advance, below, uniform

_BURN_IN, _BETWEEN = 10, 2  # swaps per document before the first ranking, and between two


@register
class Boltzmann(RankingDistribution):
    """Boltzmann distribution over strict rankings; `alpha` is the inverse temperature."""

    alpha: float = param(default=1.0, above=0, search=(0.3, 30.0, "log"))
    """Inverse temperature: the larger, the surer the ranking."""
    max_exact_n: ClassVar[int] = 14

    def log_prob(self, scores: ArrayLike, ranks: ArrayLike) -> float:
        """−E − log Z: exact up to 14 documents; above, with the error of `log_normaliser`."""
        s, places = self._checked(scores, ranks)
        s = s - s.mean() if len(s) else s
        log_z, _ = self.log_normaliser(s)
        return float(pull(self.alpha, len(s)) * np.sum(((len(s) + 1) / 2 - places) * s) - log_z)

    def log_normaliser(self, scores: ArrayLike) -> tuple[float, float]:
        """log Z and its standard error, which is that of every log-probability too; deterministic.

        Up to 14 documents it is exact, and the error 0. Above, it is an integral over the inverse temperature of the
        mean energy, estimated from 2,000 rankings at each node. Differences of log-probabilities at the same scores
        are always exact, since log Z drops out.
        """
        s = np.array(scores, np.float64)
        s = s - s.mean() if len(s) else s
        c = pull(self.alpha, len(s))
        return (float(filled_places(s, c)[-1]), 0.0) if len(s) <= self.max_exact_n else integrated(s, c)

    def sample(self, scores: ArrayLike, rng: np.random.Generator, size: int = 1) -> Ints:
        """Sample rankings, one per row: exactly up to 14 documents, above by a Markov chain, 2n swaps between two."""
        s = np.array(scores, np.float64)  # (size, n)
        s, c, places = s - s.mean() if len(s) else s, pull(self.alpha, len(s)), np.empty((size, len(s)), np.int64)
        if len(s) <= self.max_exact_n:
            _draw_exactly(s, c, filled_places(s, c), rng.random((size, len(s))), places)
            return places
        best_first = visit(s, c, size, np.uint64(rng.integers(2**63)))
        np.put_along_axis(places, best_first, np.arange(1, len(s) + 1)[None, :], axis=1)
        return places

    def mode(self, scores: ArrayLike) -> Ints:
        """Order of scores; equal ones in input order."""
        return ranking.ordinal_ranks(scores)

    def exact_marginals(self, s: Array) -> tuple[Array, Array]:
        marginals, before = np.zeros((len(s), len(s))), np.zeros((len(s), len(s)))
        if len(s):
            s, c = s - s.mean(), pull(self.alpha, len(s))
            _add_marginals(s, c, filled_places(s, c), marginals, before)
        return marginals, before


@compiled
def pull(alpha: float, n: int) -> Any:
    """Weight of a rank and a unit of score in the energy: 2α/(n − 1)."""
    return 2.0 * alpha / (n - 1.0) if n > 1 else 0.0


@compiled
def visit(s: Array, c: float, samples: int, state: np.uint64) -> Any:
    """Rankings of a Markov chain of swaps that starts at the order of scores: documents, best first, one per row."""
    n = len(s)
    ranked, rows = np.empty(n, np.int64), np.empty((samples, n), np.int64)
    ranking.argsort_descending(s, ranked)
    for row in range(samples):
        state = _swap(s, c, ranked, (_BURN_IN if row == 0 else _BETWEEN) * n, state)
        for p in range(n):
            rows[row, p] = ranked[p]
    return rows


@compiled
def _swap(s: Array, c: float, ranked: Ints, steps: int, state: np.uint64) -> Any:
    """Metropolis steps: the documents at two ranks, adjacent in every other step, swap with P = min(1, e^{−ΔE}).

    With u at rank p above v at rank q, −ΔE is c(q − p)(s_v − s_u): O(1).
    """
    n = len(ranked)
    for step in range(steps):
        state = advance(state)
        p = below(state, n)
        q = min(p + 1, n - 1)
        if step % 2 == 0:
            state = advance(state)
            q = below(state, n)
        gain = c * (q - p) * (s[ranked[q]] - s[ranked[p]])
        state = advance(state)
        if uniform(state) < math.exp(min(gain, 0.0)):
            ranked[p], ranked[q] = ranked[q], ranked[p]
    return state


@compiled
def filled_places(s: Array, c: float) -> Any:
    """log Σ e^{−E} over the ways in which each set of documents fills the first ranks; the last is log Z.

    F(S) = Σ_{u∈S} F(S − u)·e^{c((n+1)/2 − |S|)s_u}
    """
    n = len(s)
    filled, terms = np.zeros(1 << n), np.empty(n)
    for chosen in range(1, 1 << n):
        high, total, size = -np.inf, 0.0, _count(chosen, n)
        for u in range(n):
            terms[u] = -np.inf
            if chosen >> u & 1:
                terms[u] = filled[chosen ^ (1 << u)] + c * ((n + 1.0) / 2.0 - size) * s[u]
                high = max(high, terms[u])
        for u in range(n):
            total += math.exp(terms[u] - high)
        filled[chosen] = high + math.log(total)
    return filled


@compiled
def _count(chosen: int, n: int) -> int:
    size = 0
    for u in range(n):
        size += chosen >> u & 1
    return size


@compiled
def _draw_exactly(s: Array, c: float, filled: Array, uniforms: Array, places: Ints) -> None:
    """Fill each row of `places` from the last rank up, P(u is last of S) = F(S − u)·e^{…}/F(S)."""
    n = len(s)
    for row in range(len(places)):
        chosen = len(filled) - 1
        for size in range(n, 0, -1):
            rest, picked = uniforms[row, size - 1], -1
            for u in range(n):
                if chosen >> u & 1 and (picked < 0 or rest >= 0.0):
                    picked = u
                    rest -= _last(s, c, filled, chosen, u, size)
            places[row, picked] = size
            chosen ^= 1 << picked


@compiled
def _last(s: Array, c: float, filled: Array, chosen: int, u: int, size: int) -> Any:
    """P(u is the last of these documents, which fill the first `size` ranks)."""
    return math.exp(filled[chosen ^ (1 << u)] + c * ((len(s) + 1.0) / 2.0 - size) * s[u] - filled[chosen])


@compiled
def _add_marginals(s: Array, c: float, filled: Array, marginals: Array, before: Array) -> None:
    """Add marginals over all sets that may fill the first ranks, from all documents down."""
    n = len(s)
    reached = np.zeros(len(filled))
    reached[-1] = 1.0
    for chosen in range(len(filled) - 1, 0, -1):
        size = _count(chosen, n)
        for u in range(n):
            if chosen >> u & 1:
                chance = reached[chosen] * _last(s, c, filled, chosen, u, size)
                reached[chosen ^ (1 << u)] += chance
                marginals[u, size - 1] += chance
                for v in range(n):
                    if chosen >> v & 1 and v != u:
                        before[v, u] += chance


_RANKINGS = 2_000  # per node of the integral
_POINTS = 6  # nodes of Gauss–Legendre per panel
_STRETCHES = 20  # batches of a chain


def integrated(s: Array, c: float) -> tuple[float, float]:
    """log Z(c) = log n! + ∫_0^c E_b[Σ ((n+1)/2 − r_u) s_u] db, over panels that double; and its standard error.

    The error of a mean is estimated from batch means of its chain; batches are long enough to be independent.
    """
    n = len(s)
    weights = (n + 1) / 2 - np.arange(1, n + 1)
    spread = math.sqrt(n * (n + 1) / 12 * float(np.sum(s * s)))  # of the integrand at b = 0
    ends = [0.0, min(c, 1.0 / spread if spread > 0 else c)]
    while ends[-1] < c:
        ends.append(min(2 * ends[-1], c))
    total, variance = math.lgamma(n + 1), 0.0
    nodes, shares = np.polynomial.legendre.leggauss(_POINTS)
    for panel, (a, b) in enumerate(itertools.pairwise(ends)):
        for k in range(_POINTS):
            at = 0.5 * (a + b + (b - a) * nodes[k])
            rows = visit(s, at, _RANKINGS, np.uint64(panel * _POINTS + k))
            stretches = (s[rows] @ weights).reshape(_STRETCHES, -1).mean(axis=1)
            share = 0.5 * (b - a) * shares[k]
            total += share * float(stretches.mean())
            variance += share**2 * float(stretches.var(ddof=1)) / _STRETCHES
    return total, math.sqrt(variance)
