"""Agreement of each voter with a consensus: Kendall's τ-b over the documents that the voter ranks.

>>> from podium.aggregation import Borda
>>> from podium.aggregation.rankings.rankings import Rankings
>>> votes = Rankings.from_orders([[["A", "B", "C"], ["A", "C", "B"], ["B", "A", "C"]]])
>>> agreement(votes, Borda()(votes)).round(4).tolist()
[1.0, 0.3333, 0.3333]
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Array, Ints
from podium.jit.compiled import compiled

if TYPE_CHECKING:
    from podium.aggregation.base import Consensus
    from podium.aggregation.rankings.rankings import Rankings


def agreement(rankings: Rankings, consensus: Consensus) -> Array:
    """Each voter's mean τ-b over the queries for which it is defined; NaN if there are none."""  # (V,)
    parts = []
    for q, query in enumerate(rankings):
        scores = consensus.scores[consensus.offsets[q] : consensus.offsets[q + 1]]
        parts.append(_taus(query.documents, query.ranks, query.offsets, scores))
    taus = np.array(parts).reshape(-1, rankings.n_voters)  # (Q, V)
    counted = np.maximum((~np.isnan(taus)).sum(axis=0), 1)
    means: Array = np.nansum(taus, axis=0) / counted
    means[np.isnan(taus).all(axis=0)] = np.nan
    return means


@compiled
def _taus(documents: Ints, ranks: Ints, offsets: Ints, scores: Array) -> Array:
    """τ-b = (concordant − discordant) / √(pairs not tied here · pairs not tied there), per list."""
    taus = np.empty(len(offsets) - 1)
    for v in range(len(taus)):
        balance, here, there = 0.0, 0.0, 0.0
        for e in range(offsets[v], offsets[v + 1]):
            for f in range(e + 1, offsets[v + 1]):
                sign = np.sign(ranks[f] - ranks[e])
                other = np.sign(scores[documents[e]] - scores[documents[f]])
                balance += sign * other
                here += sign * sign
                there += other * other
        taus[v] = balance / math.sqrt(here * there) if here * there > 0.0 else np.nan
    return taus
