"""Ordered partitions, fully decomposed (PMOP-FD): blocks of tied documents chosen one by one by the mean of φ = e^s.

    P(X_k | R_k) = Φ(X_k) / Σ_{∅≠S⊆R_k} Φ(S),   Φ(X) = (1/|X|) Σ_{i∈X} φ_i

It is a race whose winner takes others along: the first remaining document to arrive leads a block, whose size is that
of a random subset and whose other members are drawn uniformly (`subsets.py`).
"""

from __future__ import annotations

import itertools
import math
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.distributions import subsets
from podium.distributions.base import RankingDistribution
from podium.distributions.race import race_marginals, sample_race
from podium.jit import sorting as ranking


@register
class OrderedPartitionsFD(RankingDistribution):
    """Distribution that pmop-fd trains; with `backward`, blocks are eliminated from the worst on, φ = e^{−s}."""

    backward: bool = False
    """Whether blocks are chosen from the worst on."""
    has_ties: ClassVar[bool] = True
    caution: ClassVar[str | None] = subsets.CAUTION
    max_exact_n: ClassVar[int] = subsets.MOST_FOR_SUBSETS

    def log_prob(self, scores: ArrayLike, ranks: ArrayLike) -> float:
        """Σ_k log(mean of φ over X_k / mean of φ over R_k) − log(2^{N_k} − 1)."""
        s, places = self._checked(scores, ranks)
        if self.backward:
            s, places = -s, places.max(initial=0) + 1 - places
        total, rest, left = 0.0, -np.inf, 0
        for place in range(int(places.max(initial=0)), 0, -1):
            block = s[places == place]
            inside = float(np.logaddexp.reduce(block))
            rest, left = float(np.logaddexp(rest, inside)), left + len(block)
            subsets = left * math.log(2.0) + math.log1p(-(2.0**-left))
            total += inside - math.log(len(block)) - rest + math.log(left) - subsets
        return total

    def sample(self, scores: ArrayLike, rng: np.random.Generator, size: int = 1) -> Ints:
        """Sample rankings, one per row: a race, whose order is then cut into blocks."""  # (size, n)
        race = sample_race(-np.asarray(scores, np.float64) if self.backward else scores, rng, size)
        blocks = np.take_along_axis(subsets.sample(race.shape[1], rng, size), race - 1, axis=1)
        return blocks.max(axis=1, initial=0, keepdims=True) + 1 - blocks if self.backward else blocks

    def mode(self, scores: ArrayLike) -> Ints:
        """Most probable ranking; from six documents on it ties all but one, whatever the scores.

        The first block has the factor 1/(2^n − 1) × its mean φ over the mean of all, at most n/(n − T) if T documents
        remain; their partition has a probability of at most 1, ⅔, 2/7, … for T = 1, 2, 3, …. From n = 6 on only T = 1
        is worth it. Such blocks say little about the documents: prefer the order of scores.
        """
        s = np.asarray(scores, np.float64)
        n = len(s)
        if n > 5:
            places = np.full(n, 2 if self.backward else 1, np.int64)
            places[ranking.order(s)[0 if self.backward else -1]] = 1 if self.backward else 2
            return places
        ways = itertools.product(range(1, n + 1), repeat=n)
        dense = [way for way in ways if len(set(way)) == max(way, default=0)]
        return np.array(max(dense, key=lambda way: self.log_prob(s, way)), np.int64)

    def rank_marginals(
        self, scores: ArrayLike, *, rng: np.random.Generator | None = None, samples: int = 10_000
    ) -> Array:
        """P(document i has rank r + 1) at [i, r]: exact up to 150 documents, Σ_p P(i arrives at p)·P(p in block r).

        Backward, exact up to 12 documents, since ranks then depend on the number of blocks.
        """
        s = np.array(scores, np.float64)
        if self.backward or not self.has_exact_marginals(len(s)):
            return super().rank_marginals(s, rng=rng, samples=samples)
        return race_marginals(s) @ subsets.block_sizes(len(s))

    def has_exact_marginals(self, n: int) -> bool:
        return n <= (self.max_exact_n if self.backward else subsets.MOST_FOR_BLOCKS)

    def exact_marginals(self, s: Array) -> tuple[Array, Array]:
        """Sums over all subsets that may remain."""
        turned = -s if self.backward else s
        chosen = subsets.all_subsets(len(s))[1:]
        logs = np.logaddexp.reduce(np.where(chosen, turned, -np.inf), axis=1) - np.log(chosen.sum(axis=1))
        return subsets.subset_marginals(np.append(0.0, logs), backward=self.backward)
