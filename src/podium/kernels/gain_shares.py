"""Gain shares: gains over the ideal DCG of their query, the targets with which losses are consistent for NDCG."""

from __future__ import annotations

from podium.base.arrays import Array
from podium.jit.compiled import compiled
from podium.jit.sorting import sort_descending
from podium.metrics.gains import exp2_gain
from podium.metrics.kernels import log2_discount


@compiled
def gain_shares(labels: Array, out: Array) -> None:
    """Fill `out` with G_i/IDCG, G = 2^y − 1, IDCG = Σ_r G_(r)/log2(1 + r) over descending gains; 0 if all are 0."""
    sort_descending(labels, out)
    ideal = 0.0
    for place in range(len(out)):
        ideal += exp2_gain(out[place]) * log2_discount(place + 1.0)
    for i in range(len(out)):
        out[i] = exp2_gain(labels[i]) / ideal if ideal > 0.0 else 0.0
