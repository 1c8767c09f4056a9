"""Exact proof that scores of trees never fall, or never rise, while one feature rises and the others stay.

A leaf holds the rows of a box: an interval of each feature, with or without missing values. A tree rises with a feature
if of any two leaves that some rows reach alike in all other features, the one that is further up in this feature has no
smaller value. A sum of such trees rises too. Nothing is sampled: the pairs of leaves are all there are.
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Flags, Ints
from podium.scorers.trees.exact_splits import expand, split_exactly
from podium.scorers.trees.forest import Forest


def breach(forest: Forest, signs: Ints) -> tuple[int, int] | None:
    """The first tree and feature, from 0, in which scores go against `signs` (1 rises, −1 falls); None if nowhere."""
    whole = expand(split_exactly(forest))
    for t in range(whole.n_trees):
        a, b = whole.first_split[t : t + 2]
        used = np.unique(whole.feature[a:b]).astype(np.int64)
        for feature in used[signs[used] != 0]:
            if not _rises(whole, t, used, int(feature), sign=int(signs[feature])):
                return t, int(feature)
    return None


def _rises(forest: Forest, t: int, used: Ints, feature: int, *, sign: int) -> bool:
    """Whether one tree goes with the sign in a feature, for values that are not missing."""
    low, high, missing = _boxes(forest, t, used)
    c, e = forest.first_leaf[t : t + 2]
    values, place = forest.values[c:e] * sign, int(np.searchsorted(used, feature))
    others = np.arange(len(used)) != place
    there = low[:, place] < high[:, place]  # leaves that hold some number
    for leaf in np.flatnonzero(there):
        meets = (np.maximum(low[leaf], low) < np.minimum(high[leaf], high)) | (missing[leaf] & missing)
        above = there & (low[:, place] >= high[leaf, place]) & meets[:, others].all(axis=1)
        if (values[above] < values[leaf]).any():
            return False
    return True


def _boxes(forest: Forest, t: int, used: Ints) -> tuple[Array, Array, Flags]:
    """Of each leaf and feature used: the open lower and the closed upper end, and whether missing values get there."""
    a, b = forest.first_split[t : t + 2]
    n = int(forest.first_leaf[t + 1] - forest.first_leaf[t])
    low, high = np.full((n, len(used)), -np.inf), np.full((n, len(used)), np.inf)
    missing = np.ones((n, len(used)), np.bool_)
    column = np.searchsorted(used, forest.feature[a:b])
    waiting: list[tuple[int, Array, Array, Flags]] = [
        (0 if b > a else -1, low[0].copy(), high[0].copy(), missing[0].copy())
    ]
    while waiting:
        node, bottom, top, nan = waiting.pop()
        if node < 0:
            low[-1 - node], high[-1 - node], missing[-1 - node] = bottom, top, nan
            continue
        at, threshold, left = column[node], forest.threshold[a + node], bool(forest.missing_left[a + node])
        down, up, stays, leaves = top.copy(), bottom.copy(), nan.copy(), nan.copy()
        down[at], up[at] = min(top[at], threshold), max(bottom[at], threshold)
        stays[at], leaves[at] = nan[at] and left, nan[at] and not left
        waiting += [
            (int(forest.left[a + node]), bottom, down, stays),
            (int(forest.right[a + node]), up, top, leaves),
        ]
    return low, high, missing
