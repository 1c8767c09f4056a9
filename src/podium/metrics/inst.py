"""INST: the gain per document of a user who wants T of it, and who goes on as long as it is missing.

Formula: Σ_{r ≤ 1000} W_r g_r, g = y/y_max, W_r in proportion to Π_{i < r} C_i, C_i = ((i + T + T_i − 1)/(i + T +
T_i))², with T_i = T − Σ_{j ≤ i} g_j the gain that is still missing. y_max is `max_grade`: the scale's largest grade;
without it, the largest label in the judgments. Negative labels count 0. Weights end at rank 1,000, as in cwl_eval.
Ties: each document of a tie group has the group's mean gain; that is not the mean over all orders, since gains change
the weights. Cost: O(n + 1000). Use it for: users with a goal. A better document that moves up can make it smaller, as
the user then stops earlier. Empty: no judged label above 0. Reference: Moffat, Bailey, Scholer and Thomas (2015).

    >>> from podium.metrics import Metric
    >>> Metric.parse("INST(T=1)")([4, 3, 2, 1], [1, 2, 0, 0], [0, 4]).round(6)
    array([0.489644])
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel
from podium.metrics.insq import RANKS
from podium.metrics.kernels import OWN
from podium.metrics.largest_grade import GRADE_WORDS, mean_gain, per_grade


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """Σ_r W_r ḡ_r, with ḡ_r the mean gain of the documents tied with rank r."""
    if len(ideal) == 0 or ideal[0] <= 0.0:
        return np.nan
    total, weights, weight, missing, gain = 0.0, 0.0, 1.0, config[OWN], 0.0
    for place in range(RANKS):
        if place >= len(labels):
            gain = 0.0
        elif place == 0 or ends[place] != ends[place - 1]:
            gain = mean_gain(labels, place, ends[place]) * config[OWN + 1]
        total += weight * gain
        weights += weight
        missing -= gain
        reach = place + 1.0 + config[OWN] + missing
        weight *= ((reach - 1.0) / reach) ** 2
    return total / weights


@register
class INST(Metric):
    """INST: the gain per document of a user who goes on as long as the wanted gain is missing."""

    t: float = param(default=1.0, least=0.5)
    """The gain that the user wants, T: 1 is one document of the largest grade."""
    max_grade: float | None = param(default=None, above=0.0)
    """The largest grade of the scale; None: the largest label in the judgments."""
    conventions = Conventions(
        uses=("ideal",), words={**GRADE_WORDS, "t": ("the user wants a gain of", str)}, cuts=False
    )
    kernel = Kernel(measure, averages_ties=False)
    normalised = False
    monotone = False

    def own_numbers(self, largest_label: float) -> tuple[float, ...]:
        """T and 1/y_max."""
        return self.t, per_grade(self, self.max_grade, largest_label)
