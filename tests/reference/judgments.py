"""Agreement and consensus, slow and obvious."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np


def alpha_by_pairs(votes: Any, level: str) -> float:
    """Krippendorff's α: mean distance of two votes on one item, over that of two votes on any items.

    `votes` is judges × items, NaN where there is none. Items with one vote do not count.
    """
    units = [[v for v in column if not np.isnan(v)] for column in np.transpose(votes)]
    units = [unit for unit in units if len(unit) > 1]
    everything = [v for unit in units for v in unit]
    count = {v: everything.count(v) for v in set(everything)}

    def distance(c: float, d: float) -> float:
        if level == "nominal":
            return float(c != d)
        if level == "interval":
            return (c - d) ** 2
        between = sum(n for v, n in count.items() if min(c, d) <= v <= max(c, d))
        return (between - (count[c] + count[d]) / 2) ** 2

    observed = sum(sum(distance(c, d) for c, d in itertools.permutations(u, 2)) / (len(u) - 1) for u in units)
    expected = sum(distance(c, d) for c, d in itertools.permutations(everything, 2)) / (len(everything) - 1)
    return 1 - observed / expected


def posterior_by_enumeration(votes: Any, prior: Any, tables: Any) -> list[list[float]]:
    """P(true grade | votes) of each item by Bayes' rule; `votes` is judges × items, −1 where there is none."""
    found = []
    for column in np.transpose(votes):
        joint = [p * np.prod([tables[k][j][v] for k, v in enumerate(column) if v >= 0]) for j, p in enumerate(prior)]
        found.append([x / sum(joint) for x in joint])
    return found
