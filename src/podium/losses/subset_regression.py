"""Subset regression (Cossock & Zhang, 2006): squared error that counts more for the best documents of a query.

>>> from podium.losses import SubsetRegression
>>> SubsetRegression(top=1)([2.0, 1.0], [1, 0]).value  # (2 − 1)² + 0.2·(1 − 0)²
1.2
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from podium.arrays import Array
from podium.compiled import compiled
from podium.kernels.blocks import by_grade
from podium.kernels.gains import check_gains
from podium.losses.base import Loss
from podium.metrics.kernels import exp2_gain
from podium.registry import param, register


@compiled
def over_grades(scores: Any, labels: Any, gradient: Any, curvature: Any, params: Any) -> float:
    """Σ w_i (s_i − g_i)², g = y or 2^y − 1."""
    order, ends = by_grade(labels)
    _weights(order, ends, curvature, params)
    value = 0.0
    for i in range(len(scores)):
        target = labels[i] if params[0, 0] == 0.0 else exp2_gain(labels[i])
        error = scores[i] - target
        value += 0.5 * curvature[i] * error * error
        gradient[i] = curvature[i] * error
    return value


@compiled
def _weights(order: Any, ends: Any, double: Any, params: Any) -> None:
    """2w_i: w is 1 for the first `top` places by grade and `rest` below; a block across the border shares both."""
    top, rest, start = params[0, 1], params[0, 2], 0
    while start < len(order):
        end = ends[start]
        inside = min(max((top - start) / (end - start), 0.0), 1.0)
        for p in range(start, end):
            double[order[p]] = 2.0 * (inside + (1.0 - inside) * rest)
        start = end


@compiled
def hessian_product_grades(scores: Any, labels: Any, direction: Any, out: Any, params: Any) -> float:
    """Hv: 2w_i·v_i."""
    order, ends = by_grade(labels)
    _weights(order, ends, out, params)
    for i in range(len(out)):
        out[i] *= direction[i]
    return 0.0


@register
class SubsetRegression(Loss):
    """Squared error between each score and its document's grade or gain, weighted towards the top of the list.

    Formula: L = Σ w_i (s_i − g_i)², with g_i = y_i (`target=label`) or 2^{y_i} − 1 (`target=gain`), and w_i = 1 for the
        `top` best documents of the query, `rest` for the others.
    Ties: documents of equal grade share a weight: the mean of those of the places they fill.
    Cost: O(n) per query after ordering by grade.
    Use it for: regression where only the first page matters. The paper also bounds low documents from one side; here
        they keep their square, with a smaller weight.
    Reference: Cossock & Zhang, Subset ranking using regression, COLT 2006.
    """

    target: Literal["label", "gain"] = "label"
    top: int = param(default=10, least=1)
    rest: float = param(default=0.2, least=0)
    convex = True
    grades = staticmethod(over_grades)
    grades_product = staticmethod(hessian_product_grades)
    shift_invariant: ClassVar[bool] = False

    def kernel_constants(self, labels: Array) -> Array:
        if self.target == "gain":
            check_gains(self.name, labels, negative=True)
        return super().kernel_constants(labels)
