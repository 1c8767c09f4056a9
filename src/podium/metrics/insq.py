"""INSQ: the gain per document of a user who wants T of it, and who goes on more likely the further down.

Formula: Σ_{r ≤ 1000} W_r y_r/y_max, with W_r in proportion to Π_{i < r} C_i, C_i = ((i + 2T − 1)/(i + 2T))², so to
1/(r + 2T − 1)². y_max is `max_grade`: the scale's largest grade; without it, the largest label in the judgments.
Negative labels count 0. Weights end at rank 1,000, as in cwl_eval.
Ties: each place of a tie group has its mean gain. Cost: O(n). Use it for: users who look for several documents; if
what they find lets them stop, INST. Empty: no judged label above 0. Reference: Moffat, Scholer and Thomas (2012).

    >>> from podium.metrics import Metric
    >>> Metric.parse("INSQ(T=1)")([4, 3, 2, 1], [1, 2, 0, 0], [0, 4]).round(6)
    array([0.366669])
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel
from podium.metrics.kernels import OWN, additive_swap
from podium.metrics.largest_grade import GRADE_WORDS, per_grade

RANKS = 1000


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """Σ_r W_r ḡ_r, with ḡ_r the mean gain of the documents tied with rank r."""
    if len(ideal) == 0 or ideal[0] <= 0.0:
        return np.nan
    last, total, start = min(len(labels), RANKS), 0.0, 0
    while start < last:
        end, gains, weights = ends[start], 0.0, 0.0
        for place in range(start, end):
            gains += max(labels[place], 0.0)
            weights += weight(place, config)
        total += gains * weights / (end - start)
        start = end
    return total * config[OWN + 1] / _all_weights(config)  # type: ignore[no-any-return]


@compiled
def weight(place: int, config: Array) -> float:
    """1/(r + 2T − 1)² at rank r = place + 1, up to rank 1,000."""
    return 1.0 / (place + 2.0 * config[OWN]) ** 2 if place < RANKS else 0.0


@compiled
def _all_weights(config: Array) -> float:
    total = 0.0
    for place in range(RANKS):
        total += weight(place, config)
    return total


@compiled
def prepare(labels: Array, ideal: Array, config: Array, work: Array) -> None:
    """Gains, then weights."""
    n, whole = len(labels), _all_weights(config)
    for place in range(n):
        work[place] = max(labels[place], 0.0) * config[OWN + 1]
        work[n + place] = weight(place, config) / whole


@register
class INSQ(Metric):
    """INSQ: the gain per document of a user who goes on more likely the further down."""

    t: float = param(default=1.0, above=0.0)
    """The gain that the user wants, T: 1 is one document of the largest grade."""
    max_grade: float | None = param(default=None, above=0.0)
    """The largest grade of the scale; None: the largest label in the judgments."""
    conventions = Conventions(
        uses=("ideal",), words={**GRADE_WORDS, "t": ("the user wants a gain of", str)}, cuts=False
    )
    kernel = Kernel(measure, swaps=(prepare, additive_swap))
    normalised = False

    def own_numbers(self, largest_label: float) -> tuple[float, ...]:
        """T and 1/y_max."""
        return self.t, per_grade(self, self.max_grade, largest_label)
