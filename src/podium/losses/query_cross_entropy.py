"""QueryCrossEntropy: logistic regression with a share of a free constant for each query, as in CatBoost.

>>> from podium.losses import QueryCrossEntropy
>>> round(QueryCrossEntropy(alpha=1.0)([3.0, 3.0], [1, 0]).value, 4)  # 2 log 2: the constant −3 makes both ½
1.3863
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.kernels.blocks import bounds
from podium.losses.logistic import Logistic

HIGHEST, ALPHA = 0, 1
"""Indices in params[0]."""


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> Any:
    """(1 − α)·logloss(s) + α·logloss(s + c). At the best c its derivative is 0, so the gradient takes it as fixed."""
    n, alpha, total, value, sum_of_bends = len(scores), params[0, ALPHA], 0.0, 0.0, 0.0
    for i in range(n):
        total += labels[i] / params[0, HIGHEST]
    shift = constant(scores, total)
    for i in range(n):
        sum_of_bends += _point(scores[i] + shift, 0.0)[2] if math.isfinite(shift) else 0.0
    for i in range(n):
        target = labels[i] / params[0, HIGHEST]
        plain, slope, bend = _point(scores[i], target)
        value, gradient[i], curvature[i] = value + (1.0 - alpha) * plain, (1.0 - alpha) * slope, (1.0 - alpha) * bend
        if math.isfinite(shift):
            shifted, slope, bend = _point(scores[i] + shift, target)
            value += alpha * shifted
            gradient[i] += alpha * slope
            curvature[i] += alpha * bend * (1.0 - bend / sum_of_bends if sum_of_bends > 0.0 else 0.0)
    return value


@compiled
def _point(s: float, target: float) -> Any:
    """log(1 + e^s) − ts, with both derivatives."""
    small = math.exp(-abs(s))
    p, other = 1.0 / (1.0 + small), small / (1.0 + small)
    value = math.log1p(small) + ((1.0 - target) * s if s > 0.0 else -target * s)
    return value, (p if s > 0.0 else other) - target, p * other


@compiled
def constant(scores: Array, total: float) -> Any:
    """c with Σ σ(s + c) = total, by Newton's method within bounds; infinite if all targets are 0 or all are 1."""
    n = len(scores)
    if total <= 0.0 or total >= n:
        return math.inf if total > 0.0 else -math.inf
    least, most = bounds(scores)
    level = math.log(total) - math.log(n - total)
    low, high = level - most, level - least
    c = 0.5 * (low + high)
    for _ in range(200):
        excess, bend = -total, 0.0
        for i in range(n):
            _, p, b = _point(scores[i] + c, 0.0)
            excess, bend = excess + p, bend + b
        low, high = (low, c) if excess > 0.0 else (c, high)
        step = c - excess / bend if bend > 0.0 else low
        step = step if low < step < high else 0.5 * (low + high)
        if abs(step - c) <= 1e-14 * (1.0 + abs(c)):
            return step
        c = step
    return c


@register
class QueryCrossEntropy(Logistic):
    """Cross entropy of labels, read as probabilities, that is partly free of the level of each query's scores.

    Formula: L = (1 − α)·ℓ(s) + α·ℓ(s + c), ℓ(s) = −Σ t_i log σ(s_i) + (1 − t_i) log(1 − σ(s_i)), t_i = y_i/highest; c
        is the constant that minimises ℓ(s + c), Σ σ(s_i + c) = Σ t_i. If all t are 0, or all are 1, ℓ(s + c) counts 0.
    Ties: none; documents are not compared.
    Cost: O(n) per query, times the five or so steps of Newton's method for c.
    Use it for: clicks or probabilities whose level differs between queries, if σ(s) should still mean something; α = 0
        is logistic.
    Reference: CatBoost's objective of this name; Gulin, Kuralenok & Pavlov, JMLR 2011.
    """

    alpha: float = param(default=0.95, least=0, most=1)
    """Share of the loss that is free of the level of a query's scores; 0 is logistic."""
    convex = True
    grades = staticmethod(over_grades)
    grades_product: ClassVar[Any] = None

    def kernel_constants(self, labels: Array) -> Array:
        return np.append(super().kernel_constants(labels), self.alpha)
