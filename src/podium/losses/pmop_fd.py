"""PMOP-FD (Truyen et al., 2011): rankings with ties as ordered partitions, fully decomposed.

Documents of equal grade form a block; blocks X_1 ≻ … ≻ X_K are chosen one after another from what remains, R_k:

    P(X_k | R_k) = Φ(X_k) / Σ_{∅≠S⊆R_k} Φ(S),   Φ(X) = (1/|X|) Σ_{i∈X} φ_i,   φ_i = e^{s_i}

The sum over all subsets is Σ_{R_k} φ times (2^N − 1)/N, N = |R_k|, so a stage costs no more than Plackett–Luce's.
Its law is that of a race whose winner takes others along: the first of what remains to arrive leads a block, whose size
is that of a random subset and whose other members are drawn evenly. See `ordered_partitions.py`.

>>> from podium.losses import PMOPFD
>>> round(PMOPFD()([2.0, 1.0, 1.0], [1, 1, 0]).value, 4)  # −log((e² + e)/(e² + 2e))
0.2382
"""

from __future__ import annotations

import itertools
import math
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium import ranking
from podium.losses import ordered_partitions
from podium.losses.base import Array, kernel
from podium.losses.blocks import by_grade, turn
from podium.losses.distribution import RankingDistribution
from podium.losses.plackett_luce import draw_race, race_law
from podium.registry import register


@kernel
def over_grades(scores: Any, labels: Any, gradient: Any, curvature: Any, params: Any) -> Any:
    """Blocks from the best on; backward, from the worst on, with turned scores."""
    sign = -1.0 if params[0, 0] else 1.0
    value = _forward(turn(scores, sign), turn(labels, sign), gradient, curvature)
    for i in range(len(gradient)):
        gradient[i] *= sign
    return value


@kernel
def _forward(scores: Any, labels: Any, gradient: Any, curvature: Any) -> float:
    """−Σ_k log(Σ_{X_k} φ / Σ_{R_k} φ), with log-sum-exps of blocks and of what remains.

    The gradient is Σ_k p_ik − q_i with p_ik = φ_i/Σ_{R_k} φ and q_i = φ_i/Σ_{X_k} φ; p sums over stages by the
    recursion C_k = 1 + C_{k−1}·e^{L_k − L_{k−1}}, L_k = log Σ_{R_k} φ, in which nothing overflows.
    """
    n = len(scores)
    order, ends = by_grade(labels)
    block, rest = np.empty(n), np.empty(n)  # at each block's first place: log Σ over it, and over what remains
    _log_sums(scores, order, ends, block, rest)
    value, stages, squares, before, start = 0.0, 0.0, 0.0, 0.0, 0
    while start < n:
        end = ends[start]
        shrink = math.exp(rest[start] - before) if start > 0 else 0.0
        last = 0.0 if end == n else 1.0  # the last block is certain, and counts in no sum
        stages, squares = last + stages * shrink, last + squares * shrink * shrink
        value += last * (rest[start] - block[start])
        for p in range(start, end):
            i = order[p]
            e = math.exp(scores[i] - rest[start])
            gradient[i] = stages * e - last * math.exp(scores[i] - block[start])
            curvature[i] = max(stages * e - squares * e * e, 0.0)
        before, start = rest[start], end
    return value


@kernel
def _log_sums(scores: Any, order: Any, ends: Any, block: Any, rest: Any) -> None:
    total, top, end = 0.0, -np.inf, len(order)  # Σ e^{s − top} over what remains
    while end > 0:
        start = end - 1
        while start > 0 and ends[start - 1] == end:
            start -= 1
        high = -np.inf
        for p in range(start, end):
            high = max(high, scores[order[p]])
        inside = 0.0
        for p in range(start, end):
            inside += math.exp(scores[order[p]] - high)
        higher = max(top, high)
        total = total * math.exp(top - higher) + inside * math.exp(high - higher)
        top = higher
        block[start], rest[start] = math.log(inside) + high, math.log(total) + top
        end = start


@register
class PMOPFD(RankingDistribution):
    """The likelihood of the observed blocks of equal grades.

    Formula: L = −Σ_k log(Σ_{X_k} φ / Σ_{R_k} φ), φ = e^s; the constants that scores do not move are left out.
        With `backward`, blocks are eliminated, the worst first, φ = e^{−s}: another law.
    Ties: modelled; documents of equal grade are one block, in which they are not compared.
    Cost: O(n) per query after ordering by grade.
    Use it for: graded labels with many ties, and rankings with ties and their probabilities.
    Curvature: of the denominators alone, a bound, since the numerators bend the other way.
    Reference: Truyen, Phung & Venkatesh, Probabilistic models over ordered partitions, SDM 2011.
    """

    backward: bool = False
    grades = staticmethod(over_grades)
    curvature_is: ClassVar[Literal["exact", "bound"]] = "bound"
    has_ties: ClassVar[bool] = True
    caution: ClassVar[str | None] = ordered_partitions.CAUTION
    most_exact: ClassVar[int] = ordered_partitions.MOST_FOR_SUBSETS

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

    def sample(self, scores: ArrayLike, rng: np.random.Generator, size: int = 1) -> NDArray[np.int64]:
        """Rankings drawn from the law, one per row: a race, whose places then fall into blocks."""  # (size, n)
        race = draw_race(-np.asarray(scores, np.float64) if self.backward else scores, rng, size)
        blocks = np.take_along_axis(ordered_partitions.sample(race.shape[1], rng, size), race - 1, axis=1)
        return blocks.max(axis=1, initial=0, keepdims=True) + 1 - blocks if self.backward else blocks

    def mode(self, scores: ArrayLike) -> NDArray[np.int64]:
        """The most probable ranking; from six documents on it ties all but one, whatever the scores.

        The first block costs 1/(2^n − 1) times its mean φ over the mean of all, at most n/(n − T) if T documents are
        left; these add their own partition's probability, at most 1, ⅔, 2/7, … for T = 1, 2, 3, …. From n = 6 on
        only T = 1 gains by it. Such blocks say little about the documents: the scores are the better order.
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
        if self.backward or not self.knows_ranks(len(s)):
            return super().rank_marginals(s, rng=rng, samples=samples)
        return race_law(s) @ ordered_partitions.block_law(len(s))

    def knows_ranks(self, n: int) -> bool:
        return n <= (self.most_exact if self.backward else ordered_partitions.MOST_FOR_BLOCKS)

    def exact_laws(self, s: Array) -> tuple[Array, Array]:
        """Over all subsets that may remain."""
        turned = -s if self.backward else s
        chosen = ordered_partitions.all_subsets(len(s))[1:]
        logs = np.logaddexp.reduce(np.where(chosen, turned, -np.inf), axis=1) - np.log(chosen.sum(axis=1))
        return ordered_partitions.subset_laws(np.append(0.0, logs), backward=self.backward)
