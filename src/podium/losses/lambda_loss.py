"""LambdaLoss (Wang et al., 2018): pairwise logistic loss with weights that make it a bound of NDCG, or of mean ranks.

>>> from podium.losses import LambdaLoss
>>> round(LambdaLoss()([2.0, 1.0], [0, 1]).value, 4)  # (1 − 1/log2 3) · log(1 + e)
0.4847
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array
from podium.base.errors import DataError, ParameterError
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.jit.sorting import sort_descending
from podium.kernels.blocks import take
from podium.kernels.check_gains import check_gains
from podium.losses.bounds import Bound
from podium.losses.lambdarank import count_pairs
from podium.losses.order_of_ties import order_of_ties
from podium.losses.pair_comparison import ROWS, STEP, WEIGHTS, compare, hand_out, lay_out
from podium.losses.pairs import PairwiseLoss, scale
from podium.metrics.gains import exp2_gain
from podium.metrics.kernels import log2_discount

SCHEME, MU, K, SIGMA = 1, 2, 3, 4
"""Indices in params[0], after normalise."""
NDCG1, NDCG2, NDCG2PP, ARP1, LABEL_DIFF2 = 0, 1, 2, 3, 6
"""Indices of schemes in the options of `scheme`."""
WORTHS, DISCOUNTS, STEPS, FACTORS = range(4)
"""Rows of `parts`."""


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> Any:
    """Σ w_ij log(1 + e^(−σ(s_i − s_j))), with the current w_ij taken as constant in the derivatives.

    Schemes over all i ≠ j compare a pair twice: with the weight of its upper document, then with that of its lower.
    """
    n, all_pairs, value = len(scores), params[0, SCHEME] == NDCG1 or params[0, SCHEME] == ARP1, 0.0
    order, by_score = order_of_ties(scores, labels)
    ideal, rows = np.empty(n), np.zeros((ROWS, n + STEP))
    sort_descending(labels, ideal)
    v, d, steps, factors = parts(take(labels, order), ideal, params)
    near, w = lay_out(scores, order, params[0, SIGMA], rows), rows[WEIGHTS]
    for p in range(n - 1):
        for q in range(p + 1, n):
            w[q] = v[p] * d[p] if all_pairs else (v[p] - v[q]) * (steps[q - p] * factors[q] + abs(d[p] - d[q]))
        value += compare(p, near, rows)
        if all_pairs:
            for q in range(p + 1, n):
                w[q] = -v[q] * d[q]
            value += compare(p, near, rows)
    hand_out(scores, labels, order, by_score, params[0, SIGMA], rows, gradient, curvature)
    return scale(value, n * (n - 1) if all_pairs else count_pairs(ideal), gradient, curvature, params)


@compiled
def parts(ranked: Array, ideal: Array, params: Array) -> Any:
    """Parts of the weights, for labels in rank order: worths v, discounts d, steps by distance, factors by lower rank.

    w = v_i d_i for ndcg1 and arp1, else (v_i − v_j)(step(|r_i − r_j|)·factor(max(r_i, r_j)) + |d_i − d_j|).
    """
    n, scheme, rows = len(ranked), params[0, SCHEME], np.zeros((4, len(ranked)))
    k = params[0, K] if params[0, K] >= 0.0 else float(n)
    d, largest = rows[DISCOUNTS], 0.0
    for p in range(n):
        d[p] = log2_discount(p + 1.0)
        largest += exp2_gain(ideal[p]) * d[p] if p < k else 0.0
    for p in range(n - 1, -1, -1):  # backwards, since a step needs the discount of the rank above
        if scheme <= NDCG2PP:
            rows[WORTHS, p] = exp2_gain(ranked[p]) / largest if largest > 0.0 else 0.0
            rows[STEPS, p] = (d[p - 1] - d[p] if p > 0 else 0.0) * (params[0, MU] if scheme == NDCG2PP else 1.0)
            rows[FACTORS, p] = 1.0 / (1.0 - d[p]) if p >= k else 1.0
            d[p] = d[p] if scheme != NDCG2 and p < k else 0.0
        else:
            rows[WORTHS, p] = ranked[p] * ranked[p] if scheme == LABEL_DIFF2 else ranked[p]
            rows[DISCOUNTS, p], rows[STEPS, p], rows[FACTORS, p] = 1.0, 1.0, 1.0
    return rows[WORTHS], rows[DISCOUNTS], rows[STEPS], rows[FACTORS]


@register
class LambdaLoss(PairwiseLoss):
    """Pairwise logistic loss with weights of the current ranks, which make it a bound of 1 − NDCG or of mean ranks.

    Formula: L = Σ w_ij log(1 + e^(−σ(s_i − s_j))), r being the current ranks, G_i = (2^{y_i} − 1)/ideal DCG@k,
        D(r) = 1/log2(1 + r), δ = |r_i − r_j|. Over y_i > y_j: w = |D(δ) − D(δ + 1)|·|G_i − G_j| (`ndcg2`), multiplied
        by 1/(1 − D(max(r_i, r_j))) where that rank is beyond `k`; μ times this + |D(r_i) − D(r_j)|·|G_i − G_j|
        (`ndcg2++`; LambdaRank for μ = 0); y_i − y_j (`arp2` or `label-diff`); y_i² − y_j² (`label-diff2`). Over all
        i ≠ j: G_i D(r_i) (`ndcg1`); y_i (`arp1`). In ndcg1 and the last term of ndcg2++, D(r) = 0 beyond `k`.
    Ties: documents of equal score are ranked as in lambdarank. Documents of equal grade are compared by `ndcg1` and
        `arp1` only.
    Cost: O(n²) pairs per query, also with a cut-off.
    Use it for: NDCG; `ndcg2++` adds LambdaRank's weights to those of `ndcg2`. `arp1` and `arp2` bound the average rank
        of relevant documents and do not look at ranks. With `k`, pairs beyond it count as well, and more.
    Gradient: of the pair loss with the current w_ij held fixed; exact for `arp1`, `arp2` and `label-diff2`.
    Reference: Wang et al., The LambdaLoss framework for ranking metric optimization, CIKM 2018; `k`: Jagerman et al.,
        On optimizing top-k metrics for neural ranking models, SIGIR 2022.
    """

    scheme: Literal["ndcg1", "ndcg2", "ndcg2++", "arp1", "arp2", "label-diff", "label-diff2"] = "ndcg2"
    """Weights of the pairs; see the formula."""
    mu: float = param(default=10.0, least=0)
    """Weight of ndcg2 within ndcg2++."""
    k: int | None = param(default=None, least=1)
    """Cut-off of NDCG; none by default."""
    sigma: float = param(default=1.0, above=0)
    """Steepness of the logistic loss."""
    grades = staticmethod(over_grades)
    surrogate: ClassVar[str | None] = "the pair loss with the current weights held fixed"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.k is not None and not self._of_ndcg:
            raise ParameterError(f"lambda-loss: scheme={self.scheme} looks at no ranks; leave out k={self.k}.")

    @property
    def _of_ndcg(self) -> bool:
        return self.scheme.startswith("ndcg")

    @property
    def compares_ties(self) -> bool:
        return self.scheme in ("ndcg1", "arp1")

    def bounds(self) -> tuple[Bound, ...]:
        if self.normalise or self.k is not None or not self._of_ndcg:
            return ()
        return (Bound("ndcg", "1 − ndcg ≤ L/ln 2", lambda v, y: 1.0 - v / math.log(2.0)),)

    def kernel_constants(self, labels: Array) -> Array:
        if self._of_ndcg:
            check_gains(self.name, labels)
        elif labels.min(initial=0.0) < 0.0:
            raise DataError(f"{self.name} needs labels of at least 0; got {labels.min():g}. Shift the labels.")
        return super().kernel_constants(labels)

    def objective(self, scores: ArrayLike, labels: ArrayLike) -> Callable[[Array], float]:
        """Pair loss of other scores, with the weights of these."""
        s, y = np.array(scores, np.float64), np.array(labels, np.float64)
        order, n = order_of_ties(s, y)[0], len(s)
        v, d, steps, factors = parts(y[order], -np.sort(-y), self.kernel_constants(y)[None, :])
        p, q = np.indices((n, n))
        gaps = steps[abs(p - q)] * factors[np.maximum(p, q)] + abs(d[p] - d[q])
        weights = v[p] * d[p] * (p != q) if self.compares_ties else np.maximum(v[p] - v[q], 0.0) * gaps
        pairs = n * (n - 1) if self.compares_ties else count_pairs(-np.sort(-y))
        times = 1.0 / pairs if self.normalise and pairs else 1.0

        def fixed(moved: Array) -> float:
            gaps = self.sigma * (moved[order] - moved[order][:, None])  # at [p, q]: of q above p
            return times * float((weights * np.logaddexp(0.0, gaps)).sum())

        return fixed
