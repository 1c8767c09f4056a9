"""PFound@k: the probability that a user, who may also give up after each document, finds what is relevant.

Formula: Σ_{r ≤ k} P_r t_r, P_1 = 1, P_{r+1} = P_r (1 − t_r)·decay, with t the probability that a document satisfies:
(2^y − 1)/2^{y_max}, or y/y_max with gain=linear. y_max is `max_grade`: the scale's largest grade; without it, the
largest label in the judgments, and with gain=linear at least 1: labels within 0 and 1 are probabilities already, as
in CatBoost.
Ties: the mean over all orders of tied documents, exactly. Cost: as ERR. Use it for: one good document is enough, and
users lose patience. Empty: no judged label above 0. Reference: Gulin, Kuralenok and Pavlov (2011).

    >>> from podium.metrics import Metric
    >>> Metric.parse("pfound[gain=linear]")([4, 3, 2, 1], [1, 2, 0, 0], [0, 4])  # 1/2 + 1/2·0.85
    array([0.925])
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.conventions import LARGEST_EXPONENT
from podium.metrics.declaration import Conventions, Kernel
from podium.metrics.kernels import OWN, has_gain
from podium.metrics.largest_grade import GRADE_WORDS, largest_grade, per_grade
from podium.metrics.stops import expected_stop, prepare_stops, swap_stops


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """Σ_r P(stop at r) decay^(r − 1)."""
    return expected_stop(labels, ends, config, config[OWN + 1]) if has_gain(ideal, config) else np.nan


@compiled
def prepare(labels: Array, ideal: Array, config: Array, work: Array) -> None:
    """What a swap needs of a cascade, which counts if a document has a gain."""
    prepare_stops(labels, config, work, config[OWN + 1], 1.0 if has_gain(ideal, config) else 0.0)


@compiled
def swap(labels: Array, config: Array, work: Array, i: int, j: int) -> float:
    """|ΔPFound|."""
    return swap_stops(labels, config, work, i, j, config[OWN + 1])


@register
class PFound(Metric):
    """PFound@k: the probability that a user finds what is relevant before losing patience."""

    decay: float = param(default=0.85, above=0.0, most=1.0)
    """The probability that a user who is not satisfied looks at the next document."""
    max_grade: int | None = param(default=None, least=1, most=LARGEST_EXPONENT)
    """The largest grade of the scale; None: the largest label in the judgments."""
    conventions = Conventions(
        uses=("gain", "short", "ideal", "floor"),
        words={**GRADE_WORDS, "decay": ("the next document is looked at with probability", str)},
    )
    kernel = Kernel(measure, swaps=(prepare, swap))
    normalised = False

    def own_numbers(self, largest_label: float) -> tuple[float, ...]:
        """The factor from gains to probabilities, and the decay."""
        if self.convention.gain == "linear":
            return per_grade(self, self.max_grade, max(largest_label, 1.0)), self.decay
        return 2.0 ** -largest_grade(self, self.max_grade, largest_label), self.decay
