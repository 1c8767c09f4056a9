"""PMOP in its general form (Truyen et al., 2011), learned by short Metropolis–Hastings chains.

>>> from podium.losses import PMOPMH
>>> bool(abs(PMOPMH()([0.5, 0.0, 1.0], [2, 1, 1]).gradient.sum()) < 1e-12)  # every subset has weight 1
True
"""

from __future__ import annotations

from typing import Any

from podium.base.arrays import Array
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.kernels.subset_chains import contrast, metropolis_hastings
from podium.losses.sampled_partitions import SampledPartitions


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> Any:
    return contrast(metropolis_hastings, scores, labels, gradient, curvature, params)


@register
class PMOPMH(SampledPartitions):
    """Ordered partitions as pmop-exact, the gradient estimated by short Metropolis–Hastings chains from the data.

    Formula: ∂L/∂s_i = Σ_k E[a_i] − 1/|X_k| for i ∈ X_k, a_i = 1/|S| for i ∈ S, with the mean over `samples` steps of a
        chain that starts at the observed block X_k in place of E. A step proposes a uniform size and a uniform subset
        of that size, and accepts it with probability Φ(S)/Φ(X)·C(N, |S|)/C(N, |X|), Φ = exp(mean of s). The paper
        omits the binomials; its chain has another distribution. With `backward`, as in pmop-exact.
    Ties: modelled; documents of equal grade are one block. Documents of equal grade and score share their gradient.
    Cost: O(samples·n) per block. The method takes 30 steps, as most proposals are rejected.
    Use it for: the paper's other sampler, for comparison; pmop-gibbs mixes faster, pmop-exact needs no sampling.
    Gradient: of the contrast Σ_k (mean of s over S) − (mean of s over X_k) with the current S held fixed, the value.
    Reference: Truyen, Phung & Venkatesh, Probabilistic models over ordered partitions, SDM 2011.
    """

    name = "pmop-mh"
    grades = staticmethod(over_grades)
