"""GMAP: the geometric mean over queries of average precision; per query, the logarithm of AP.

Formula: per query log max(AP@k, 10⁻⁵), reported as e^mean: √(AP₁·AP₂·…) with at least 10⁻⁵ each. AP as in MAP.
Ties: AP is averaged over all orders of tied documents, then the logarithm taken. Cost: O(n).
Use it for: systems that should not fail on hard queries. Differences between systems, and tests of them, are of the
mean logarithm. A query that the convention counts as 0 counts 10⁻⁵. Empty: no relevant judged document.
Reference: Robertson (2006), as in trec_eval.

    >>> from podium.metrics import Metric
    >>> gmap = Metric.parse("gm_map")
    >>> gmap.average(gmap([3, 2, 1, 2, 1], [1, 0, 0, 0, 1], [0, 3, 5])).value ** 2  # √(1 · 1/2)²
    0.5000000000000001
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.metrics import map as average_precision
from podium.metrics.base import Metric
from podium.metrics.declaration import Kernel, Names, stating

_LEAST = 1e-5
measure_ap = average_precision.measure


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """log max(AP, 10⁻⁵)."""
    return log_at_least(measure_ap(labels, ends, ideal, config))


@compiled
def log_at_least(value: float) -> float:
    """log max(value, 10⁻⁵); NaN stays."""
    return value if np.isnan(value) else math.log(max(value, _LEAST))


@register
class GeometricMAP(Metric):
    """GMAP: the geometric mean of average precision; a query's value is the logarithm of its AP."""

    name = "gm-map"
    names = Names(stating("gmap"))
    conventions = replace(average_precision.MAP.conventions, zero=math.log(_LEAST), one=0.0)
    kernel = Kernel(measure, averages_ties=False)
    range = (math.log(_LEAST), 0.0)
    normalised = False

    @classmethod
    def reported(cls, mean: float, queries: int) -> float:
        return math.exp(mean)
