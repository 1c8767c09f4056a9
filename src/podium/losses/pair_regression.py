"""Pair regression: differences of scores should be the differences of grades, by squares or quantiles (margin MSE).

>>> from podium.losses import PairRegression
>>> PairRegression()([3.0, 0.0], [1, 0]).value  # ½·(1 − 3)²
2.0
"""

from __future__ import annotations

from typing import Literal

from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.kernels.blocks import clear
from podium.losses.pairs import PairwiseLoss, scale

TAU, SQUARED = 1, 2
"""Indices in params[0], after normalise."""


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """Σ τ[e]₊² + (1 − τ)[−e]₊², e = (y_i − y_j) − (s_i − s_j), over y_i > y_j; without squares the curvature is 1."""
    clear(gradient, curvature)
    value, pairs = 0.0, 0
    for i in range(len(scores)):
        for j in range(len(scores)):
            if labels[i] > labels[j]:
                error = (labels[i] - labels[j]) - (scores[i] - scores[j])
                weight = params[0, TAU] if error > 0.0 else 1.0 - params[0, TAU]
                size, slope, bend = abs(error), 1.0 if error > 0.0 else -1.0 if error < 0.0 else 0.0, 1.0
                if params[0, SQUARED] != 0.0:
                    size, slope, bend = error * error, 2.0 * error, 2.0 * weight
                value += weight * size
                gradient[i] -= weight * slope
                gradient[j] += weight * slope
                curvature[i] += bend
                curvature[j] += bend
                pairs += 1
    return scale(value, pairs, gradient, curvature, params)


@register
class PairRegression(PairwiseLoss):
    """Error of score differences from differences of grades; errors on the two sides may count differently.

    Formula: L = Σ_{y_i > y_j} τ[e_ij]₊² + (1 − τ)[−e_ij]₊², e_ij = (y_i − y_j) − (s_i − s_j); with `squared=false`
        τ[e_ij]₊ + (1 − τ)[−e_ij]₊, whose minimum is the τ-quantile.
    Ties: documents of equal grade are not compared.
    Cost: O(n²) per query, a nanosecond per pair.
    Use it for: labels on a scale that scores should keep, such as those of a stronger model (distillation): twice the
        mean with τ = ½ is the margin MSE. τ above ½ punishes too small margins more.
    Curvature: 1 for each pair without squares, in place of 0, so that boosting can divide by it.
    Reference: Hofstätter et al., Improving efficient neural ranking models with cross-architecture knowledge
        distillation, 2020; Koenker & Bassett, Regression quantiles, Econometrica 1978.
    """

    tau: float = param(default=0.5, above=0, below=1)
    """Share that too small differences of scores count; too large ones count the rest."""
    squared: bool = True
    """Whether errors are squared; if not, they count by their size."""
    convex = True
    grades = staticmethod(over_grades)

    @property
    def curvature_is(self) -> Literal["exact", "bound"]:  # type: ignore[override]
        return "exact" if self.squared else "bound"
