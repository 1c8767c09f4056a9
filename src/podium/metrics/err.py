"""ERR@k: expected reciprocal rank of the document at which a user who reads from the top stops (cascade model).

Formula: ERR = Σ_{r ≤ k} (1/r) R_r Π_{q < r} (1 − R_q), R = (2^y − 1)/2^{y_max}. y_max is `max_grade`: the scale's
largest grade. Without it, the largest label in the judgments is taken, so set it to compare data sets.
Ties: the mean over all orders of tied documents, exactly. Cost: O(n), in tie groups O(documents with R > 0 × places
that matter). Use it for: graded labels when one good document is enough. Empty: no judged label above 0. Perfect is
less than 1 unless R = 1. Reference: Chapelle et al. (2009).

    >>> from podium.metrics import Metric
    >>> Metric.parse("err(max_grade=1)")([3, 2, 1], [0, 1, 1], [0, 3])  # 1/2·1/2 + 1/3·1/2·1/2
    array([0.33333333])
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.conventions import LARGEST_EXPONENT
from podium.metrics.declaration import Conventions, Kernel, Names, stating
from podium.metrics.kernels import has_gain
from podium.metrics.largest_grade import GRADE_WORDS, largest_grade
from podium.metrics.stops import expected_stop, prepare_stops, swap_stops


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """Σ_r P(stop at r)/r."""
    return expected_stop(labels, ends, config, 0.0) if has_gain(ideal, config) else np.nan


@compiled
def prepare(labels: Array, ideal: Array, config: Array, work: Array) -> None:
    """What a swap needs of a cascade, which counts if a document has a gain."""
    prepare_stops(labels, config, work, 0.0, 1.0 if has_gain(ideal, config) else 0.0)


@compiled
def swap(labels: Array, config: Array, work: Array, i: int, j: int) -> float:
    """|ΔERR|."""
    return swap_stops(labels, config, work, i, j, 0.0)


@register
class ERR(Metric):
    """ERR@k: expected reciprocal rank."""

    max_grade: int | None = param(default=None, least=1, most=LARGEST_EXPONENT)
    """The largest grade of the scale; None: the largest label in the judgments."""
    names = Names(stating("expected_reciprocal_rank"))
    conventions = Conventions(
        uses=("short", "ideal", "floor"),
        presets={"gdeval": {"max_grade": 4}, "ranklib": {"max_grade": 4, "cutoff": 10}},
        words=GRADE_WORDS,
    )
    kernel = Kernel(measure, swaps=(prepare, swap))
    normalised = False

    def own_numbers(self, largest_label: float) -> tuple[float, ...]:
        """2^−y_max; raises a clear error if a label is larger than that."""
        return (2.0 ** -largest_grade(self, self.max_grade, largest_label),)
