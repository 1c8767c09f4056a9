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
from podium.losses.base import Loss
from podium.metrics.gains import exp2_gain


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """Σ (s_i − g_i)², g = y or 2^y − 1."""
    value = 0.0
    for i in range(len(scores)):
        target = labels[i] if params[0, 0] == 0.0 else exp2_gain(labels[i])
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

    Formula: L = Σ (s_i − g_i)², with g_i = y_i (`target=label`) or 2^{y_i} − 1 (`target=gain`).
    Ties: none; documents are not compared.
    Cost: O(n) per query.
    Use it for: a baseline, and scores on the scale of grades. It fits levels, not the order.
    Reference: Cossock & Zhang, Subset ranking using regression, COLT 2006.
    """

    target: Literal["label", "gain"] = "label"
    convex = True
    grades = staticmethod(over_grades)
    grades_product = staticmethod(hessian_product_grades)
    shift_invariant: ClassVar[bool] = False

    def kernel_constants(self, labels: Array) -> Array:
        if self.target == "gain":
            check_gains(self.name, labels, negative=True)
        return super().kernel_constants(labels)
