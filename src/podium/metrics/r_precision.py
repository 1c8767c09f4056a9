"""R-precision: precision at R, the number of relevant documents, or at a multiple of it.

Formula: (relevant documents at ranks ≤ d)/d, with d = R, the number of relevant judged documents; with `times` d is
times·R, rounded up.
Ties: a tie group cut by R counts its share of relevant documents. Cost: O(n). Use it for: queries with very different
numbers of relevant documents. Empty: R = 0. Reference: Buckley and Voorhees (2005).

    >>> from podium.metrics import Metric
    >>> Metric.parse("Rprec")([3, 2, 1], [1, 0, 1], [0, 3])
    array([0.5])
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel, Names, stating
from podium.metrics.kernels import OWN, additive_swap, count_relevant, expected_hits, relevance


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """Expected hits among the first d, over d."""
    depth = _depth(ideal, config)
    return expected_hits(labels, ends, min(depth, len(labels)), config) / depth if depth > 0 else np.nan


@compiled
def _depth(ideal: Array, config: Array) -> int:
    """times·R, rounded up; rounding errors of the product do not count."""
    return int(np.ceil(count_relevant(ideal, config) * config[OWN] * (1.0 - 1e-12)))


@compiled
def prepare(labels: Array, ideal: Array, config: Array, work: Array) -> None:
    """1 if relevant, then 1/d at the first d places."""
    n, depth = len(labels), _depth(ideal, config)
    relevance(labels, config, work)
    for place in range(n):
        work[n + place] = 1.0 / depth if place < depth else 0.0


@register
class RPrecision(Metric):
    """R-precision: precision at R, the number of relevant documents."""

    times: float = param(default=1.0, above=0.0, most=1000.0)
    """How often R the depth is."""
    names = Names(stating("rprec", "r_prec", "rprecision", "rprec_mult"), number="times")
    conventions = Conventions(uses=("relevant", "ideal"), words={"times": ("the depth is R times", str)}, cuts=False)
    kernel = Kernel(measure, swaps=(prepare, additive_swap))
    normalised = False
