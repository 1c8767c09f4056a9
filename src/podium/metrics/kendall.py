"""Kendall's τ: agreement of the order of the scores with that of the labels, over all pairs of documents.

Formula: τ-b = (C − D)/√((C + D + T_s)(C + D + T_y)), with C concordant and D discordant pairs, T_s pairs of equal score
but different labels, T_y pairs of equal label but different scores.
Ties: τ-b accounts for them, so ties=mean is τ-b itself, not a mean; 0 if all scores are equal.
Cost: O(n log n). Use it for: full rankings as ground truth. Range: −1…1. Empty: no two labels differ.
Only documents in the list count, never others that were judged. Reference: Kendall (1945); Knight (1966).

    >>> from podium.metrics import Metric
    >>> Metric.parse("kendall")([2, 1, 3], [3, 2, 1], [0, 3])  # (A, B, C) against (C, A, B)
    array([-0.33333333])
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel, Names, stating
from podium.metrics.pair_counts import count_pairs


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """τ-b from the counts of pairs."""
    agree, differ, same_score, same_label = count_pairs(labels, ends)
    by_label = agree + differ + same_score
    by_score = agree + differ + same_label
    if by_label == 0.0:
        return np.nan
    return (agree - differ) / np.sqrt(by_label) / np.sqrt(by_score) if by_score > 0.0 else 0.0


@register
class Kendall(Metric):
    """Kendall's τ-b."""

    names = Names(stating("kendall_tau", "kendalltau", "kendalls_tau", "tau", "tau_b"))
    conventions = Conventions(cuts=False)
    kernel = Kernel(measure, averages_ties=False)
    range = (-1.0, 1.0)
    normalised = False
