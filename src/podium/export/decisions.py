"""Decisions: where two forests send a document to different leaves, for all float32 inputs at once.

Both are walked together from the roots. Where the splits agree on feature, threshold and side of NaN at every step, and
the leaves hold the same values, no input is scored differently. Where they do not, the values of x that differ are an
interval, (low, high], or NaN.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from podium.arrays import Array
from podium.float32 import Singles, next_down
from podium.scorers.trees.forest import NEVER, TINY, Forest

_LEAST_ZERO, _LEAST_NORMAL = float(next_down(-TINY)), float(np.finfo(np.float32).tiny)
Kind = Literal["threshold", "missing", "feature", "shape", "value"]


@dataclass(frozen=True)
class Difference:
    """Where a target decides otherwise: for x in (low, high], for a missing x, or for whoever gets there."""

    kind: Kind
    tree: int  # from 0
    feature: int = -1
    low: float = -np.inf
    high: float = np.inf

    @property
    def is_tiny(self) -> bool:
        """Whether it is for values alone that are 0 but for rounding: LightGBM's zeros, or next to no values at all."""
        if self.kind != "threshold":
            return False
        return (self.low >= _LEAST_ZERO and self.high <= TINY) or self.high - self.low < _LEAST_NORMAL

    def rows(self, X: Singles) -> NDArray[np.bool_]:
        """The rows that it may concern: those with such a value, wherever they go."""
        if self.kind == "threshold":
            x = X[:, self.feature]
            return (x > self.low) & (x <= self.high)
        return np.isnan(X[:, self.feature]) if self.kind == "missing" else np.ones(len(X), bool)

    def to_dict(self) -> dict[str, Any]:
        """Plain values; infinite bounds are left out."""
        return {key: value for key, value in asdict(self).items() if value == value and value not in (np.inf, -np.inf)}


def differences(ours: Forest, theirs: Forest, *, single: bool, infinite: bool) -> Iterator[Difference]:
    """Every difference of `theirs` from `ours`, whose splits are all EXACT or NEVER.

    With `single`, their leaves are to be ours as float32. Trees of theirs beyond ours may be one leaf: a constant.
    Without `infinite`, x is finite: thresholds beyond all finite numbers are alike.
    """
    if ours.n_features != theirs.n_features or theirs.n_trees < ours.n_trees:
        yield Difference("shape", min(ours.n_trees, theirs.n_trees))
        return
    with np.errstate(over="ignore", under="ignore"):
        values = ours.values.astype(np.float32).astype(np.float64) if single else ours.values
    cuts = [_within(one.threshold, infinite) for one in (ours, theirs)]
    sides = [_nan_left(one) for one in (ours, theirs)]
    for t in range(ours.n_trees):
        yield from _of_tree(t, ours, theirs, values=values, cuts=cuts, sides=sides)
    for t in range(ours.n_trees, theirs.n_trees):
        if theirs.first_split[t + 1] > theirs.first_split[t]:
            yield Difference("shape", t)


def _within(threshold: Array, infinite: bool) -> Array:
    """Thresholds with all those beyond the finite numbers made one."""
    if infinite:
        return threshold
    largest = float(np.finfo(np.float32).max)
    return np.where(threshold >= largest, np.inf, np.where(threshold < -largest, -np.inf, threshold))


def _nan_left(forest: Forest) -> NDArray[np.bool_]:
    return np.where(forest.missing == NEVER, forest.threshold >= 0, forest.missing_left)


def _of_tree(
    t: int, ours: Forest, theirs: Forest, *, values: Array, cuts: list[Array], sides: list[NDArray[np.bool_]]
) -> Iterator[Difference]:
    both = (ours, theirs)
    a, b = (int(one.first_split[t]) for one in both)
    leaf_a, leaf_b = (int(one.first_leaf[t]) for one in both)
    roots = tuple(0 if one.first_split[t + 1] > one.first_split[t] else -1 for one in both)
    seen, waiting = set(), [roots]
    while waiting:
        pair = waiting.pop()
        if pair in seen:  # splits may be shared
            continue
        seen.add(pair)
        mine, other = pair
        if mine < 0 and other < 0:
            if values[leaf_a - 1 - mine] != theirs.values[leaf_b - 1 - other]:
                yield Difference("value", t)
            continue
        if mine < 0 or other < 0:
            yield Difference("shape", t)
            continue
        i, j = a + mine, b + other
        feature = int(ours.feature[i])
        if feature != theirs.feature[j]:
            yield Difference("feature", t, feature)
            continue
        if cuts[0][i] != cuts[1][j]:
            low, high = sorted((float(cuts[0][i]), float(cuts[1][j])))
            yield Difference("threshold", t, feature, low, high)
        if sides[0][i] != sides[1][j]:
            yield Difference("missing", t, feature)
        waiting += [
            (int(ours.left[i]), int(theirs.left[j])),
            (int(ours.right[i]), int(theirs.right[j])),
        ]
