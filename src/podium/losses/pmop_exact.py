"""PMOP in its general form, with the exact normaliser: rankings with ties as ordered partitions.

Documents of equal grade form a block; blocks X_1 ≻ … ≻ X_K are chosen one by one from the remaining documents R_k:

    P(X_k | R_k) = Φ(X_k) / Σ_{∅≠S⊆R_k} Φ(S),   Φ(X) = exp(mean of s over X)

The sum over 2^N − 1 subsets, which the paper samples, is Σ_m e_m(e^{s/m}), one elementary symmetric polynomial per size
m, computed by `kernels/subset_sums.py`; `pmop_gibbs.py` and `pmop_mh.py` have the paper's estimates.

>>> from podium.losses import PMOPExact
>>> round(PMOPExact()([2.0, 0.0], [1, 0]).value, 4)  # log(e² + 1 + e) − 2: Davidson's model with ν = 1
0.4076
"""

from __future__ import annotations

from typing import Any

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import register
from podium.distributions import OrderedPartitions
from podium.jit.compiled import compiled
from podium.kernels.blocks import by_grade, take, turn
from podium.kernels.subset_sums import log_sum
from podium.losses.base import Loss


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> Any:
    """Σ_k log Z(R_k) − mean of s over X_k; ∂/∂s_i = Σ_k E[a_i] − 1/|X_k| for i ∈ X_k, a_i = 1/|S| for i ∈ S."""
    sign, n, value, first_place = -1.0 if params[0, 0] else 1.0, len(scores), 0.0, 0
    order, ends = by_grade(turn(labels, sign))
    f = turn(take(scores, order), sign)
    slope, bend, once, twice = np.zeros(n), np.zeros(n), np.empty(n), np.empty(n)
    while first_place < n:
        end = ends[first_place]
        value += log_sum(f[first_place:], once[first_place:], twice[first_place:])
        for p in range(first_place, n):
            slope[p] += once[p]
            bend[p] += max(twice[p] - once[p] * once[p], 0.0)
        for p in range(first_place, end):
            value -= f[p] / (end - first_place)
            slope[p] -= 1.0 / (end - first_place)
        first_place = end
    for p in range(n):
        gradient[order[p]], curvature[order[p]] = sign * slope[p], bend[p]
    return value


@register
class PMOPExact(Loss):
    """Negative log-likelihood of the blocks of equal grades, each chosen by the mean of its scores.

    Formula: L = Σ_k log Z(R_k) − mean of s over X_k, Z(R) = Σ_{∅≠S⊆R} exp(mean of s over S) = Σ_m e_m(e^{s/m}).
        With `backward`, blocks are eliminated from the worst on, by −s: another distribution.
    Ties: modelled; documents of equal grade are one block. A query whose grades are all equal counts too: one block
        has a probability. Without ties this is not Plackett–Luce, since larger blocks are possible; for
        two documents it is Davidson's model with ν = 1.
    Cost: about O(n^1.5) per block for n remaining documents: .8, 2, 5 and 14 ms at n = 100, 200, 400 and 800.
    Use it for: rankings with ties and their probabilities. The size of blocks is a property of the model, not of the
        data: of 150 documents it expects blocks of 75 ± 6, whatever the scores up to a spread of about 50.
    Reference: Truyen, Phung & Venkatesh, Probabilistic models over ordered partitions, SDM 2011.
    """

    backward: bool = False
    """Whether blocks are chosen from the worst on."""
    convex = True
    grades = staticmethod(over_grades)

    def rank_distribution(self) -> tuple[OrderedPartitions, float]:
        return OrderedPartitions(backward=self.backward), 1.0
