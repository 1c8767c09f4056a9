"""Regression on grades: the pointwise squared error of scores.

>>> from podium.losses import Regression
>>> Regression()([2.0, 1.0], [1, 0]).value  # (2 − 1)² + (1 − 0)²
2.0
"""

from __future__ import annotations

from typing import ClassVar, Literal

from podium.base.arrays import Array
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.kernels.check_gains import check_gains
from podium.kernels.gain_shares import gain_shares
from podium.losses.base import Loss
from podium.losses.bounds import Bound, squared_error_bound
from podium.metrics.gains import exp2_gain

_GAIN, _GAIN_SHARE = 1.0, 2.0


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """Σ (s_i − g_i)², g = y, 2^y − 1 or (2^y − 1)/IDCG."""
    value = 0.0
    if params[0, 0] == _GAIN_SHARE:
        gain_shares(labels, curvature)
    for i in range(len(scores)):
        target = labels[i]
        if params[0, 0] == _GAIN:
            target = exp2_gain(labels[i])
        elif params[0, 0] == _GAIN_SHARE:
            target = curvature[i]
        error = scores[i] - target
        value += error * error
        gradient[i] = 2.0 * error
        curvature[i] = 2.0
    return value


@compiled
def hessian_product_grades(scores: Array, labels: Array, direction: Array, out: Array, params: Array) -> float:
    """Hessian product: 2v."""
    for i in range(len(out)):
        out[i] = 2.0 * direction[i]
    return 0.0


@register
class Regression(Loss):
    """Squared error between each score and its document's grade, or its gain.

    Formula: L = Σ (s_i − g_i)², with g_i = y_i (`target=label`), 2^{y_i} − 1 (`target=gain`), or (2^{y_i} − 1)/IDCG,
        the gain over the ideal DCG of the query (`target=gain-share`).
    Ties: none; documents are not compared.
    Cost: O(n) per query.
    Use it for: a baseline, and scores on the scale of grades. It fits levels, not the order. With gain shares, the
        expected grades decide as NDCG does, even if they are not a function of the features.
    Reference: Cossock & Zhang, Subset ranking using regression, COLT 2006; gain shares: Ravikumar, Tewari & Yang, On
        NDCG consistency of listwise ranking methods, AISTATS 2011.
    """

    target: Literal["label", "gain", "gain-share"] = "label"
    """What a score should be: the grade, its gain 2^y − 1, or the gain over the ideal DCG of the query."""
    convex = True
    grades = staticmethod(over_grades)
    grades_product = staticmethod(hessian_product_grades)
    shift_invariant: ClassVar[bool] = False

    @property
    def fits_grades(self) -> bool:  # type: ignore[override]
        return self.target == "label"

    def bounds(self) -> tuple[Bound, ...]:
        return (squared_error_bound(),) if self.target == "gain" else ()

    def consistent_for(self) -> tuple[str, ...]:
        return {"label": ("dcg[linear]",), "gain": ("dcg",), "gain-share": ("ndcg",)}[self.target]

    def kernel_constants(self, labels: Array) -> Array:
        if self.target != "label":
            check_gains(self.name, labels, negative=self.target == "gain")
        return super().kernel_constants(labels)
