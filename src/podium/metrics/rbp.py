"""RBP: rank-biased precision, the gain of a user who looks at the next document with probability p.

Formula: RBP(p)@k = (1 − p) Σ_{r ≤ k} p^(r − 1) g_r, with g_r = 1 if y_r is relevant, else 0; with graded=true
g = y/y_max, with y_max the scale's largest grade `max_grade` or, without it, the largest label in the judgments.
Ties: the mean over all orders of tied documents, exactly. Cost: O(n).
Use it for: a user model with patience p: 0.5 impatient, 0.8 usual, 0.95 persistent. Perfect is less than 1.
Empty: no relevant judged document; if graded, no judged label above 0. Reference: Moffat and Zobel (2008).

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
from podium.metrics.kernels import OWN, RELEVANT, additive_swap, cut
from podium.metrics.largest_grade import GRADE_WORDS, per_grade


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """(1 − p) Σ_r E[g_r] p^(r − 1)."""
    if not _has_gain(ideal, config):
        return np.nan
    last, total, weight, start = cut(len(labels), config), 0.0, 1.0 - config[OWN], 0
    while start < last:
        end, weights, gains = ends[start], 0.0, 0.0
        for place in range(start, end):
            gains += _gain(labels[place], config)
            if place < last:
                weights += weight
                weight *= config[OWN]
        total += weights * gains / (end - start)
        start = end
    return total


@compiled
def prepare(labels: Array, ideal: Array, config: Array, work: Array) -> None:
    """Gains, then (1 − p) p^place."""
    n, weight = len(labels), 1.0 - config[OWN]
    for place in range(n):
        work[place] = _gain(labels[place], config)
        work[n + place] = weight if place < cut(n, config) and _has_gain(ideal, config) else 0.0
        weight *= config[OWN]


@compiled
def _gain(label: float, config: Array) -> float:
    """1 if relevant; y/y_max if graded."""
    if config[OWN + 1] > 0.0:
        return max(label, 0.0) * config[OWN + 1]  # type: ignore[no-any-return]
    return 1.0 if label >= config[RELEVANT] else 0.0


@compiled
def _has_gain(ideal: Array, config: Array) -> bool:
    return len(ideal) > 0 and _gain(ideal[0], config) > 0.0


@register
class RBP(Metric):
    """Rank-biased precision, RBP(p)@k."""

    p: float = param(default=0.8, above=0.0, below=1.0)
    """The probability that the user looks at the next document."""
    graded: bool = False
    """Whether a document counts its label's share of the largest grade, not 0 or 1."""
    max_grade: float | None = param(default=None, above=0.0)
    """The largest grade of the scale; None: the largest label in the judgments."""
    names = Names(stating("rank_biased_precision"), number="p")
    conventions = Conventions(
        uses=("relevant", "short", "ideal"),
        presets={"trec10": {"p": 0.9}},
        words={
            **GRADE_WORDS,
            "p": ("the next document is looked at with probability", str),
            "graded": ("a document counts", {True: "its share of the largest grade", False: "0 or 1"}.__getitem__),
        },
    )
    kernel = Kernel(measure, swaps=(prepare, additive_swap))
    normalised = False

    def own_numbers(self, largest_label: float) -> tuple[float, ...]:
        """p, and 1/y_max if graded, else 0."""
        return self.p, per_grade(self, self.max_grade, largest_label) if self.graded else 0.0
