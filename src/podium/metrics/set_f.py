"""Set F: the weighted harmonic mean of the precision and the recall of the whole list, whatever its order.

Formula: (1 + w) P R/(w P + R), with P and R the precision and recall of the list; w = 1 gives F1, w = β² gives F_β.
Ties: they do not matter. Cost: O(n). Use it for: unranked results. Empty: no relevant judged document.
Reference: van Rijsbergen (1979), as in trec_eval (`set_F`, whose parameter is w).

    >>> from podium.metrics import Metric
    >>> Metric.parse("set_F")([2, 1], [1, 0], [0, 2], judged=[1, 1, 0], judged_offsets=[0, 3])
    array([0.5])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.errors import ParameterError
from podium.base.registry import param, read, register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel, Names, stating
from podium.metrics.kernels import OWN, count_relevant, relevant_within


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """(1 + w) hits/(n + w R), the same as (1 + w) P R/(w P + R) and defined if there are no hits."""
    n_relevant, n = count_relevant(ideal, config), len(labels)
    if n_relevant == 0:
        return np.nan
    return (1.0 + config[OWN]) * relevant_within(labels, 0, n, config) / (n + config[OWN] * n_relevant)  # type: ignore[no-any-return]


@register
class SetF(Metric):
    """Set F: the weighted harmonic mean of the precision and recall of the whole list."""

    weight: float = param(default=1.0, above=0.0)
    """How much recall weighs against precision: β² of F_β."""
    names = Names(stating("setf", "f1"), number="weight")
    conventions = Conventions(
        uses=("relevant", "ideal"), words={"weight": ("the weight of recall is", str)}, cuts=False
    )
    kernel = Kernel(measure, order_matters=False)
    normalised = False

    @classmethod
    def _at(cls, number: str, text: str) -> dict[str, Any]:
        raise ParameterError(
            f"Metric {text!r}: set-f looks at the whole list. Let it see the first {number} documents only: "
            f"{text.partition('@')[0]} with --max-documents {number} (max_documents={number})."
        )

    @classmethod
    def _argument(cls, key: str, value: str, text: str) -> dict[str, Any]:
        """Also β of ir_measures, whose square is the weight."""
        if key == "beta":
            return {"weight": float(read(value, float, f"{text}: beta")) ** 2}
        return super()._argument(key, value, text)
