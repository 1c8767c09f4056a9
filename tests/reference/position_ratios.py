"""Ratios of Unbiased LambdaMART: a loop over queries and pairs, from the scores before each tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def position_ratios(data: Any, scores: Sequence[np.ndarray], p: float) -> tuple[list[float], list[float]]:
    """t⁺ and t⁻ of positions 1, 2, … of LambdaRank for NDCG, after as many trees as there are arrays of scores."""
    n = int(data.positions.max())
    plus, minus = np.ones(n), np.ones(n)
    for round_scores in scores:
        clicked, other = np.zeros(n), np.zeros(n)
        for a, b in zip(data.offsets, data.offsets[1:], strict=False):
            s, y, k = round_scores[a:b], data.labels[a:b], data.positions[a:b] - 1
            discount = 1 / np.log2(2 + np.argsort(np.argsort(-s)))
            ideal = (np.sort(2**y - 1)[::-1] / np.log2(np.arange(2, len(y) + 2))).sum()
            weight = 1.0 if data.query_weights is None else data.query_weights[list(data.offsets).index(a)]
            for i in range(b - a):
                for j in range(b - a):
                    if y[i] > y[j]:
                        change = abs((2 ** y[i] - 2 ** y[j]) * (discount[i] - discount[j])) / ideal
                        cost = weight * change * np.logaddexp(0, s[i] - s[j])
                        clicked[k[i]] += cost / minus[k[j]]
                        other[k[j]] += cost / plus[k[i]]
        plus, minus = (clicked / clicked[0]) ** (1 / (1 + p)), (other / other[0]) ** (1 / (1 + p))
    return plus.tolist(), minus.tolist()
