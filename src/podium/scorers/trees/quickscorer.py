"""QuickScorer: fast scoring of a forest by bit masks of leaves, for many documents at once.

Leaves are numbered from left to right, and a document begins with the mask of all leaves. Each split that sends it to
the right (not x ≤ threshold) clears the leaves on its left; the lowest bit left is the document's leaf. So all splits
of a tree are evaluated in any order and without a branch, 32 documents at a time. The sums are those of LightGBM to the
bit: tree by tree in float64.
Trees of more than 64 leaves are walked from the root.
Reference: Lucchese et al., QuickScorer, SIGIR 2015; Ye et al., RapidScorer, KDD 2018.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import AnyArray, Array, Flags, Int32s, Ints, Singles, Words, is_sparse
from podium.base.float32 import round_down
from podium.base.threads import map_blocks
from podium.jit.compiled import compiled
from podium.jit.lanes import clear_leaves, trailing_zeros
from podium.jit.tiers import is_few
from podium.scorers.trees.forest import EXACT, NAN, NEVER, TINY, Forest

if TYPE_CHECKING:
    from podium.scorers.base import Features

WIDE, NARROW = 32, 8  # documents at a time; the rest of a query eight at a time
_PAIRS_PER_STEP = 8  # of a document and a tree, in numpy
_DEEPEST = 65  # nodes that wait to be visited: 63 splits above a leaf, and the two below one
_CELLS = 2**20  # values of sparse rows to convert to dense at a time, or of documents and splits to compare


@dataclass(frozen=True, eq=False)
class Masks:
    """A forest laid out for scoring. A column is a feature together with its treatment of missing values."""

    n_features: int
    columns: Ints  # (C, 3) feature, missing, whether a missing value goes left
    first_split: Ints  # (T+1,)
    first_leaf: Ints  # (T+1,)
    column: Int32s  # (K,)
    threshold: Singles  # (K,) the largest float32 up to the split's
    children: Int32s  # (K, 2)
    values: Array  # (L,)

    def __call__(self, X: Features) -> Array:
        """Scores of rows of features; the same bits for any number of threads."""
        out = np.zeros(X.shape[0])
        rows = self._plain_rows if is_few(len(out) * len(self.first_leaf) // _PAIRS_PER_STEP) else self._rows
        if not is_sparse(X):
            map_blocks(lambda a, b: rows(X[a:b], self.columns, out[a:b]), len(out))
            return out
        used, place = np.unique(self.columns[:, 0], return_inverse=True)
        columns = np.column_stack([place, self.columns[:, 1:]])
        step = max(WIDE, _CELLS // max(len(used), 1))

        def work(a: int, b: int) -> None:
            for first in range(a, b, step):
                last = min(first + step, b)
                rows(X[first:last][:, used].toarray(), columns, out[first:last])

        map_blocks(work, len(out))
        return out

    def _rows(self, X: Singles, columns: Ints, out: Array) -> None:
        masks = self._masks
        if masks is None:
            walk(X, columns, self.first_split, self.first_leaf, self.column, self.threshold, self.children,
                 self.values, out)  # fmt: skip
            return
        wide = len(X) // WIDE * WIDE
        for lanes, a, b in ((WIDE, 0, wide), (NARROW, wide, len(X))):
            if b > a:
                scorer(lanes)(X[a:b], columns, self.first_split, self.first_leaf, self.column, self.threshold,
                              *masks, out[a:b])  # fmt: skip

    def _plain_rows(self, X: Singles, columns: Ints, out: Array) -> None:
        """The same sums in numpy, several trees at a time."""
        x, splits = np.ascontiguousarray(_split_values(X, columns).T), np.diff(self.first_split)
        leaves_of = self._plain_masked if self._largest <= 64 else self._plain_walked
        trees = max(1, _CELLS // max(len(X) * int(splits.max(initial=1)), 1))
        for first in range(0, len(splits), trees):
            leaves = leaves_of(x, self.first_split[first : first + trees + 1])
            for values in self.values[leaves + self.first_leaf[first : first + len(leaves), None]]:
                out += values

    def _plain_masked(self, x: Singles, bounds: Ints) -> Ints:
        """Leaf of each document, from each tree's first: each split clears those on its other side."""  # (T, N)
        own, has = slice(bounds[0], bounds[-1]), np.diff(bounds) > 0
        leaves = np.zeros((len(has), x.shape[1]), np.int64)
        if has.any():
            not_right, not_left = (side[own, None] for side in self._sides)
            masks = np.where(x[self.column[own]] <= self.threshold[own, None], not_right, not_left)
            alive = np.bitwise_and.reduceat(masks, (bounds[:-1] - bounds[0])[has], axis=0)
            leaves[has] = np.frexp((alive & -alive).astype(np.float64))[1] - 1
        return leaves

    def _plain_walked(self, x: Singles, bounds: Ints) -> Ints:
        """The same leaves for trees of any size: all documents go down all trees together, a split at a time."""
        leaves = np.zeros((len(bounds) - 1, x.shape[1]), np.int64)
        tree, row = np.nonzero((np.diff(bounds) > 0)[:, None] & np.ones(x.shape[1], np.bool_))
        node = np.zeros(len(tree), np.int64)
        while len(tree):
            split = bounds[tree] + node
            right = ~(x[self.column[split], row] <= self.threshold[split])
            node = self.children[split, right.astype(np.intp)].astype(np.int64)
            done = node < 0
            leaves[tree[done], row[done]] = -1 - node[done]
            tree, row, node = tree[~done], row[~done], node[~done]
        return leaves

    @functools.cached_property
    def _sides(self) -> tuple[AnyArray, AnyArray]:
        """(K,) bits of the leaves that are not on the right, and not on the left, of each split; 64 leaves at most."""
        of = np.repeat(self.first_split[:-1], np.diff(self.first_split))
        leaf = self.children < 0
        below = np.where(leaf, 0, of[:, None] + self.children)
        bits = np.where(leaf, np.uint64(1) << np.where(leaf, -1 - self.children, 0).astype(np.uint64), np.uint64(0))
        sides = bits
        while not np.array_equal(moved := np.where(leaf, bits, np.bitwise_or.reduce(sides[below], axis=2)), sides):
            sides = moved
        kinds = (np.uint8, np.uint16, np.uint32, np.uint64)
        kept = (~sides).astype(next(kind for kind in kinds if self._largest <= np.iinfo(kind).bits))
        return kept[:, 1], kept[:, 0]

    def decisions(self, X: Singles) -> Flags:
        """Whether each document would go left at each split, reached or not."""  # (N, K)
        return np.asarray(_split_values(X, self.columns)[:, self.column] <= self.threshold)

    @property
    def _largest(self) -> int:
        """Leaves of the largest tree."""
        return int(np.diff(self.first_leaf).max(initial=1))

    @functools.cached_property
    def _masks(self) -> tuple[AnyArray, Array] | None:
        """(K,) uint32 or uint64, 0 for leaves on the left; (L,) values from left to right; None if trees are large."""
        largest = self._largest
        if largest > 64:
            return None
        values, mask = np.empty_like(self.values), np.empty(len(self.column), np.uint64)
        number_leaves(self.first_split, self.first_leaf, self.children, self.values, values, mask)
        return mask.astype(np.uint32 if largest <= 32 else np.uint64), values


