"""Logistic regression on labels from 0 to 1: the pointwise cross entropy for probabilities of relevance.

>>> from podium.losses import Logistic
>>> round(Logistic()([2.0, 0.0], [1, 0.5]).value, 4)  # log(1 + e^−2) + log 2
0.8201
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import DataError
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.losses.base import Loss

if TYPE_CHECKING:
    from podium.data.dataset import Dataset


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """Σ log(1 + e^{s_i}) − t_i s_i, t = y/highest."""
    value = 0.0
    for i in range(len(scores)):
        s, target = scores[i], labels[i] / params[0, 0]
        small = math.exp(-abs(s))
        # with t in [0, 1] both terms are at least 0, so that no digits cancel
        value += math.log1p(small) + ((1.0 - target) * s if s > 0.0 else -target * s)
        p, other = 1.0 / (1.0 + small), small / (1.0 + small)
        gradient[i] = (p if s > 0.0 else other) - target
        curvature[i] = p * other
    return value


@compiled
def hessian_product_grades(scores: Array, labels: Array, direction: Array, out: Array, params: Array) -> float:
    """Hessian product: p(1 − p)v."""
    for i in range(len(out)):
        small = math.exp(-abs(scores[i]))
        out[i] = small / (1.0 + small) ** 2 * direction[i]
    return 0.0


@register
class Logistic(Loss):
    """Cross entropy between each label, read as a probability of relevance, and the logistic function of its score.

    Formula: L = −Σ t_i log σ(s_i) + (1 − t_i) log(1 − σ(s_i)), σ(s) = 1/(1 + e^−s), t_i = y_i/highest.
    Ties: none; documents are not compared.
    Cost: O(n) per query.
    Use it for: labels that are probabilities, such as posterior relevance under a click model, and scores
        whose σ is such a probability.
    Reference: Cox, The regression analysis of binary sequences, 1958.
    """

    highest: float | None = param(default=None, above=0)
    """Label that means probability 1; None: the largest label of the training data, or 1 if none is above 1."""
    convex = True
    grades = staticmethod(over_grades)
    grades_product = staticmethod(hessian_product_grades)
    shift_invariant: ClassVar[bool] = False
    signed: ClassVar[bool] = True

    def fitted_to(self, data: Dataset) -> Logistic:
        if self.highest is not None or data.labels is None or data.document_weights is not None:
            return self
        return replace(self, highest=max(1.0, float(data.labels.max(initial=0.0))))

    def kernel_constants(self, labels: Array) -> Array:
        low, high = float(labels.min(initial=0.0)), float(labels.max(initial=0.0))
        highest = max(1.0, high) if self.highest is None else self.highest
        if low < 0.0 or high > highest:
            raise DataError(
                f"{self.name} needs labels from 0 to {highest:g}, which it divides by {highest:g} and reads as "
                f"probabilities; got {low if low < 0.0 else high:g}. Shift the labels, or change highest."
            )
        return np.array([highest])
