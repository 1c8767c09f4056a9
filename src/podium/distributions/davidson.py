"""Davidson's model of pairs with ties, as a distribution over rankings:

P(i and j tied) ∝ ν√(φ_iφ_j), P(i before j) ∝ φ_i, ν = e^β.

φ = e^s. `pairties_d` trains it.
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import register
from podium.distributions.tied_pairs import TiedPairs


@register
class Davidson(TiedPairs):
    """Rankings with ties whose pairs have Davidson's probabilities."""

    beta: float = 0.0
    """ln ν: the weight of ties."""

    def log_odds(self, differences: Array) -> tuple[Array, Array]:
        return davidson_logs(differences, self.beta)


def davidson_logs(differences: Array, beta: float | Array) -> tuple[Array, Array]:
    """log P(i before j) and log P(i and j tied) at s_i − s_j."""
    half = 0.5 * differences
    z = np.logaddexp(np.logaddexp(half, -half), beta)
    return half - z, beta - z