def lay_out(forest: Forest) -> Masks:
    """The forest as masks of leaves."""
    never = forest.missing == NEVER
    kinds = np.stack([forest.feature, forest.missing, np.where(never, False, forest.missing_left)], axis=1)
    columns, column = np.unique(kinds.astype(np.int64), axis=0, return_inverse=True)
    return Masks(
        n_features=forest.n_features,
        columns=columns.reshape(-1, 3),
        first_split=forest.first_split,
        first_leaf=forest.first_leaf,
        column=column.reshape(-1).astype(np.int32),
        threshold=round_down(forest.threshold),
        children=np.stack([forest.left, forest.right], axis=1),
        values=forest.values,
    )


def _split_values(X: Singles, columns: Ints) -> Singles:
    """(N, C) `split_value` of each document and column, in numpy."""
    x, (missing, left) = X[:, columns[:, 0]].astype(np.float32), columns[:, 1:].T
    unknown = np.isnan(x)
    odd = unknown | ((missing != EXACT) & (np.abs(x) <= np.float32(TINY)))
    zero = (missing == NEVER) | ((missing == NAN) & ~unknown)
    side = np.where(left, np.float32(-np.inf), np.float32(np.nan))
    return np.where(odd, np.where(zero, np.float32(0.0), side), x)


