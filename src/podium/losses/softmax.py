"""Softmax cross entropy: the log-likelihood that each relevant document is first, weighted by its label.

>>> from podium.losses import Softmax
>>> round(Softmax()([2.0, 1.0], [1, 0]).value, 4)  # log(1 + e^−1)
0.3133
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import DataError
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.kernels.blocks import bounds, clear
from podium.kernels.check_gains import check_gains
from podium.kernels.exponentials import exponentials
from podium.kernels.gain_shares import gain_shares
from podium.kernels.sums import add_up
from podium.losses.base import Loss
from podium.losses.bounds import Bound


@compiled
def _targets(labels: Array, params: Array) -> Array:
    """The labels, or their gain shares."""
    if params[0, 0] == 0.0:
        return labels
    shares = np.empty(len(labels))
    gain_shares(labels, shares)
    return shares


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """−Σ y_i log P_s(i), P_s = softmax(s). A negative y (a document weight) adds |y| to the curvature."""
    labels = _targets(labels, params)
    total, size = 0.0, 0.0
    for y in labels:
        total += y
        size += abs(y)
    if size == 0.0:
        clear(gradient, curvature)
        return 0.0
    _, top = bounds(scores)
    exponentials(scores, top, 1.0, curvature)
    over = add_up(curvature)
    value, log_over = 0.0, math.log(over)
    for i in range(len(scores)):
        p = curvature[i] / over
        value += labels[i] * (log_over + (top - scores[i]))
        gradient[i] = total * p - labels[i]
        curvature[i] = size * p * (1.0 - p)
    return value


@compiled
def hessian_product_grades(scores: Array, labels: Array, direction: Array, out: Array, params: Array) -> float:
    """Hessian product: Σy·(p_i v_i − p_i Σ p_j v_j)."""
    labels = _targets(labels, params)
    total, mean = 0.0, 0.0
    if len(scores) == 0:
        return 0.0
    _, top = bounds(scores)
    exponentials(scores, top, 1.0, out)
    over = add_up(out)
    for i in range(len(scores)):
        total += labels[i]
        mean += out[i] / over * direction[i]
    for i in range(len(scores)):
        out[i] = total * out[i] / over * (direction[i] - mean)
    return 0.0


@register
class Softmax(Loss):
    """Cross entropy between labels and the softmax of the scores: each relevant document should be first.

    Formula: L = −Σ y_i log(e^{s_i}/Σ_j e^{s_j}), y ≥ 0. It is linear in the labels, so that document weights, such as
        clicks over propensities, take the place of labels in one pass. With `target=gain-share`, y_i is replaced by
        (2^{y_i} − 1)/IDCG, the gain over the ideal DCG of the query.
    Ties: documents of equal label are treated alike; a query whose labels are all 0 contributes 0.
    Cost: O(n) per query.
    Use it for: clicks and other binary labels. ListNet compares softmax(s) with softmax(y) instead,
        in which a document of label 0 has a positive probability. With gain shares, the best scores rank as NDCG
        does, even if grades are not a function of the features.
    Reference: Bruch et al., An analysis of the softmax cross entropy loss for learning-to-rank with binary relevance,
        ICTIR 2019; gain shares: Ravikumar, Tewari & Yang, On NDCG consistency of listwise ranking methods, AISTATS
        2011.
    """

    target: Literal["label", "gain-share"] = "label"
    convex = True
    grades = staticmethod(over_grades)
    grades_product = staticmethod(hessian_product_grades)

    def kernel_constants(self, labels: Array) -> Array:
        if self.target == "gain-share":
            check_gains(self.name, labels)
        low = labels.min(initial=0.0)
        if low < 0.0:
            raise DataError(f"{self.name} needs labels of at least 0; got {low:g}. Shift the labels.")
        return super().kernel_constants(labels)

    def bounds(self) -> tuple[Bound, ...]:
        def least(value: float, labels: Array) -> float:
            return math.exp(-value)

        if self.target == "gain-share":
            return (Bound("ndcg", "−ln ndcg ≤ L", least),)
        two = {"two_grades": True}
        return Bound("ndcg", "−ln ndcg ≤ L", least, **two), Bound("mrr", "−ln mrr ≤ L", least, **two)

    def consistent_for(self) -> tuple[str, ...]:
        return ("ndcg",) if self.target == "gain-share" else ("dcg[linear]",)

    @property
    def linear_in_labels(self) -> bool:  # type: ignore[override]
        return self.target == "label"

    @property
    def offsets_are_exact(self) -> bool:
        return True
