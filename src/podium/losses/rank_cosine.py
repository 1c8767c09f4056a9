"""RankCosine (Qin et al., 2008): the angle between the scores of a query and its grades.

>>> from podium.losses import RankCosine
>>> RankCosine()([0.0, 1.0], [1, 0]).value  # a right angle
0.5
"""

from __future__ import annotations

import math
from typing import ClassVar, Literal

from podium.base.arrays import Array
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.kernels.blocks import clear
from podium.losses.base import Loss


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """½(1 − c), c = Σ u_i g_i, with the unit vectors u of scores and g of grades; 0 if all grades are 0."""
    clear(gradient, curvature)
    length, size, cosine = _length(scores), _length(labels), 0.0
    if size == 0.0:
        return 0.0
    for i in range(len(scores)):
        cosine += (scores[i] / length) * (labels[i] / size) if length != 0.0 else 0.0
    over = length if length != 0.0 else 1.0
    for i in range(len(scores)):
        u = scores[i] / over
        turn = labels[i] / size - cosine * u
        gradient[i] = -0.5 * turn / over
        curvature[i] = (abs(u * turn) + 0.5 * max(1.0 - u * u, 0.0)) / (over * over)
    return 0.5 * (1.0 - cosine)


@compiled
def _length(values: Array) -> float:
    total = 0.0
    for x in values:
        total += x * x
    return math.sqrt(total)


@register
class RankCosine(Loss):
    """Half of 1 − the cosine of the angle between the vectors of scores and of grades of a query.

    Formula: L = ½(1 − Σ s_i y_i/(|s||y|)).
    Ties: documents are not compared. A query whose grades are all 0 contributes 0.
    Cost: O(n) per query.
    Use it for: queries of which each should count the same, between 0 and 1. The scale of scores is free, their level
        is not: documents of grade 0 should score 0. Not convex.
    Gradient: for scores that are all 0, −½y/|y|, so that training can start there.
    Curvature: a bound, since the second derivative ½(2u_i(g_i − cu_i) + c(1 − u_i²))/|s|² has both signs.
    Reference: Qin et al., Query-level loss functions for information retrieval, Information Processing & Management
        2008.
    """

    shift_invariant: ClassVar[bool] = False
    curvature_is: ClassVar[Literal["exact", "bound"]] = "bound"
    grades = staticmethod(over_grades)
