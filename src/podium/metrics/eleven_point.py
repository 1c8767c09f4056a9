"""Eleven-point average: interpolated precision averaged over recall 0, 0.1, …, 1.

Formula: (1/11) Σ_{i=0..10} iprec(recall=i/10). Ties and rounding: as in interpolated precision, `iprec`. Cost: O(n).
Use it for: comparison with old results; else MAP. Empty: no relevant judged document. Reference: trec_eval.

    >>> from podium.metrics import Metric
    >>> Metric.parse("11pt_avg")([4, 3, 2, 1], [1, 0, 0, 1], [0, 4])  # 6 levels at 1, 5 at 1/2
    array([0.77272727])
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel, Names, stating
from podium.metrics.iprec import ROUNDING_PRESETS, ROUNDING_WORDS, Rounding, interpolated, needed
from podium.metrics.kernels import OWN, count_relevant


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """The mean of eleven interpolated precisions."""
    n_relevant = count_relevant(ideal, config)
    if n_relevant == 0:
        return np.nan
    total = 0.0
    for tenth in range(11):
        total += interpolated(labels, ends, needed(tenth / 10.0, n_relevant, config[OWN]), config)
    return total / 11.0


@register
class ElevenPoint(Metric):
    """Interpolated precision averaged over the eleven recall levels 0, 0.1, …, 1."""

    rounding: Rounding = "up"
    """How level × R is rounded to a number of documents; see `iprec`."""
    names = Names(stating("11_pt_avg"), prints="11pt-avg")
    conventions = Conventions(
        uses=("relevant", "ideal"), presets=ROUNDING_PRESETS, words={"rounding": ROUNDING_WORDS}, cuts=False
    )
    kernel = Kernel(measure, averages_ties=False)
