"""Forest: regression trees as plain arrays, for scoring, exports and imports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Array, Bytes, Flags, Int32s, Ints

T = TypeVar("T")
NEVER, ZERO, NAN, EXACT = 0, 1, 2, 3
"""Values that a split treats as missing: none (NaN counts as 0), zero and NaN, or NaN.

These three are LightGBM's, which takes |x| ≤ TINY for 0. EXACT is NAN with tiny numbers compared as they are.
"""
TINY = float(np.float32(1e-35))


@dataclass(frozen=True, eq=False)
class Forest:
    """T trees with K splits and L leaves in all. x ≤ threshold goes left; a child −1 − k is leaf k.

    The score is the sum of the leaves' values, tree by tree in float64. In forests of `split_exactly`, a split may be
    reached from several others of its tree.
    """

    n_features: int
    first_split: NDArray[
        np.int64
    ]  # (T+1,) the splits of tree t are first_split[t]:first_split[t+1], its root the first
    first_leaf: Ints  # (T+1,)
    feature: Int32s  # (K,)
    threshold: Array  # (K,)
    left: Int32s  # (K,) within the tree
    right: Int32s  # (K,)
    missing: Bytes  # (K,) NEVER, ZERO, NAN or EXACT
    missing_left: Flags  # (K,) the side of a missing value
    values: Array  # (L,)
    cover: Array | None = None  # (L,) number of training documents in each leaf; None if unknown
    gain: Array | None = None  # (K,) improvement of the fit by each split; None if unknown

    @property
    def n_trees(self) -> int:
        return len(self.first_leaf) - 1

    @property
    def nan_left(self) -> Flags:
        """(K,) whether NaN goes left."""
        return np.where(self.missing == NEVER, self.threshold >= 0, self.missing_left)


def build(forest: Forest, t: int, *, leaf: Callable[[int], T], split: Callable[[int, T, T], T]) -> T:
    """Fold a tree from its leaves up: `leaf(index in values)`, `split(index in threshold, left, right)`."""
    a, c = int(forest.first_split[t]), int(forest.first_leaf[t])
    if forest.first_split[t + 1] == a:
        return leaf(c)
    waiting, results = [(0, False)], []
    while waiting:
        node, seen = waiting.pop()
        if node < 0:
            results.append(leaf(c - 1 - node))
        elif seen:
            right, left = results.pop(), results.pop()
            results.append(split(a + node, left, right))
        else:
            waiting += [(node, True), (int(forest.right[a + node]), False), (int(forest.left[a + node]), False)]
    return results[0]
