"""PMOP in its general form (Truyen et al., 2011), learned by short Gibbs chains from the observed blocks.

>>> from podium.losses import PMOPGibbs
>>> bool(abs(PMOPGibbs()([0.5, 0.0, 1.0], [2, 1, 1]).gradient.sum()) < 1e-12)  # every subset has weight 1
True
"""

from __future__ import annotations

from typing import Any

from podium.base.arrays import Array
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.kernels.subset_chains import contrast, gibbs
from podium.losses.sampled_partitions import SampledPartitions


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> Any:
    return contrast(gibbs, scores, labels, gradient, curvature, params)


@register
class PMOPGibbs(SampledPartitions):
    """Ordered partitions as pmop-exact, the gradient estimated by short Gibbs chains that start at the observed blocks.

    Formula: ∂L/∂s_i = Σ_k E[a_i] − 1/|X_k| for i ∈ X_k, a_i = 1/|S| for i ∈ S, with the mean over `samples` scans of a
        chain that starts at the observed block X_k in place of E. A scan puts each remaining document in with
        probability Φ(S + i)/(Φ(S + i) + Φ(S − i)), Φ = exp(mean of s). With `backward`, as in pmop-exact.
    Ties: modelled; documents of equal grade are one block. Documents of equal grade and score share their gradient.
    Cost: O(samples·n) per block.
    Use it for: the paper's method; with stochastic solvers, which draw again in every step. As chains start at the data
        and are short, the estimate is biased towards it; pmop-exact is the same model without sampling.
    Gradient: of the contrast Σ_k (mean of s over S) − (mean of s over X_k) with the current S held fixed, the value.
    Reference: Truyen, Phung & Venkatesh, Probabilistic models over ordered partitions, SDM 2011.
    """

    name = "pmop-gibbs"
    grades = staticmethod(over_grades)
