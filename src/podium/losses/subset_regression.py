"""Subset regression (Cossock & Zhang, 2006): squared error, weighted towards the best documents of a query.

>>> from podium.losses import SubsetRegression
>>> SubsetRegression(top=1)([2.0, 1.0], [1, 0]).value  # (2 − 1)² + 0.2·(1 − 0)²
1.2
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.kernels.blocks import by_grade
from podium.kernels.check_gains import check_gains
from podium.losses.base import Loss
from podium.metrics.gains import exp2_gain

TARGET, TOP, REST, OTHERS = 0, 1, 2, 3  # indices in params[0]
LABEL, CEILING = 0.0, 1.0


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """Σ (s_i − g_i)² over the top, and over the others `rest` times (s_i − g_i)² or [s_i − δ]_+²."""
    value = 0.0
    inside, ceiling = _inside(labels, params)
    for i in range(len(scores)):
        error = scores[i] - _target(labels[i], params)
        above = max(scores[i] - ceiling, 0.0) if params[0, OTHERS] == CEILING else error
        outside = (1.0 - inside[i]) * params[0, REST]
        value += inside[i] * error * error + outside * above * above
        gradient[i] = 2.0 * (inside[i] * error + outside * above)
        curvature[i] = 2.0 * (inside[i] + (outside if above != 0.0 else 0.0))
    return value


@compiled
def _target(label: float, params: Array) -> Any:
    return label if params[0, TARGET] == LABEL else exp2_gain(label)


@compiled
def _inside(labels: Array, params: Array) -> Any:
    """Share of each document in the `top` best, equal within a grade; and the smallest target there."""
    order, ends = by_grade(labels)
    inside, first, ceiling = np.zeros(len(labels)), 0, 0.0
    while first < len(order):
        end = ends[first]
        share = min(max((params[0, TOP] - first) / (end - first), 0.0), 1.0)
        for p in range(first, end):
            inside[order[p]] = share
        if share > 0.0:
            ceiling = _target(labels[order[first]], params)
        first = end
    return inside, ceiling


@compiled
def hessian_product_grades(scores: Array, labels: Array, direction: Array, out: Array, params: Array) -> float:
    """Hessian product: twice the weights that count at these scores, times v_i."""
    inside, ceiling = _inside(labels, params)
    for i in range(len(out)):
        counts = params[0, OTHERS] != CEILING or scores[i] > ceiling
        out[i] = 2.0 * (inside[i] + ((1.0 - inside[i]) * params[0, REST] if counts else 0.0)) * direction[i]
    return 0.0


@register
class SubsetRegression(Loss):
    """Squared error between each score and its document's grade or gain, weighted towards the top of the list.

    Formula: L = Σ_{i∈top} (s_i − g_i)² + rest·Σ_{i∉top} (s_i − g_i)², with g_i = y_i (`target=label`) or 2^{y_i} − 1
        (`target=gain`), over the `top` best documents of the query and the others. `others=ceiling` has the paper's
        one-sided [s_i − δ]_+² in the second sum, δ the smallest target of the top: documents below δ cost nothing.
        (The paper has the largest of these terms, which their sum bounds.)
    Ties: documents of equal grade at the border belong to both sides, in proportion to the ranks on each side.
    Cost: O(n) per query after ordering by grade.
    Use it for: regression if only the first results page matters. On the validation folds of OHSUMED, NDCG@10 is .43
        with squares and .34 with a ceiling, which ignores most documents of a query.
    Reference: Cossock & Zhang, Subset ranking using regression, COLT 2006.
    """

    target: Literal["label", "gain"] = "label"
    """What a score should be: the grade, or its gain 2^y − 1."""
    top: int = param(default=10, least=1)
    """Best documents of a query that count in full."""
    rest: float = param(default=0.2, least=0)
    """Weight of the other documents."""
    others: Literal["square", "ceiling"] = "square"
    """Error of the other documents: on both sides (`square`), or only above the least target of the top (`ceiling`)."""
    convex = True
    grades = staticmethod(over_grades)
    grades_product = staticmethod(hessian_product_grades)
    shift_invariant: ClassVar[bool] = False

    def kernel_constants(self, labels: Array) -> Array:
        if self.target == "gain":
            check_gains(self.name, labels, negative=True)
        return super().kernel_constants(labels)
