"""RBP: rank-biased precision, the gain of a user who looks at the next document with probability p.

Formula: RBP(p)@k = (1 − p) Σ_{r ≤ k, y_r relevant} p^(r − 1). Relevance is binary.
Ties: the mean over all orders of tied documents, exactly. Cost: O(n).
Use it for: a user model with patience p: 0.5 impatient, 0.8 usual, 0.95 persistent. Perfect is less than 1.
Empty: no relevant judged document. Reference: Moffat and Zobel (2008).

    >>> from podium.metrics import Metric
    >>> Metric.parse("rbp(p=0.5)")([3, 2, 1], [1, 0, 1], [0, 3])  # 0.5·(1 + 0.25)
    array([0.625])
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel, Names, stating
from podium.metrics.kernels import OWN, additive_swap, cut, has_relevant, relevance, relevant_within


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """(1 − p) Σ_r E[relevant at r] p^(r − 1)."""
    if not has_relevant(ideal, config):
        return np.nan
    last, total, weight, start = cut(len(labels), config), 0.0, 1.0 - config[OWN], 0
    while start < last:
        end, weights = ends[start], 0.0
        for _ in range(start, min(end, last)):
            weights += weight
            weight *= config[OWN]
        total += weights * relevant_within(labels, start, end, config) / (end - start)
        start = end
    return total


@compiled
def prepare(labels: Array, ideal: Array, config: Array, work: Array) -> None:
    """1 if relevant, then (1 − p) p^place."""
    n, weight = len(labels), 1.0 - config[OWN]
    relevance(labels, config, work)
    for place in range(n):
        work[n + place] = weight if place < cut(n, config) and has_relevant(ideal, config) else 0.0
        weight *= config[OWN]


@register
class RBP(Metric):
    """Rank-biased precision, RBP(p)@k."""

    p: float = param(default=0.8, above=0.0, below=1.0)
    """The probability that the user looks at the next document."""
    names = Names(stating("rank_biased_precision"), number="p")
    conventions = Conventions(
        uses=("relevant", "short", "ideal"),
        presets={"trec10": {"p": 0.9}},
        words={"p": ("the next document is looked at with probability", str)},
    )
    kernel = Kernel(measure, swaps=(prepare, additive_swap))
    normalised = False
