"""Plackett–Luce: ranks are filled from the top, each with P(i) = φ_i / Σ φ over the remaining documents.

Documents race: with arrival times T_i ~ Exp(φ_i), φ = e^s, the order of arrival has this distribution. ListNet
and ListMLE maximise its likelihood, so their models have this distribution.

>>> import numpy as np
>>> from podium.distributions import PlackettLuce
>>> PlackettLuce().rank_marginals(np.log([2.0, 1.0, 1.0]))[0].round(4)  # ½, then ½ · ⅔
array([0.5   , 0.3333, 0.1667])
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array, Ints
from podium.base.errors import DataError
from podium.base.registry import register
from podium.distributions.base import RankingDistribution
from podium.distributions.graded_race import group_by_grade, log_prob_of_grades
from podium.distributions.race import closed_up, race_marginals, sample_race
from podium.distributions.race_moments import race_cdf, race_summary
from podium.jit import sorting as ranking

if TYPE_CHECKING:
    from podium.distributions.rank_summary import RankSummary


@register
class PlackettLuce(RankingDistribution):
    """Plackett–Luce distribution over strict rankings: P(π) = Π_k φ_{π(k)} / Σ_{l ≥ k} φ_{π(l)}, φ = e^s."""

    def log_prob(self, scores: ArrayLike, ranks: ArrayLike) -> float:
        """Σ_k s_{π(k)} − log Σ_{l ≥ k} φ_{π(l)}; ties have probability 0 and are refused."""
        s, places = self._checked(scores, ranks)
        worst_first = s[ranking.order(places)]
        return float(np.sum(worst_first - np.logaddexp.accumulate(worst_first))) if len(s) else 0.0

    def log_prob_of_grades(self, scores: ArrayLike, labels: ArrayLike) -> float:
        """Log-probability that documents come in the order of grades, in any order within a grade."""
        s, y = np.array(scores, np.float64), np.array(labels, np.float64)
        if s.ndim != 1 or s.shape != y.shape:
            raise DataError(f"{self.name}: labels of shape {y.shape} for scores of shape {s.shape}.")
        return float(self.likelihood_of_grades(y, np.array([0, len(s)]))(s)[0])

    def likelihood_of_grades(self, labels: Array, offsets: Ints) -> Callable[[Array], Array]:
        """Function from the scores of many queries (N,) to the `log_prob_of_grades` of each (Q,)."""
        return functools.partial(log_prob_of_grades, grades=group_by_grade(labels, offsets), queries=len(offsets) - 1)

    def sample(self, scores: ArrayLike, rng: np.random.Generator, size: int = 1) -> Ints:
        """Sample rankings, one per row: the order of s_i plus Gumbel noise."""  # (size, n)
        return sample_race(scores, rng, size)

    def mode(self, scores: ArrayLike) -> Ints:
        """Order of scores; equal ones in input order."""
        return ranking.ordinal_ranks(scores)

    def rank_marginals(
        self, scores: ArrayLike, *, rng: np.random.Generator | None = None, samples: int = 10_000
    ) -> Array:
        """P(document i has rank r + 1) at [i, r], by an integral over its time of arrival, accurate to 1e−10."""
        return race_marginals(scores)

    def has_exact_marginals(self, n: int) -> bool:
        return n <= MAX_EXACT_N

    def summary(self, scores: ArrayLike, *, level: float = 0.9) -> RankSummary:
        """P(first), expected rank and interval of each document; for more than 300, intervals by moments."""
        from scipy.special import softmax

        s = np.array(scores, np.float64)
        short = (
            super().summary(s, level=level) if self.has_exact_marginals(len(s)) else race_summary(closed_up(s), level)
        )
        return replace(short, first=softmax(s)) if len(s) else short

    def rank_cdf(self, scores: ArrayLike, ranks: Ints) -> Array:
        """P(document i has rank ranks[i, c] or a better one) at [i, c]; for more than 300 documents by moments."""
        s = np.array(scores, np.float64)
        return super().rank_cdf(s, ranks) if self.has_exact_marginals(len(s)) else race_cdf(closed_up(s), ranks)

    def prefers(self, scores: ArrayLike, *, rng: np.random.Generator | None = None, samples: int = 10_000) -> Array:
        """P(document i comes before document j) = φ_i/(φ_i + φ_j)."""
        from scipy.special import expit

        s = np.asarray(scores, np.float64)
        before: Array = expit(s[:, None] - s)
        np.fill_diagonal(before, 0.0)
        return before


MAX_EXACT_N = 300
"""Largest number of documents whose exact rank marginals are fast."""
