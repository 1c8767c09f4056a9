"""Exported trees, on raw or transformed features, and the comparison of two forests.

Two forests decide equally for all float32 inputs if both, walked together from the roots, agree on feature, threshold
and side of NaN at every split, and on the values of the leaves. Otherwise, a split differs for the x of an interval,
(low, high], or for NaN.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from podium.base.arrays import Array, Flags, Ints, Singles
from podium.base.errors import counted
from podium.base.float32 import round_down
from podium.export.exported_forms import IN_DOUBLE, Difference, ExportedForm, Summation
from podium.export.transforms import UNIT32, UNIT64, Front
from podium.imports.foreign_trees import FlatTree, Leaf, Split, forest_of, grow
from podium.scorers.forms import StumpsForm
from podium.scorers.trees.exact_splits import sums
from podium.scorers.trees.forest import Forest


@dataclass(frozen=True, eq=False)
class Trees(ExportedForm):
    """Sum of regression trees, on the features of a front if there is one; every program computes the same bits."""

    forest: Forest
    front: Front | None = None
    kind = "trees"

    @property
    def filling(self) -> Array | None:
        return None if self.front is None or np.isnan(self.front.filling).all() else self.front.filling

    @property
    def words(self) -> str:
        n_trees, n_leaves = self.forest.n_trees, len(self.forest.values)
        return f"{counted(n_trees, 'tree')} of {counted(n_leaves, 'leaf', 'leaves')}{self._on_features}"

    def seen(self, X: Singles, offsets: Sequence[int] | Ints) -> Singles:
        if self.front is None:
            return X
        queries = itertools.pairwise(offsets) if self.front.within_query else [(0, len(X))]
        parts = [self.front.transformed(X[a:b]).astype(np.float32) for a, b in queries]
        return np.concatenate([np.zeros((0, self.forest.n_features), np.float32), *parts])

    def scores(self, X: Singles, *, single: bool = False) -> Array:
        return sums(self.forest, self.seen(X, [0, len(X)]), single=single)

    def bound(self, X: Singles, summation: Summation = IN_DOUBLE) -> float:
        """Σ_t max|v|·u + γ_T·Σ_t max|v|, u = 2⁻²⁴ for sums in float32; 0 for the same sums in float64."""
        forest, constant = self.forest, summation.constant
        largest = float(np.maximum.reduceat(np.abs(forest.values), forest.first_leaf[:-1]).sum()) + abs(constant)
        if summation.single:
            n = forest.n_trees + bool(constant)
            gamma, tiny = n * UNIT32 / (1 - n * UNIT32), n * float(np.finfo(np.float32).smallest_subnormal)
            return largest * UNIT32 + gamma * largest * (1 + UNIT32) + n * UNIT64 * largest + tiny
        return largest * UNIT32 if summation.rounds_score else 0.0

    def _differences(self, theirs: Self, *, single: bool, infinite: bool) -> Iterator[Difference]:
        return differences(self.forest, theirs.forest, single=single, infinite=infinite)


def differences(ours: Forest, theirs: Forest, *, single: bool, infinite: bool) -> Iterator[Difference]:
    """All differences of `theirs` from `ours`, whose splits are all EXACT or NEVER.

    With `single`, their leaves must be ours as float32. Additional trees of theirs may be a single leaf: a constant.
    Without `infinite`, x is finite: thresholds beyond all finite numbers are equal.
    """
    if ours.n_features != theirs.n_features or theirs.n_trees < ours.n_trees:
        yield Difference("shape", min(ours.n_trees, theirs.n_trees))
        return
    with np.errstate(over="ignore", under="ignore"):
        values = ours.values.astype(np.float32).astype(np.float64) if single else ours.values
    cuts = [_finite(forest.threshold, infinite) for forest in (ours, theirs)]
    sides = [forest.nan_left for forest in (ours, theirs)]
    for t in range(ours.n_trees):
        yield from _of_tree(t, ours, theirs, values=values, cuts=cuts, sides=sides)
    for t in range(ours.n_trees, theirs.n_trees):
        if theirs.first_split[t + 1] > theirs.first_split[t]:
            yield Difference("shape", t)


def _finite(threshold: Array, infinite: bool) -> Array:
    """Thresholds; those beyond all finite numbers become infinite."""
    if infinite:
        return threshold
    largest = float(np.finfo(np.float32).max)
    return np.where(threshold >= largest, np.inf, np.where(threshold < -largest, -np.inf, threshold))


def _of_tree(
    t: int, ours: Forest, theirs: Forest, *, values: Array, cuts: list[Array], sides: list[Flags]
) -> Iterator[Difference]:
    both = (ours, theirs)
    a, b = (int(forest.first_split[t]) for forest in both)
    leaf_a, leaf_b = (int(forest.first_leaf[t]) for forest in both)
    roots = tuple(0 if forest.first_split[t + 1] > forest.first_split[t] else -1 for forest in both)
    seen, waiting = set(), [roots]
    while waiting:
        pair = waiting.pop()
        if pair in seen:  # splits may be shared
            continue
        seen.add(pair)
        own, other = pair
        if own < 0 and other < 0:
            if values[leaf_a - 1 - own] != theirs.values[leaf_b - 1 - other]:
                yield Difference("value", t)
            continue
        if own < 0 or other < 0:
            yield Difference("shape", t)
            continue
        i, j = a + own, b + other
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


def forest_of_stumps(form: StumpsForm, n_features: int) -> Forest:
    """One tree per feature, in order: its leaves are the sums of α over the thresholds passed."""
    trees = [_tree_of_stumps(form, int(l), n_features) for l in np.unique(form.feature)]
    return forest_of(trees or [grow((), lambda _: Leaf(0.0), n_features=n_features)], n_features)


def _tree_of_stumps(form: StumpsForm, l: int, n_features: int) -> FlatTree:
    """Balanced tree of the thresholds on feature l; the scores have the same bits.

    NaN goes to the leaf with the value of missing ones; if there is none, the first split separates it from numbers.
    """
    stumps = np.flatnonzero(form.feature == l)
    stumps = stumps[np.argsort(form.threshold[stumps], kind="stable")]
    cuts = round_down(form.threshold[stumps]).astype(np.float64)
    last = np.append(np.diff(cuts) > 0, True)  # of equal thresholds: all are passed at once
    cuts, steps = cuts[last], np.append(0.0, np.cumsum(form.alpha[stumps]))[np.append(True, last)]
    missing = float(form.alpha[stumps] @ form.missing[stumps])
    same = np.flatnonzero(steps == missing)

    def look(node: tuple[int, int] | None) -> Split | Leaf:
        """The node of thresholds a:b; None is the leaf of NaN."""
        if node is None:
            return Leaf(missing)
        a, b = node
        middle = (a + b) // 2
        if a == b:
            return Leaf(float(steps[a]))
        nan_left = len(same) > 0 and bool(same[0] <= middle)
        return Split(l, float(cuts[middle]), nan_left, (a, middle), (middle + 1, b))

    whole = (0, len(cuts))
    if len(same):
        return grow(whole, look, n_features=n_features)
    parted = Split(l, np.inf, False, whole, None)

    def look_from_root(node: Any) -> Split | Leaf:
        return parted if node == () else look(node)

    return grow((), look_from_root, n_features=n_features)
