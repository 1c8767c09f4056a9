"""Rao & Kupper's model of pairs with ties, as a distribution over rankings:

P(i before j) = φ_i/(φ_i + θφ_j), θ = 1 + e^α.

φ = e^s. `pairties_rk` trains it.
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import register
from podium.distributions.tied_pairs import TiedPairs


@register
class RaoKupper(TiedPairs):
    """Rankings with ties whose pairs have Rao & Kupper's probabilities."""

    alpha: float = 0.0
    """ln(θ − 1): the threshold of ties."""

    def log_odds(self, differences: Array) -> tuple[Array, Array]:
        return rao_kupper_logs(differences, self.alpha)


def rao_kupper_logs(differences: Array, alpha: float | Array) -> tuple[Array, Array]:
    """log P(i before j) and log P(i and j tied) at s_i − s_j."""
    t = np.logaddexp(0.0, alpha)
    wins = -np.logaddexp(0.0, t - differences)
    return wins, alpha + np.logaddexp(np.log(2.0), alpha) + wins - np.logaddexp(0.0, t + differences)
