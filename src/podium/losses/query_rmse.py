"""QueryRMSE: least squares on grades up to a constant of each query, as in CatBoost.

>>> from podium.losses import QueryRMSE
>>> QueryRMSE()([7.0, 5.0], [1, 0]).value  # errors −6 and −5, their mean −5.5
0.5
"""

from __future__ import annotations

from podium.base.arrays import Array
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.losses.base import Loss


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """Σ (e_i − ē)², e = y − s."""
    n, mean, value = len(scores), 0.0, 0.0
    for i in range(n):
        mean += (labels[i] - scores[i]) / n
    for i in range(n):
        error = labels[i] - scores[i] - mean
        value += error * error
        gradient[i], curvature[i] = -2.0 * error, 2.0 - 2.0 / n
    return value


@compiled
def hessian_product_grades(scores: Array, labels: Array, direction: Array, out: Array, params: Array) -> float:
    """Hessian product: 2(v − v̄)."""
    mean = 0.0
    for i in range(len(out)):
        mean += direction[i] / len(out)
    for i in range(len(out)):
        out[i] = 2.0 * (direction[i] - mean)
    return 0.0


@register
class QueryRMSE(Loss):
    """Squared error of scores from grades, after the best constant of the query has been added to its scores.

    Formula: L = Σ_i (e_i − ē)², e_i = y_i − s_i, ē its mean over the query.
    Ties: documents are not compared; equal grades should get equal scores.
    Cost: O(n) per query.
    Use it for: grades whose level differs between queries. CatBoost's metric QueryRMSE is √(ΣL/N) over N documents.
    Reference: Gulin, Kuralenok & Pavlov, Winning the transfer learning track of Yahoo!'s Learning To Rank Challenge
        with YetiRank, JMLR 2011.
    """

    convex = True
    grades = staticmethod(over_grades)
    grades_product = staticmethod(hessian_product_grades)
