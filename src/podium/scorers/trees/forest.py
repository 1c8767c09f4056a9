"""Forest: regression trees as plain arrays, the one form that scoring, exporting and importing share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Array

T = TypeVar("T")
NEVER, ZERO, NAN, EXACT = 0, 1, 2, 3
"""What a split takes for a missing value: nothing (NaN counts as 0), zero and NaN, or NaN.

These three are LightGBM's, which takes |x| ≤ TINY for 0. EXACT is NAN for which a number that small is itself.
"""
TINY = float(np.float32(1e-35))


@dataclass(frozen=True, eq=False)
class Forest:
    """T trees with K splits and L leaves in all. x ≤ threshold goes left; −1 − leaf stands for a leaf.

    The score is the sum of the leaves' values, tree by tree in float64. In forests that `split_exactly` makes, a split
    may be reached from several others of its tree.
    """

    n_features: int
    first_split: NDArray[
        np.int64
    ]  # (T+1,) the splits of tree t are first_split[t]:first_split[t+1], its root the first
    first_leaf: NDArray[np.int64]  # (T+1,)
    feature: NDArray[np.int32]  # (K,)
    threshold: Array  # (K,)
    left: NDArray[np.int32]  # (K,) within the tree
    right: NDArray[np.int32]  # (K,)
    missing: NDArray[np.uint8]  # (K,) NEVER, ZERO, NAN or EXACT
    missing_left: NDArray[np.bool_]  # (K,) the side of a missing value
    values: Array  # (L,)
    cover: Array | None = None  # (L,) the training documents in each leaf, where known
    gain: Array | None = None  # (K,) how much each split improved the fit, where known

    @property
    def n_trees(self) -> int:
        return len(self.first_leaf) - 1

    @property
    def nan_left(self) -> NDArray[np.bool_]:
        """(K,) whether NaN goes left."""
        return np.where(self.missing == NEVER, self.threshold >= 0, self.missing_left)


def build(forest: Forest, t: int, *, leaf: Callable[[int], T], split: Callable[[int, T, T], T]) -> T:
    """A tree from its leaves up: `leaf` sees a place in `values`, `split` a place in `threshold` and both sides."""
    a, c = int(forest.first_split[t]), int(forest.first_leaf[t])
    if forest.first_split[t + 1] == a:
        return leaf(c)
    waiting, made = [(0, False)], []
    while waiting:
        node, seen = waiting.pop()
        if node < 0:
            made.append(leaf(c - 1 - node))
        elif seen:
            right, left = made.pop(), made.pop()
            made.append(split(a + node, left, right))
        else:
            waiting += [(node, True), (int(forest.right[a + node]), False), (int(forest.left[a + node]), False)]
    return made[0]
