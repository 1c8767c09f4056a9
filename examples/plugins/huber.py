"""Huber's loss: squared for small errors, linear for large ones."""

from typing import Any

from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.losses.base import Loss


@compiled
def over_grades(scores: Any, labels: Any, gradient: Any, curvature: Any, params: Any) -> float:
    """Σ h(s_i − y_i), h(e) = e²/2 where |e| ≤ δ, else δ|e| − δ²/2."""
    value, delta = 0.0, params[0, 0]
    for i in range(len(scores)):
        error = scores[i] - labels[i]
        small = abs(error) <= delta
        value += 0.5 * error * error if small else delta * abs(error) - 0.5 * delta * delta
        gradient[i] = error if small else (delta if error > 0.0 else -delta)
        curvature[i] = 1.0
    return value


@register
class Huber(Loss):
    """Squared error that large errors do not dominate.

    Formula: L = Σ h(s_i − y_i), h(e) = e²/2 where |e| ≤ δ, else δ|e| − δ²/2.
    Ties: none; documents are not compared.
    Cost: O(n) per query.
    Use it for: grades with outliers.
    Reference: Huber, Robust estimation of a location parameter, 1964.
    """

    delta: float = param(default=1.0, above=0, search=(0.1, 10.0, "log"))
    """The error from which the loss is linear."""
    convex = True
    shift_invariant = False
    curvature_is = "bound"
    grades = staticmethod(over_grades)
