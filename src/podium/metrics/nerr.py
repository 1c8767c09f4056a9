"""NERR@k: expected reciprocal rank, over that of the best order of the judged documents.

Formula: NERR = ERR@k(ranking)/ERR@k(judged labels in descending order), ERR and y_max as in ERR.
Ties: the mean over all orders of tied documents, exactly. Cost: as ERR. Use it for: ERR over queries whose best
documents have different grades. Empty: no judged label above 0. Reference: Chapelle et al. (2009).

    >>> from podium.metrics import Metric
    >>> Metric.parse("nerr")([4, 3, 2, 1], [1, 2, 0, 0], [0, 4])  # (1/4 + 3/4·3/4/2)/(3/4 + 1/4·1/4/2)
    array([0.68])
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.metrics import err
from podium.metrics.base import Metric
from podium.metrics.conventions import LARGEST_EXPONENT
from podium.metrics.declaration import Kernel, Names, stating
from podium.metrics.kernels import OWN, cut, gain
from podium.metrics.largest_grade import largest_grade
from podium.metrics.stops import expected_stop, prepare_stops, weight


@compiled
def best(ideal: Array, config: Array) -> float:
    """ERR@k of labels that descend."""
    total, alive = 0.0, 1.0
    for place in range(cut(len(ideal), config)):
        stop = gain(ideal[place], config) * config[OWN]
        if stop == 0.0:
            break
        total += alive * stop * weight(place, 0.0)
        alive *= 1.0 - stop
    return total


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """ERR over its largest value."""
    largest = best(ideal, config)
    return expected_stop(labels, ends, config, 0.0) / largest if largest > 0.0 else np.nan


@compiled
def prepare(labels: Array, ideal: Array, config: Array, work: Array) -> None:
    """What a swap needs of a cascade, over the largest value."""
    largest = best(ideal, config)
    prepare_stops(labels, config, work, 0.0, 1.0 / largest if largest > 0.0 else 0.0)


@register
class NERR(Metric):
    """NERR@k: expected reciprocal rank, over its largest value."""

    max_grade: int | None = param(default=None, least=1, most=LARGEST_EXPONENT)
    """The largest grade of the scale; None: the largest label in the judgments."""
    names = Names(stating("normalised_err", "normalized_err"))
    conventions = err.ERR.conventions
    kernel = Kernel(measure, swaps=(prepare, err.swap))

    def own_numbers(self, largest_label: float) -> tuple[float, ...]:
        """2^−y_max."""
        return (2.0 ** -largest_grade(self, self.max_grade, largest_label),)
