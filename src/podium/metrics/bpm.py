"""BPM@k: the mean gain of the documents up to the one at which a user has found T of it, or to rank k.

Formula: (1/s) Σ_{r ≤ s} y_r/y_max, with s the first rank at which Σ_{r ≤ s} y_r/y_max ≥ T, at most k; without k, the
length of the list. y_max is `max_grade`: the scale's largest grade; without it, the largest label in the judgments.
Ranks behind the list have a gain of 0, and negative labels too.
Ties: each document of a tie group has the group's mean gain; that is not the mean over all orders. Cost: O(n).
Use it for: users who stop when they have enough, or when they are tired. A better document that moves up can make it
smaller. Empty: no judged label above 0. Reference: Zhang et al., Bejeweled player model (2017), its static form.

    >>> from podium.metrics import Metric
    >>> Metric.parse("BPM(T=1)@10")([4, 3, 2, 1], [1, 2, 0, 0], [0, 4])  # (1/2 + 1)/2
    array([0.75])
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel, Names, stating
from podium.metrics.kernels import CUTOFF, NO_CUTOFF, OWN, cut
from podium.metrics.largest_grade import GRADE_WORDS, mean_gain, per_grade


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """The mean gain of the documents that are looked at."""
    if len(ideal) == 0 or ideal[0] <= 0.0:
        return np.nan
    total, gain = 0.0, 0.0
    for place in range(cut(len(labels), config)):
        if place == 0 or ends[place] != ends[place - 1]:
            gain = mean_gain(labels, place, ends[place]) * config[OWN + 1]
        total += gain
        if total >= config[OWN] - _ROUNDING:
            return total / (place + 1.0)
    return total / max(config[CUTOFF] if config[CUTOFF] < NO_CUTOFF else len(labels), 1.0)


_ROUNDING = 1e-12  # of a sum of shares such as 1/3


@register
class BPM(Metric):
    """BPM@k: the mean gain of the documents up to the one at which a user has enough."""

    t: float = param(default=1.0, above=0.0)
    """The gain that is enough, T: 1 is one document of the largest grade."""
    max_grade: float | None = param(default=None, above=0.0)
    """The largest grade of the scale; None: the largest label in the judgments."""
    names = Names(stating("bejeweled_player_model"))
    conventions = Conventions(uses=("short", "ideal"), words={**GRADE_WORDS, "t": ("the user wants a gain of", str)})
    kernel = Kernel(measure, averages_ties=False)
    normalised = False
    monotone = False

    def own_numbers(self, largest_label: float) -> tuple[float, ...]:
        """T and 1/y_max."""
        return self.t, per_grade(self, self.max_grade, largest_label)
