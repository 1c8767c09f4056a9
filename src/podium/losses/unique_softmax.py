"""Unique softmax: each document against those of lower grades alone, weighted by its gain.

>>> from podium.losses import UniqueSoftmax
>>> round(UniqueSoftmax()([2.0, 1.0], [1, 0]).value, 4)  # log(1 + e^−1)
0.3133
"""

from __future__ import annotations

import math

from podium.base.arrays import Array
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.kernels.blocks import clear
from podium.kernels.check_gains import check_gains
from podium.losses.base import Loss
from podium.metrics.gains import exp2_gain


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """−Σ_i G_i log(e^{s_i}/(e^{s_i} + Σ_{y_j < y_i} e^{s_j}))."""
    clear(gradient, curvature)
    value = 0.0
    for i in range(len(scores)):
        gain, top, others = exp2_gain(labels[i]), scores[i], 0.0
        if gain == 0.0:
            continue
        for j in range(len(scores)):
            top = max(top, scores[j]) if labels[j] < labels[i] else top
        for j in range(len(scores)):
            others += math.exp(scores[j] - top) if labels[j] < labels[i] else 0.0
        own = math.exp(scores[i] - top)
        over = own + others
        value += gain * (math.log(over) + (top - scores[i]))
        gradient[i] -= gain * others / over
        curvature[i] += gain * (own / over) * (others / over)
        for j in range(len(scores) if others > 0.0 else 0):
            p = math.exp(scores[j] - top) / over if labels[j] < labels[i] else 0.0
            gradient[j] += gain * p
            curvature[j] += gain * p * (1.0 - p)
    return value


@register
class UniqueSoftmax(Loss):
    """Cross entropy of choosing each document from itself and all documents of lower grades, weighted by its gain.

    Formula: L = −Σ_i (2^{y_i} − 1) log(e^{s_i}/(e^{s_i} + Σ_{y_j < y_i} e^{s_j})).
    Ties: documents of equal grade are not compared.
    Cost: O(n) per relevant document, so O(n²) per query at most.
    Use it for: graded labels. Documents of equal grade do not compete, as they do in softmax, and better grades count
        more.
    Reference: Zhu & Klabjan, Listwise learning to rank by exploring unique ratings, WSDM 2020.
    """

    convex = True
    grades = staticmethod(over_grades)

    def kernel_constants(self, labels: Array) -> Array:
        check_gains(self.name, labels)
        return super().kernel_constants(labels)
