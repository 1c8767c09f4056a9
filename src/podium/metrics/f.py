"""F@k: the weighted harmonic mean of the precision and the recall of the first k documents, or of the whole list.

Formula: (1 + w) P R/(w P + R), with P and R the precision and recall at k; w = 1 gives F1, w = β² gives F_β. Without
k, those of the whole list, whatever its order, as in trec_eval's `set_F`, whose parameter is w.
Ties: a tie group cut by k counts its share of relevant documents. Cost: O(n). Use it for: unranked results, or so many
that users see. Empty: no relevant judged document. Reference: van Rijsbergen (1979).

    >>> from podium.metrics import Metric
    >>> Metric.parse("set_F")([2, 1], [1, 0], [0, 2], judged=[1, 1, 0], judged_offsets=[0, 3])
    array([0.5])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import param, read, register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel, Names, stating
from podium.metrics.kernels import (
    CUTOFF,
    NO_CUTOFF,
    OWN,
    additive_swap,
    count_relevant,
    cut,
    expected_hits,
    relevance,
)


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """(1 + w) hits/(k + w R), the same as (1 + w) P R/(w P + R) and defined if there are no hits."""
    n_relevant, n = count_relevant(ideal, config), len(labels)
    if n_relevant == 0:
        return np.nan
    return expected_hits(labels, ends, cut(n, config), config) * share(n, n_relevant, config)


@compiled
def share(n: int, n_relevant: int, config: Array) -> float:
    """(1 + w)/(k + w R), by which each hit counts."""
    depth = config[CUTOFF] if config[CUTOFF] < NO_CUTOFF else n
    return (1.0 + config[OWN]) / (depth + config[OWN] * n_relevant)  # type: ignore[no-any-return]


@compiled
def prepare(labels: Array, ideal: Array, config: Array, work: Array) -> None:
    """1 if relevant, then what a hit counts at the first k places."""
    n, n_relevant = len(labels), count_relevant(ideal, config)
    relevance(labels, config, work)
    for place in range(n):
        work[n + place] = share(n, n_relevant, config) if place < cut(n, config) and n_relevant > 0 else 0.0


@register
class F(Metric):
    """F@k: the weighted harmonic mean of precision and recall, of the first k documents or of the whole list."""

    weight: float = param(default=1.0, above=0.0)
    """How much recall weighs against precision: β² of F_β."""
    names = Names(stating("set_f", "setf", "f1"), number="weight")
    conventions = Conventions(uses=("relevant", "short", "ideal"), words={"weight": ("the weight of recall is", str)})
    kernel = Kernel(measure, swaps=(prepare, additive_swap))
    normalised = False

    @property
    def order_matters(self) -> bool:
        return self.cutoff is not None

    @classmethod
    def _argument(cls, key: str, value: str, text: str) -> dict[str, Any]:
        """Also β of ir_measures, whose square is the weight."""
        if key == "beta":
            return {"weight": float(read(value, float, f"{text}: beta")) ** 2}
        return super()._argument(key, value, text)
