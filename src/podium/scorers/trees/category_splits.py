"""Splits of LightGBM by sets of categories, turned into splits by numbers, so that scoring, exports and proofs stay.

LightGBM sends x to the left if the whole part of x is in a set, and to the right if it is not, negative or missing. The
whole numbers of a set make intervals of x: category k is k ≤ x < k + 1, and category 0 also −1 < x < 0. So the split
becomes a small tree of splits x ≤ t, with copies of its two sides below; a side that an interval cannot reach is left
out. NaN goes right at each of them, to the interval above all others.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from podium.base.errors import IncompatibleError
from podium.base.float32 import next_down
from podium.scorers.trees.exact_splits import MOST_LEAVES
from podium.scorers.trees.forest import NAN


class Node(NamedTuple):
    """Split of a tree; a child −1 − k is leaf k. With categories, these go left."""

    feature: int
    threshold: float
    missing: int
    missing_left: bool
    left: int
    right: int
    gain: float = 0.0
    categories: Collection[int] | None = None


@dataclass
class NumericTree:
    """Splits by numbers, in depth-first order, and the leaves of the original tree that they end in."""

    splits: list[Node] = field(default_factory=list)
    leaves: list[int] = field(default_factory=list)

    def cover(self, counts: Sequence[float]) -> list[float]:
        """Documents of each leaf: those of the original leaf in equal parts."""
        copies = np.bincount(self.leaves, minlength=len(counts))
        return [counts[leaf] / copies[leaf] for leaf in self.leaves]


Region = tuple[float, float]
"""Values of a feature above the first and up to the second number; with NaN if the second is infinite."""


def numeric_tree(nodes: Sequence[Node]) -> NumericTree:
    """The same tree, whose nodes are each reached once, with splits by numbers only."""
    tree = NumericTree()
    counted: set[int] = set()  # splits whose gain has been given to a copy
    waiting: list[tuple[int, dict[int, Region], int, bool]] = [(0 if nodes else -1, {}, -1, False)]
    pieces: list[tuple[Sequence[tuple[float, int]], int, dict[int, Region]]] = []
    while waiting:
        name, regions, above, on_left = waiting.pop()
        piece = _opened(name, nodes, pieces, regions)
        if isinstance(piece, int):  # a leaf
            place = -1 - len(tree.leaves)
            tree.leaves.append(-1 - piece)
            if len(tree.leaves) > MOST_LEAVES:
                raise IncompatibleError(
                    f"a tree has more than {MOST_LEAVES} leaves when its sets of categories become intervals of codes. "
                    "Train with fewer leaves or a smaller max_cat_threshold."
                )
        else:
            split, left, right, original = piece
            place = len(tree.splits)
            gain = 0.0 if original in counted else nodes[original].gain
            counted.add(original)
            tree.splits.append(split._replace(gain=gain, categories=None))
            waiting += [(right[0], right[1], place, False), (left[0], left[1], place, True)]
        if above >= 0:
            parent = tree.splits[above]
            tree.splits[above] = parent._replace(left=place) if on_left else parent._replace(right=place)
    return tree


Side = tuple[int, dict[int, Region]]
_PIECE = 2**40  # names from here on are parts of a split by categories, in `pieces`


def _opened(
    name: int,
    nodes: Sequence[Node],
    pieces: list[tuple[Sequence[tuple[float, int]], int, dict[int, Region]]],
    regions: dict[int, Region],
) -> int | tuple[Node, Side, Side, int]:
    """A leaf, or a split by a number with its two sides and the original split."""
    while True:
        if name < 0:
            return name
        if name < _PIECE and nodes[name].categories is None:
            node = nodes[name]
            return node, (node.left, regions), (node.right, regions), name
        if name < _PIECE:
            low, high = regions.get(nodes[name].feature, (-np.inf, np.inf))
            parts: Sequence[tuple[float, int]] = _intervals(nodes[name], low, high)
            original = name
        else:
            parts, original, regions = pieces[name - _PIECE]
        node = nodes[original]
        if len(parts) > 1:
            middle = (len(parts) - 1) // 2
            cut = parts[middle][0]
            low, high = regions.get(node.feature, (-np.inf, np.inf))
            sides: list[Side] = []
            for share, region in ((parts[: middle + 1], (low, cut)), (parts[middle + 1 :], (cut, high))):
                pieces.append((share, original, {**regions, node.feature: region}))
                sides.append((_PIECE + len(pieces) - 1, pieces[-1][2]))
            return Node(node.feature, cut, NAN, False, 0, 0), sides[0], sides[1], original
        name = parts[0][1]


def _intervals(node: Node, low: float, high: float) -> list[tuple[float, int]]:
    """Upper end and child of each interval of the values above low, up to high."""
    ends: list[tuple[float, int]] = []
    codes = sorted(node.categories or ())
    for k, code in enumerate(codes):
        if k == 0 or codes[k - 1] != code - 1:
            ends.append((-1.0 if code == 0 else float(next_down(np.float32(code))), node.right))
        if k + 1 == len(codes) or codes[k + 1] != code + 1:
            ends.append((float(next_down(np.float32(code + 1))), node.left))
    ends.append((np.inf, node.right))
    starts = [-np.inf, *(end for end, _ in ends)]
    return [
        (min(end, high), child) for (end, child), start in zip(ends, starts, strict=False) if end > low and start < high
    ]


def sets_of(boundaries: Sequence[int], words: Sequence[int]) -> Mapping[int, list[int]]:
    """LightGBM's sets of categories by number: bits of 32-bit words, from boundary to boundary."""
    return {
        k: [32 * at + bit for at, word in enumerate(words[a:b]) for bit in range(32) if word >> bit & 1]
        for k, (a, b) in enumerate(pairwise(boundaries))
    }
