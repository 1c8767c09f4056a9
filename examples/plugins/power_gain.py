"""Relevant documents, discounted by a power of their rank."""

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel
from podium.metrics.kernels import OWN, cut, has_relevant, relevant_within


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """Σ_r E[relevant at r]·r^(−a), over what the best order has."""
    if not has_relevant(ideal, config):
        return np.nan
    last, found, best, start = cut(len(labels), config), 0.0, 0.0, 0
    while start < last:
        end, weights = ends[start], 0.0
        for place in range(start, min(end, last)):
            weights += (place + 1.0) ** -config[OWN]
        found += weights * relevant_within(labels, start, end, config) / (end - start)
        start = end
    n_relevant = relevant_within(ideal, 0, len(ideal), config)
    for place in range(min(int(n_relevant), cut(len(ideal), config))):
        best += (place + 1.0) ** -config[OWN]
    return found / best


@register
class PowerGain(Metric):
    """Σ over relevant documents of rank^(−a), as a share of the best order's."""

    a: float = param(default=1.0, above=0.0, most=4.0)
    """How fast a rank loses its worth."""
    conventions = Conventions(
        uses=("relevant", "short", "ideal"), words={"a": ("a rank r counts r to the power of minus", str)}
    )
    kernel = Kernel(measure)
