"""Plackett–Luce: the law of rankings whose places are filled from the top, each by P(i) = φ_i / Σ φ of what remains.

Documents race: with arrival times T_i ~ Exp(φ_i), φ = e^s, the order of arrival has this law. ListNet and ListMLE train
it, so a model of theirs reads as this distribution.

>>> import numpy as np
>>> from podium.losses import ListMLE
>>> ListMLE().rank_marginals(np.log([2.0, 1.0, 1.0]))[0].round(4)  # ½, then ½ · ⅔
array([0.5   , 0.3333, 0.1667])
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, softmax

from podium import ranking
from podium.errors import DataError
from podium.losses.base import Array, kernel
from podium.losses.distribution import RankingDistribution
from podium.losses.graded_race import log_prob_of_grades
from podium.losses.race_moments import race_cdf, race_summary
from podium.losses.rank_summary import RankSummary


@dataclass(frozen=True, repr=False)
class PlackettLuce(RankingDistribution):
    """A law over strict rankings: P(π) = Π_k φ_{π(k)} / Σ_{l ≥ k} φ_{π(l)}, φ = e^s."""

    name = "plackett-luce"

    def log_prob(self, scores: ArrayLike, ranks: ArrayLike) -> float:
        """Σ_k s_{π(k)} − log Σ_{l ≥ k} φ_{π(l)}; ties have probability 0 and are refused."""
        s, places = self._checked(scores, ranks)
        worst_first = s[ranking.order(places)]
        return float(np.sum(worst_first - np.logaddexp.accumulate(worst_first))) if len(s) else 0.0

    def log_prob_of_grades(self, scores: ArrayLike, labels: ArrayLike) -> float:
        """The logarithm of the probability that documents come in the order of grades, in any order within one."""
        s, y = np.array(scores, np.float64), np.array(labels, np.float64)
        if s.ndim != 1 or s.shape != y.shape:
            raise DataError(f"{self.name}: labels of shape {y.shape} for scores of shape {s.shape}.")
        return log_prob_of_grades(s, y)

    def sample(self, scores: ArrayLike, rng: np.random.Generator, size: int = 1) -> NDArray[np.int64]:
        """Rankings drawn from the law, one per row: the order of s_i plus Gumbel noise."""  # (size, n)
        return draw_race(scores, rng, size)

    def mode(self, scores: ArrayLike) -> NDArray[np.int64]:
        """The order of scores; equal ones in input order."""
        return ranking.places(scores)

    def rank_marginals(
        self, scores: ArrayLike, *, rng: np.random.Generator | None = None, samples: int = 10_000
    ) -> Array:
        """P(document i has rank r + 1) at [i, r], by an integral over its time of arrival, right to 1e−10."""
        return race_law(scores)

    def knows_ranks(self, n: int) -> bool:
        return n <= _MANY

    def summary(self, scores: ArrayLike, *, level: float = 0.9) -> RankSummary:
        """P(first), the expected rank and the interval of each document; of more than 300, intervals by moments."""
        s = np.array(scores, np.float64)
        short = super().summary(s, level=level) if self.knows_ranks(len(s)) else race_summary(closed_up(s), level)
        return replace(short, first=softmax(s)) if len(s) else short

    def rank_cdf(self, scores: ArrayLike, ranks: NDArray[np.int64]) -> Array:
        """P(document i has rank ranks[i, c] or a better one) at [i, c]; of more than 300 documents by moments."""
        s = np.array(scores, np.float64)
        return super().rank_cdf(s, ranks) if self.knows_ranks(len(s)) else race_cdf(closed_up(s), ranks)

    def prefers(self, scores: ArrayLike, *, rng: np.random.Generator | None = None, samples: int = 10_000) -> Array:
        """P(document i comes before document j) = φ_i/(φ_i + φ_j)."""
        s = np.asarray(scores, np.float64)
        before: Array = expit(s[:, None] - s)
        np.fill_diagonal(before, 0.0)
        return before


def draw_race(scores: ArrayLike, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
    """The places of arrival of documents in `size` races, one per row."""  # (size, n)
    s = np.asarray(scores, np.float64)
    places = np.empty((size, len(s)), np.int64)
    for row in range(size):
        places[row] = ranking.ranks(s + rng.gumbel(size=len(s)))
    return places


def race_law(scores: ArrayLike) -> Array:
    """P(document i arrives at place p + 1) at [i, p]."""  # (n, n)
    s = closed_up(np.array(scores, np.float64))
    law = np.zeros((len(s), len(s)))
    if len(s):
        _integrate(s - s.max(), _STEP / math.sqrt(len(s) + 16.0), law)
    return np.maximum(law, 0.0)  # where rounding leaves −1e−17


def closed_up(s: Array) -> Array:
    """The scores with gaps of more than 40 in their order narrowed to 40, which moves no probability by e^−40."""
    best_first = ranking.order(s)
    gaps = -np.diff(s[best_first])
    if not (gaps > _EARLY).any():
        return s
    found = np.empty(len(s))
    found[best_first] = -np.concatenate([[0.0], np.cumsum(np.minimum(gaps, _EARLY))])
    return found


_MANY = 300  # documents above which the exact law takes more than a moment
_STEP = 1.2  # over √(n + 16): the integrand is about 1/√n wide, and the error falls like e^(−c/step²)
_EARLY, _LATE = 40.0, 4.0  # log T + s is Gumbel: it lies outside (−40, 4) with probability 1e−17
_TINY = 1e-30  # the ends of a law below this are cut off


@kernel
def _integrate(s: Any, step: Any, marginals: Any) -> None:
    """P(rank of i = r + 1) = ∫ φ_i e^{−φ_i t} P(r others have arrived by t) dt, by the trapezoid rule in u = log t.

    Others have arrived by t with probabilities q_j = 1 − e^{−φ_j t}, independently; the law of their number is built
    up document by document, and document i taken out again.
    """
    n = len(s)
    arrived, law, without = np.empty(n), np.empty(n + 1), np.empty(n)
    last = int(np.ceil((_LATE - np.min(s)) / step))
    for node in range(int(np.floor((-_EARLY - np.max(s)) / step)), last + 1):
        u, wanted = node * step, False
        for j in range(n):
            arrived[j] = -math.expm1(-math.exp(min(u + s[j], 700.0)))
            wanted |= -_EARLY < u + s[j] < _LATE
        if wanted:
            low, high = count_law(arrived, law)
            for i in range(n):
                x = u + s[i]
                if -_EARLY < x < _LATE:
                    first, end = take_out(law, low, high, arrived[i], without)
                    weight = step * math.exp(x - math.exp(x))
                    for r in range(first, end):
                        marginals[i, r] += weight * without[r]


@kernel
def count_law(q: Any, law: Any) -> Any:
    """The law of how many of n independent events happen, and the first and last number that it counts as possible."""
    law[:] = 0.0
    law[0] = 1.0
    low, high = 0, 0
    for j in range(len(q)):
        high += 1
        for r in range(high, low, -1):
            law[r] += q[j] * (law[r - 1] - law[r])
        law[low] *= 1.0 - q[j]
        while law[high] < _TINY:
            law[high] = 0.0
            high -= 1
        while law[low] < _TINY:
            law[low] = 0.0
            low += 1
    return low, high


@kernel
def take_out(law: Any, low: Any, high: Any, q: Any, without: Any) -> Any:
    """The law without an event of probability q, from the end that divides by the larger of q and 1 − q; its range."""
    first, end, left = max(low - 1, 0), min(high + 1, len(without)), 0.0
    without[first] = 0.0
    without[end - 1] = 0.0
    if q < 0.5:
        odds, scale = q / (1.0 - q), 1.0 / (1.0 - q)
        for r in range(low, end):
            left = law[r] * scale - odds * left
            without[r] = left
    else:
        odds, scale = (1.0 - q) / q, 1.0 / q
        for r in range(min(high, len(without)) - 1, first - 1, -1):
            left = law[r + 1] * scale - odds * left
            without[r] = left
    return first, end
