"""Ordered partitions: rankings with ties whose blocks are chosen one by one, P(X | R) = e^{mean of s over X} / Z(R)."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array, Flags, Ints
from podium.base.registry import register
from podium.distributions.base import RankingDistribution
from podium.distributions.subsets import CAUTION, MOST_FOR_SUBSETS, all_subsets, subset_marginals
from podium.jit import sorting as ranking
from podium.jit.compiled import compiled
from podium.kernels.subset_sums import log_sizes, log_sum, probabilities


@register
class OrderedPartitions(RankingDistribution):
    """Ordered partitions in their general form; with `backward`, blocks are eliminated from the worst on, by −s."""

    backward: bool = False
    """Whether blocks are chosen from the worst on."""
    has_ties: ClassVar[bool] = True
    caution: ClassVar[str | None] = CAUTION
    max_exact_n: ClassVar[int] = MOST_FOR_SUBSETS
    max_sampled_n: ClassVar[int] = 2_000

    def log_prob(self, scores: ArrayLike, ranks: ArrayLike) -> float:
        """Σ_k mean of s over X_k − log Z(R_k)."""
        s, places = self._checked(scores, ranks)
        if self.backward:
            s, places = -s, _turned(places)
        blocks = range(1, int(places.max(initial=0)) + 1)
        return float(sum(s[places == place].mean() - _log_z(s[places >= place]) for place in blocks))

    def sample(self, scores: ArrayLike, rng: np.random.Generator, size: int = 1) -> Ints:
        """Sample rankings, one per row: for each block its size, then that many documents."""
        s = np.array(scores, np.float64) * (-1 if self.backward else 1)
        drawn, block = np.zeros((size, len(s)), np.int64), 0  # (size, n)
        while (drawn == 0).any():
            block += 1
            _draw_blocks(rng, s, *_alike(drawn == 0), block, drawn)
        return np.stack([_turned(row) for row in drawn]) if self.backward and size else drawn

    def mode(self, scores: ArrayLike) -> Ints:
        """Most probable of the rankings whose blocks follow the order of scores."""
        s = np.array(scores, np.float64) * (-1 if self.backward else 1)
        order, n = ranking.order(s), len(s)
        ends, best, total = np.zeros(n, np.int64), np.zeros(n + 1), np.append(0.0, np.cumsum(s[order]))
        for a in range(n - 1, -1, -1):
            b = np.arange(a + 1, n + 1)
            gains = (total[b] - total[a]) / (b - a) + best[b]
            ends[a], best[a] = b[gains.argmax()], gains.max() - _log_z(s[order[a:]])
        places, a, block = np.zeros(n, np.int64), 0, 0
        while a < n:
            block += 1
            places[order[a : ends[a]]] = block
            a = int(ends[a])
        return _turned(places) if self.backward else places

    def exact_marginals(self, s: Array) -> tuple[Array, Array]:
        """Sums over all subsets that may remain."""
        chosen = all_subsets(len(s))
        means = chosen @ (-s if self.backward else s) / np.maximum(chosen.sum(axis=1), 1)
        return subset_marginals(means, backward=self.backward)


def _turned(places: Ints) -> Ints:
    """Reverse the ranks."""
    return np.asarray(places.max(initial=0) + 1 - places)


def _log_z(s: Array) -> float:
    return log_sum(s, *_NO_MOMENTS)


_NO_MOMENTS = np.empty(0), np.empty(0)


def _alike(left: Flags) -> tuple[Ints, Ints]:
    """Rows sorted so that equal ones are together, and the end of each group."""
    _, group, counts = np.unique(np.packbits(left, axis=1), axis=0, return_inverse=True, return_counts=True)
    return ranking.order(-group.ravel()), np.cumsum(counts)


@compiled
def _draw_blocks(rng: np.random.Generator, s: Array, rows: Ints, ends: Ints, block: int, places: Ints) -> None:
    """Draw the next block of each row; if the same documents remain, sizes have the same distribution."""
    first, no_moments = 0, np.empty(0)
    for end in ends:
        left = np.flatnonzero(places[rows[first]] == 0)
        if len(left) > 0:
            f, logs = s[left], np.empty(len(left) + 1)
            log_sizes(f, logs, no_moments, no_moments)
            for k in range(first, end):
                inside = _draw_subset(rng, f, _draw_size(rng, logs))
                for i in range(len(left)):
                    if inside[i]:
                        places[rows[k], left[i]] = block
        first = end


@compiled
def _draw_size(rng: np.random.Generator, logs: Array) -> int:
    high, total = np.max(logs[1:]), 0.0
    for x in logs[1:]:
        total += math.exp(x - high)
    rest = rng.random() * total
    for m in range(1, len(logs)):
        rest -= math.exp(logs[m] - high)
        if rest < 0.0:
            return m
    return int(np.argmax(logs[1:])) + 1


@compiled
def _draw_subset(rng: np.random.Generator, f: Array, m: int) -> Any:
    """Subset of m documents, P ∝ e^{Σ f/m}: independent draws with probabilities p, until they are m."""
    inside = np.ones(len(f), np.bool_)
    if m == len(f):
        return inside
    p, count = probabilities(f, m), 0
    while count != m:
        count = 0
        for i in range(len(f)):
            inside[i] = rng.random() < p[i]
            count += inside[i]
    return inside
