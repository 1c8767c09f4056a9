"""P@k: precision, the fraction of the first k documents that are relevant.

Formula: P@k = (relevant documents at ranks ≤ k)/k; min(k, n) in place of k with divisor=list; without k, k = n, as in
trec_eval's `set_P`. Ties: a tie group cut by k counts its share of relevant documents. Cost: O(n). Use it for: the
first results page. Empty: no relevant judged document.

    >>> from podium.metrics import Metric
    >>> Metric.parse("P_2")([3, 2, 1], [1, 0, 1], [0, 3])
    array([0.5])
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel, Names, stating
from podium.metrics.kernels import (
    CUTOFF,
    DIVIDE_LIST,
    NO_CUTOFF,
    additive_swap,
    cut,
    expected_hits,
    has_relevant,
    relevance,
)


@compiled
def divisor(n: int, config: Array) -> float:
    """k, or min(k, n)."""
    k = config[CUTOFF]
    return max(1.0, min(k, n) if config[DIVIDE_LIST] or k == NO_CUTOFF else k)  # type: ignore[no-any-return]


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """Expected hits over k."""
    if not has_relevant(ideal, config):
        return np.nan
    return expected_hits(labels, ends, cut(len(labels), config), config) / divisor(len(labels), config)


@compiled
def prepare(labels: Array, ideal: Array, config: Array, work: Array) -> None:
    """1 if relevant, then 1/k at the first k places."""
    n = len(labels)
    relevance(labels, config, work)
    for place in range(n):
        work[n + place] = 1.0 / divisor(n, config) if place < cut(n, config) else 0.0


@register
class Precision(Metric):
    """P@k: the fraction of the first k documents that are relevant."""

    names = Names(stating("pre", "prec", "precisionat", "set_p", "setp"), prints="p")
    conventions = Conventions(
        uses=("relevant", "divisor", "short", "ideal"),
        divisors=("cutoff", "list"),
        presets={
            "letor3": {"short": "zero"},
            "xgboost": {"divisor": "list", "empty": "zero", "cutoff": 32},
            "catboost": {"divisor": "list"},
            "ranklib": {"divisor": "list", "cutoff": 10},
        },
        words={"divisor": ("hits are divided by", {"cutoff": "k", "list": "min(k, documents)"}.__getitem__)},
    )
    kernel = Kernel(measure, swaps=(prepare, additive_swap))
    normalised = False
