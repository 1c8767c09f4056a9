"""PMOP-FD (Truyen et al., 2011): rankings with ties as ordered partitions, fully decomposed.

Documents of equal grade form a block; blocks X_1 ≻ … ≻ X_K are chosen one by one from the remaining documents R_k:

    P(X_k | R_k) = Φ(X_k) / Σ_{∅≠S⊆R_k} Φ(S),   Φ(X) = (1/|X|) Σ_{i∈X} φ_i,   φ_i = e^{s_i}

The sum over all subsets is Σ_{R_k} φ times (2^N − 1)/N, N = |R_k|, so a stage costs no more than Plackett–Luce's.
The distribution is in `podium.distributions.ordered_partitions_fd`.

>>> from podium.losses import PMOPFD
>>> round(PMOPFD()([2.0, 1.0, 1.0], [1, 1, 0]).value, 4)  # −log((e² + e)/(e² + 2e))
0.2382
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.distributions import OrderedPartitionsFD
from podium.jit.compiled import compiled
from podium.kernels.blocks import by_grade, turn
from podium.losses.base import Loss


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> Any:
    """Blocks from the best on; with `backward` from the worst on, scores negated."""
    sign = -1.0 if params[0, 0] else 1.0
    value = _forward(turn(scores, sign), turn(labels, sign), gradient, curvature)
    for i in range(len(gradient)):
        gradient[i] *= sign
    return value


@compiled
def _forward(scores: Array, labels: Array, gradient: Array, curvature: Array) -> float:
    """−Σ_k log(Σ_{X_k} φ / Σ_{R_k} φ), by log-sum-exps over blocks and over the remaining documents.

    The gradient is Σ_k p_ik − q_i with p_ik = φ_i/Σ_{R_k} φ and q_i = φ_i/Σ_{X_k} φ; p sums over stages by the
    recursion C_k = 1 + C_{k−1}·e^{L_k − L_{k−1}}, L_k = log Σ_{R_k} φ, in which nothing overflows.
    """
    n = len(scores)
    order, ends = by_grade(labels)
    block, rest = np.empty(n), np.empty(n)  # at the first index of each block: log Σ over it, and over the rest
    _log_sums(scores, order, ends, block, rest)
    value, stages, squares, before, start = 0.0, 0.0, 0.0, 0.0, 0
    while start < n:
        end = ends[start]
        shrink = math.exp(rest[start] - before) if start > 0 else 0.0
        last = 0.0 if end == n else 1.0  # the last block has probability 1
        stages, squares = last + stages * shrink, last + squares * shrink * shrink
        value += last * (rest[start] - block[start])
        for p in range(start, end):
            i = order[p]
            e = math.exp(scores[i] - rest[start])
            gradient[i] = stages * e - last * math.exp(scores[i] - block[start])
            curvature[i] = max(stages * e - squares * e * e, 0.0)
        before, start = rest[start], end
    return value


@compiled
def _log_sums(scores: Array, order: Ints, ends: Ints, block: Array, rest: Array) -> None:
    total, top, end = 0.0, -np.inf, len(order)  # Σ e^{s − top} over the remaining documents
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
class PMOPFD(Loss):
    """Negative log-likelihood of the blocks of equal grades.

    Formula: L = −Σ_k log(Σ_{X_k} φ / Σ_{R_k} φ), φ = e^s; constants are left out.
        With `backward`, blocks are eliminated from the worst on, φ = e^{−s}: another distribution.
    Ties: modelled; documents of equal grade are one block, in which they are not compared.
    Cost: O(n) per query after ordering by grade.
    Use it for: graded labels with many ties, and rankings with ties and their probabilities.
    Curvature: of the denominators alone, a bound, since the numerators have the other sign.
    Reference: Truyen, Phung & Venkatesh, Probabilistic models over ordered partitions, SDM 2011.
    """

    backward: bool = False
    """Whether blocks are chosen from the worst on."""
    grades = staticmethod(over_grades)
    curvature_is: ClassVar[Literal["exact", "bound"]] = "bound"

    @property
    def offsets_are_exact(self) -> bool:
        return not self.backward  # for one relevant document it is the softmax

    def rank_distribution(self) -> tuple[OrderedPartitionsFD, float]:
        return OrderedPartitionsFD(backward=self.backward), 1.0
