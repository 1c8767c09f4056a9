"""Support vector regression on grades: errors up to ε are free, larger ones cost linearly.

>>> from podium.losses import SVR
>>> round(SVR(epsilon=0.5)([2.0, 0.2], [1, 0]).value, 4)  # (1 − ½) + 0
0.5
"""

from __future__ import annotations

from typing import ClassVar, Literal

from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.losses.base import Loss


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """Σ [|s_i − y_i| − ε]_+; 1 in place of the second derivative 0, so that boosting can divide by it."""
    value, epsilon = 0.0, params[0, 0]
    for i in range(len(scores)):
        error = scores[i] - labels[i]
        outside = not abs(error) <= epsilon  # NaN too
        value += abs(error) - epsilon if outside else 0.0
        gradient[i] = error / abs(error) if outside else 0.0
        curvature[i] = 1.0
    return value


@register
class SVR(Loss):
    """Error of each score beyond ε from its document's grade: the ε-insensitive loss of support vector regression.

    Formula: L = Σ_i [|s_i − y_i| − ε]_+.
    Ties: none; documents are not compared.
    Cost: O(n) per query.
    Use it for: a baseline for grades with outliers; the regression of published keyphrase and summary rankers. It has
        kinks, where L-BFGS may stop short of the minimum; `adam` and `boosting` do not mind.
    Reference: Drucker, Burges, Kaufman, Smola & Vapnik, Support vector regression machines, NIPS 1996.
    """

    epsilon: float = param(default=0.1, least=0, search=(0.01, 1.0, "log"))
    """ε, the largest error that costs nothing."""
    name = "svr"
    convex = True
    shift_invariant: ClassVar[bool] = False
    fits_grades: ClassVar[bool] = True
    curvature_is: ClassVar[Literal["exact", "bound"]] = "bound"
    grades = staticmethod(over_grades)
