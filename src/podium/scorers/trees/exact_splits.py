"""Exact splits: any split rule of LightGBM as x ≤ a float32 threshold, with a side for NaN.

This holds for all float32 values x. LightGBM compares x with a float64 t: x ≤ t if and only if x ≤ the largest float32
up to t. It takes |x| ≤ TINY for 0: so thresholds within [−TINY, TINY) are equal. If zeros count as missing and go to
the other side than t says, a split becomes three that share children. An increasing map of the features (z-scores)
only moves thresholds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from podium.base.arrays import AnyArray, Array, Flags, Int32s, Ints, Singles
from podium.base.errors import IncompatibleError
from podium.base.float32 import LARGEST, from_place, next_down, round_down, to_place
from podium.base.threads import map_blocks
from podium.jit.compiled import compiled
from podium.scorers.trees.forest import EXACT, TINY, ZERO, Forest, build

MOST_LEAVES = 65_536


def split_exactly(forest: Forest) -> Forest:
    """Forest with the same decisions for every float32 input, whose splits are all EXACT with float32 thresholds.

    Its splits may be reached from several others: `expand` turns them into trees again.
    """
    t, missing = forest.threshold, forest.missing
    cut = round_down(t)
    flushed = missing != EXACT
    cut = np.where(flushed & (cut >= -TINY) & (cut < 0), next_down(-TINY), cut)
    cut = np.where(flushed & (cut >= 0) & (cut < TINY), np.float32(TINY), cut)
    zero_left = t >= 0
    separate_zeros = (missing == ZERO) & (forest.missing_left != zero_left)
    plain = replace(
        forest,
        threshold=cut.astype(np.float64),
        missing=np.full_like(missing, EXACT),
        missing_left=forest.nan_left,
    )
    return _separate_zeros(plain, separate_zeros) if separate_zeros.any() else plain


def _separate_zeros(forest: Forest, chosen: Flags) -> Forest:
    """Add two splits to each of the `chosen`, which send zeros to the side of NaN."""
    order, first, extra = [], [0], []
    for t in range(forest.n_trees):
        a, b = forest.first_split[t : t + 2]
        nodes = np.flatnonzero(chosen[a:b])
        order += [*range(a, b), *np.repeat(a + nodes, 2)]
        extra += [(len(order) - 2 * len(nodes) + 2 * k, a, a + node, b - a + 2 * k) for k, node in enumerate(nodes)]
        first.append(len(order))
    rows = np.array(order, np.int64)
    left, right = forest.left[rows].copy(), forest.right[rows].copy()
    threshold, start = forest.threshold[rows].copy(), np.array(first)
    for at, a, node, name in extra:  # the added splits are at `at` and at + 1, numbers `name` and name + 1 in the tree
        here = int(start[np.searchsorted(forest.first_split, a, side="right") - 1] + node - a)
        ways = (left[here], right[here])
        zeros, others = ways if forest.missing_left[node] else ways[::-1]
        threshold[at], left[at], right[at] = float(next_down(-TINY)), others, name + 1
        threshold[at + 1], left[at + 1], right[at + 1] = TINY, zeros, others
        (right if forest.missing_left[node] else left)[here] = name
    return replace(
        forest,
        first_split=start,
        feature=forest.feature[rows],
        threshold=threshold,
        left=left,
        right=right,
        missing=forest.missing[rows],
        missing_left=forest.missing_left[rows],
        gain=None,
    )


def expand(forest: Forest, *, one_sided: AnyArray | None = None) -> Forest:
    """Forest whose splits and leaves are each reached once, in depth-first order, left before right.

    `one_sided` is −1 for a split at which every document goes left, 1 for right; such splits are removed.
    """
    trees = [_expand_tree(forest, t, one_sided) for t in range(forest.n_trees)]
    splits = np.array([split for tree in trees for split in tree[0]], np.int64)
    leaves = np.array([leaf for tree in trees for leaf in tree[1]], np.int64)
    left, right = np.array([child for tree in trees for child in tree[2]], np.int32).reshape(-1, 2).T
    return replace(
        forest,
        first_split=np.cumsum([0, *(len(tree[0]) for tree in trees)]),
        first_leaf=np.cumsum([0, *(len(tree[1]) for tree in trees)]),
        feature=forest.feature[splits],
        threshold=forest.threshold[splits],
        left=np.ascontiguousarray(left),
        right=np.ascontiguousarray(right),
        missing=forest.missing[splits],
        missing_left=forest.missing_left[splits],
        values=forest.values[leaves],
        cover=None if forest.cover is None else forest.cover[leaves],
        gain=None if forest.gain is None else forest.gain[splits],
    )


def _expand_tree(forest: Forest, t: int, one_sided: AnyArray | None) -> tuple[list[int], list[int], list[int]]:
    """Splits and leaves reached in tree t, as indices in the forest, and the two children of each split."""
    a, c = int(forest.first_split[t]), int(forest.first_leaf[t])
    splits, leaves, children = list[int](), list[int](), list[int]()
    waiting: list[tuple[int, int | None]] = [(0 if forest.first_split[t + 1] > a else -1, None)]
    while waiting:  # a stack, since a tree may be deeper than Python's recursion
        node, place = waiting.pop()  # place: where the node's number goes in `children`; None for the root
        while node >= 0 and one_sided is not None and one_sided[a + node]:
            node = int((forest.left if one_sided[a + node] < 0 else forest.right)[a + node])
        if place is not None:
            children[place] = len(splits) if node >= 0 else -1 - len(leaves)
        if node < 0:
            leaves.append(c - 1 - node)
        else:
            splits.append(a + node)
            waiting += [(int(forest.right[a + node]), len(children) + 1), (int(forest.left[a + node]), len(children))]
            children += [0, 0]
        if len(leaves) > MOST_LEAVES:
            raise IncompatibleError(
                f"tree {t + 1} has more than {MOST_LEAVES} leaves when zeros are parted from other values. "
                "Train without zero_as_missing, or export to c or python, which need no copies."
            )
    return splits, leaves, children


def fold_map(forest: Forest, features: Callable[[Singles], Singles], n_features: int) -> Forest:
    """A forest over x' = features(x) as a forest over x; each x'_l must be a non-decreasing function of x_l alone.

    The threshold on x is the largest float32 whose image is at most that on x', by bisection with `features` itself.
    """
    cuts, back = np.unique(np.stack([forest.feature.astype(np.float64), forest.threshold]), axis=1, return_inverse=True)
    column, bound = cuts[0].astype(np.int64), cuts[1]
    ends = np.searchsorted(column, np.arange(n_features + 1))
    row = np.arange(len(column)) - ends[column]
    X = np.zeros((int(np.diff(ends).max(initial=0)), n_features), np.float32)

    def passes(values: Singles) -> Flags:
        X[row, column] = values
        return np.asarray(features(X)[row, column] <= bound)

    low, high = (np.full(len(column), place) for place in (-_LAST - 1, _LAST))  # low passes, or is −∞
    for _ in range(33):
        middle = (low + high + 1) // 2
        right = passes(from_place(np.maximum(middle, -_LAST)))
        low, high = np.where(right & (middle > low), middle, low), np.where(right, high, middle - 1)
    threshold = np.where(low < -_LAST, -np.inf, from_place(np.maximum(low, -_LAST)).astype(np.float64))
    X[row, column] = np.nan
    filled, back = features(X)[row, column], back.reshape(-1)
    threshold = threshold[back]
    nan_left = np.where(np.isnan(filled[back]), forest.nan_left, filled[back] <= bound[back])  # or it stays missing
    folded = replace(forest, n_features=n_features, threshold=threshold, missing_left=nan_left)
    one_sided = np.where((threshold >= LARGEST) & nan_left, -1, np.where(np.isneginf(threshold) & ~nan_left, 1, 0))
    return expand(folded, one_sided=one_sided) if one_sided.any() else folded


_LAST = int(to_place(np.array([LARGEST], np.float32))[0])


def sums(forest: Forest, X: Singles, *, single: bool) -> Array:
    """Scores of rows: values added tree by tree from 0, in float32 if `single`, else in float64.

    Splits must be EXACT or NEVER; they may be shared.
    """
    kind = np.float32 if single else np.float64
    with np.errstate(over="ignore", under="ignore"):
        values = forest.values.astype(kind)
    rows, out = np.ascontiguousarray(X, np.float32), np.zeros(len(X), kind)
    nan_left = forest.nan_left

    def work(a: int, b: int) -> None:
        _add(rows[a:b], forest.first_split, forest.first_leaf, forest.feature, forest.threshold, nan_left,
             forest.left, forest.right, values, out[a:b])  # fmt: skip

    map_blocks(work, len(rows))
    return out.astype(np.float64)


@compiled
def _add(
    X: Singles, first_split: Ints, first_leaf: Ints, feature: Int32s, threshold: Array, nan_left: Flags,
    left: Int32s, right: Int32s, values: AnyArray, out: AnyArray,
) -> None:  # fmt: skip
    for i in range(X.shape[0]):
        for t in range(len(first_split) - 1):
            a = first_split[t]
            node = 0 if first_split[t + 1] > a else -1
            while node >= 0:
                x = X[i, feature[a + node]]
                goes_left = nan_left[a + node] if np.isnan(x) else x <= threshold[a + node]
                node = left[a + node] if goes_left else right[a + node]
            out[i] += values[first_leaf[t] - 1 - node]


def depth(forest: Forest) -> int:
    """Depth of the forest: the largest number of splits on the way to a leaf."""

    def deepest(_: int, left: int, right: int) -> int:
        return 1 + max(left, right)

    return max((build(forest, t, leaf=lambda _: 0, split=deepest) for t in range(forest.n_trees)), default=0)
