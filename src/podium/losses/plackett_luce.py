"""Plackett–Luce: the law of rankings in which places are filled from the top, each by P(i) ∝ e^{s_i} of what remains.

ListNet and ListMLE train it, so a model of theirs reads as this distribution.
"""

from __future__ import annotations

from podium.losses.base import RankingDistribution


class PlackettLuce(RankingDistribution):
    """A law over strict rankings: P(π) = Π_k φ_{π(k)} / Σ_{l ≥ k} φ_{π(l)}, φ = e^s."""
