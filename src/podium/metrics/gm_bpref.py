"""GM bpref: the geometric mean over queries of bpref; per query, the logarithm of bpref.

Formula: per query log max(bpref, 10⁻⁵), reported as e^mean. Ties: bpref is averaged over all orders of tied documents,
then the logarithm taken. Cost: O(n). Use it for: systems that should not fail on hard queries, with incomplete
judgments. Differences between systems, and tests of them, are of the mean logarithm. A query that the convention
counts as 0 counts 10⁻⁵. Empty: no relevant judged document. Reference: trec_eval (`gm_bpref`).

    >>> from podium.metrics import Metric
    >>> metric = Metric.parse("gm_bpref")
    >>> metric.average(metric([4, 3, 2, 1, 2, 1], [1, 0, 1, 0, 0, 1], [0, 4, 6])).value ** 2  # √(3/4 · 10⁻⁵)²
    7.500000000000004e-06
"""

from __future__ import annotations

from dataclasses import replace

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.metrics import bpref
from podium.metrics.declaration import Kernel, Names
from podium.metrics.gm_map import GeometricMAP, log_at_least

measure_bpref = bpref.measure


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """log max(bpref, 10⁻⁵)."""
    return log_at_least(measure_bpref(labels, ends, ideal, config))


@register
class GeometricBpref(GeometricMAP):
    """GM bpref: the geometric mean of bpref; a query's value is the logarithm of its bpref."""

    name = "gm-bpref"
    names = Names()
    conventions = replace(bpref.Bpref.conventions, zero=GeometricMAP.range[0], one=0.0)
    kernel = Kernel(measure, averages_ties=False, sees_unjudged=True)