@compiled
def number_leaves(
    first_split: Ints, first_leaf: Ints, children: Int32s, values: Array, moved: Array, mask: Words
) -> None:
    """Number the leaves of each tree from left to right, and clear those on the left of each split in its mask.

    No tree has more than 64 leaves.
    """
    waiting = np.empty((_DEEPEST, 2), np.int64)
    for t in range(len(first_split) - 1):
        k, a = first_split[t], first_leaf[t]
        if first_leaf[t + 1] - a == 1:
            moved[a] = values[a]
            continue
        # a stack of nodes to visit; a split is on it twice: before its left side, and after it with its first leaf
        waiting[0, 0], waiting[0, 1], height, begun = 0, -1, 1, 0
        while height > 0:
            height -= 1
            node, start = waiting[height, 0], waiting[height, 1]
            if node < 0:
                moved[a + begun] = values[a - 1 - node]
                begun += 1
            elif start < 0:
                waiting[height, 0], waiting[height, 1] = node, begun
                waiting[height + 1, 0], waiting[height + 1, 1] = children[k + node, 0], -1
                height += 2
            else:
                passed = np.uint64(0)
                for leaf in range(start, begun):
                    passed |= np.uint64(1) << np.uint64(leaf)
                mask[k + node] = ~passed
                waiting[height, 0], waiting[height, 1] = children[k + node, 1], -1
                height += 1


@functools.cache
def scorer(lanes: int) -> Any:
    """Kernel that scores `lanes` documents at a time."""
    clear = clear_leaves(lanes)

    @compiled
    def score(
        X: Singles, columns: Ints, first_split: Ints, first_leaf: Ints, column: Int32s, threshold: Singles,
        mask: NDArray[np.uint32], values: Array, out: Array,
    ) -> None:  # fmt: skip
        block, alive = np.zeros((len(columns), lanes), np.float32), np.empty(lanes, mask.dtype)
        for a in range(0, X.shape[0], lanes):
            n = min(lanes, X.shape[0] - a)
            fill(X[a : a + n], columns, block)
            for t in range(len(first_split) - 1):
                clear(alive, block, column, threshold, mask, first_split[t], first_split[t + 1])
                leaves = values[first_leaf[t] :]
                for d in range(n):
                    out[a + d] += leaves[trailing_zeros(alive[d])]

    return score


@compiled
def fill(X: Singles, columns: Ints, block: Singles) -> None:
    """Transpose a block of documents to columns; missing values become −∞ (left) or NaN (right)."""
    for d in range(X.shape[0]):
        x = X[d]
        for c in range(len(columns)):
            block[c, d] = split_value(x[columns[c, 0]], columns[c, 1], columns[c, 2])


@compiled
def split_value(x: float, missing: int, left: int) -> Any:
    """The value that splits compare: NaN goes right at every split and −∞ left; tiny values are 0, unless EXACT."""
    unknown = np.isnan(x)
    if unknown or (missing != EXACT and abs(x) <= np.float32(TINY)):
        if missing == NEVER or (missing == NAN and not unknown):
            return np.float32(0.0)
        return np.float32(-np.inf) if left else np.float32(np.nan)
    return x


@compiled
def walk(
    X: Singles, columns: Ints, first_split: Ints, first_leaf: Ints, column: Int32s, threshold: Singles,
    children: Int32s, values: Array, out: Array,
) -> None:  # fmt: skip
    """The same sums, walking each document from split to split."""
    block = np.zeros((len(columns), WIDE), np.float32)
    for a in range(0, X.shape[0], WIDE):
        n = min(WIDE, X.shape[0] - a)
        fill(X[a : a + n], columns, block)
        for t in range(len(first_split) - 1):
            k = first_split[t]
            for d in range(n):
                node = 0 if first_split[t + 1] > k else -1
                while node >= 0:
                    node = children[k + node, 0 if block[column[k + node], d] <= threshold[k + node] else 1]
                out[a + d] += values[first_leaf[t] - 1 - node]
