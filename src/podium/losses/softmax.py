"""Softmax cross entropy: the log-likelihood that each relevant document is first, weighted by its label.

>>> from podium.losses import Softmax
>>> round(Softmax()([2.0, 1.0], [1, 0]).value, 4)  # log(1 + e^−1)
0.3133
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import DataError
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.kernels.blocks import bounds, clear
from podium.kernels.check_gains import check_gains
from podium.kernels.exponentials import exponentials
from podium.kernels.gain_shares import gain_shares
from podium.kernels.sums import add_up
from podium.losses.base import Loss
from podium.losses.bounds import Bound

POLY, ANCHOR = 1, 2
"""Indices in params[0], after the target; the anchor is −1 if there is none."""


@compiled
def _targets(labels: Array, params: Array) -> Array:
    """The labels, or their gain shares."""
    if params[0, 0] == 0.0:
        return labels
    shares = np.empty(len(labels))
    gain_shares(labels, shares)
    return shares


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> Any:
    """−Σ y_i log P_s(i), P_s = softmax(s). A negative y (a document weight) adds |y| to the curvature."""
    labels = _targets(labels, params)
    anchored, anchor = params[0, ANCHOR] >= 0.0, max(params[0, ANCHOR], 0.0)
    total, size = anchor, anchor
    for y in labels:
        total += y
        size += abs(y)
    if size == 0.0:
        clear(gradient, curvature)
        return 0.0
    top = max(bounds(scores)[1], 0.0) if anchored else bounds(scores)[1]
    exponentials(scores, top, 1.0, curvature)
    over = add_up(curvature) + (math.exp(-top) if anchored else 0.0)
    log_over = math.log(over)
    value = anchor * (log_over + top)
    for i in range(len(scores)):
        p = curvature[i] / over
        value += labels[i] * (log_over + (top - scores[i]))
        gradient[i] = total * p - labels[i]
        curvature[i] = size * p * (1.0 - p)
    if params[0, POLY] != 0.0:
        hit = anchor / total * (math.exp(-top) / over) if anchored else 0.0
        value += _add_poly(labels, hit, total, size, params[0, POLY], gradient, curvature)
    return value


@compiled
def _add_poly(
    labels: Array, hit: float, total: float, size: float, epsilon: float, gradient: Array, curvature: Array
) -> float:  # fmt: skip
    """ε(1 − Σ (y_i/Σy) p_i), whose second derivative is ε p(1 − p) at most; p = (gradient + y)/Σy.

    `hit` is the term of the anchor in the sum.
    """
    mean = hit
    for i in range(len(labels)):
        mean += labels[i] / total * ((gradient[i] + labels[i]) / total)
    for i in range(len(labels)):
        p = (gradient[i] + labels[i]) / total
        gradient[i] -= epsilon * p * (labels[i] / total - mean)
        curvature[i] *= 1.0 + epsilon / size
    return epsilon * (1.0 - mean)


@compiled
def hessian_product_grades(scores: Array, labels: Array, direction: Array, out: Array, params: Array) -> float:
    """Hessian product: Σy·(p_i v_i − p_i Σ p_j v_j)."""
    labels = _targets(labels, params)
    anchored, mean = params[0, ANCHOR] >= 0.0, 0.0
    total = max(params[0, ANCHOR], 0.0)
    if len(scores) == 0:
        return 0.0
    top = max(bounds(scores)[1], 0.0) if anchored else bounds(scores)[1]
    exponentials(scores, top, 1.0, out)
    over = add_up(out) + (math.exp(-top) if anchored else 0.0)
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
        (2^{y_i} − 1)/IDCG, the gain over the ideal DCG of the query. `poly` ε adds ε(1 − Σ (y_i/Σy) ρ_i),
        ρ = softmax(s). With `anchor` y₀, a document of score 0 and label y₀ joins each query, so that
        e^{s_i}/(1 + Σ_j e^{s_j}) means a share (calibrated softmax).
    Ties: documents of equal label are treated alike; a query whose labels are all 0 contributes 0.
    Cost: O(n) per query.
    Use it for: clicks and other binary labels. ListNet compares softmax(s) with softmax(y) instead,
        in which a document of label 0 has a positive probability. With gain shares, the best scores rank as NDCG
        does, even if grades are not a function of the features. With an anchor, scores of different queries can be
        compared; a query without a relevant document then counts as well.
    Curvature: with `poly` a bound, since the second derivative of its term has both signs.
    Reference: Bruch et al., An analysis of the softmax cross entropy loss for learning-to-rank with binary relevance,
        ICTIR 2019; gain shares: Ravikumar, Tewari & Yang, On NDCG consistency of listwise ranking methods, AISTATS
        2011; poly: Leng et al., PolyLoss, ICLR 2022; anchor: Yan et al., Scale calibration of deep ranking models, KDD
        2022.
    """

    target: Literal["label", "gain-share"] = "label"
    """What a document counts: its label, or its gain over the ideal DCG of the query."""
    poly: float = param(default=0.0, least=0)
    """Weight of the term ε(1 − Σ (y_i/Σy)·softmax(s)_i)."""
    anchor: float | None = param(default=None, least=0)
    """Label of a document of score 0 that joins each query, so that scores of queries can be compared."""
    grades = staticmethod(over_grades)

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
        if not self._plain:
            return ()
        return ("ndcg",) if self.target == "gain-share" else ("dcg[linear]",)

    @property
    def linear_in_labels(self) -> bool:  # type: ignore[override]
        return self.target == "label" and self._plain

    @property
    def offsets_are_exact(self) -> bool:
        return self._plain

    @property
    def _plain(self) -> bool:
        return self.poly == 0.0 and self.anchor is None

    @property
    def grades_product(self) -> Any:
        """Kernel of the Hessian product on grades."""
        return hessian_product_grades if self.poly == 0.0 else None

    @property
    def convex(self) -> bool:  # type: ignore[override]
        return self.poly == 0.0

    @property
    def shift_invariant(self) -> bool:  # type: ignore[override]
        return self.anchor is None

    @property
    def signed(self) -> bool:  # type: ignore[override]
        return self.anchor is not None

    @property
    def curvature_is(self) -> Literal["exact", "bound"]:  # type: ignore[override]
        return "exact" if self.poly == 0.0 else "bound"
