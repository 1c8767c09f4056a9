"""Trees of other tools: build a forest from the nodes of a file, with every index checked.

>>> look = {0: Split(1, 0.5, True, 1, 2), 1: Leaf(-1.0), 2: Leaf(2.0)}.__getitem__
>>> forest_of([grow(0, look, n_features=3)], 3).values.tolist()
[-1.0, 2.0]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np

from podium.imports.foreign_file import refuse
from podium.scorers.trees.forest import EXACT, Forest

Node = TypeVar("Node")


class Leaf(NamedTuple):
    """Leaf of a tree."""

    value: float  # added to the score of documents that end here
    cover: float = math.nan  # number of training documents


class Split(NamedTuple):
    """Split of a tree: x ≤ threshold goes left, NaN by `nan_left`. Children are in any form that identifies a node."""

    feature: int
    threshold: float
    nan_left: bool
    left: Any
    right: Any
    gain: float = 0.0
    missing: int = EXACT


@dataclass
class FlatTree:
    """Splits and leaves of a tree, in depth-first order."""

    splits: list[Split] = field(default_factory=list)  # with children numbered as in Forest
    leaves: list[Leaf] = field(default_factory=list)


def grow(root: Node, look: Callable[[Node], Split | Leaf], *, n_features: int) -> FlatTree:
    """Build a tree from its root; `look` reads a node. A node identified by a number or text must be reached once."""
    tree = FlatTree()
    waiting: list[tuple[Node, int, bool]] = [(root, -1, False)]
    seen: set[Hashable] = set()
    while waiting:
        name, above, on_left = waiting.pop()
        if isinstance(name, int | str):
            if name in seen:
                refuse(f"node {name} of a tree is reached twice.")
            seen.add(name)
        node = look(name)
        if isinstance(node, Leaf):
            if not math.isfinite(node.value):
                refuse(f"a leaf has the value {node.value}.")
            place = -1 - len(tree.leaves)
            tree.leaves.append(node)
        else:
            if not 0 <= node.feature < n_features:
                refuse(f"a split is on feature {node.feature + 1} of {n_features}.")
            if math.isnan(node.threshold):
                refuse("a split has no number for its threshold.")
            place = len(tree.splits)
            tree.splits.append(node)
            waiting += [(node.right, place, False), (node.left, place, True)]
        if above >= 0:
            parent = tree.splits[above]
            tree.splits[above] = parent._replace(left=place) if on_left else parent._replace(right=place)
    return tree


def forest_of(trees: Sequence[FlatTree], n_features: int) -> Forest:
    """Forest of the trees."""
    if not trees:
        refuse("it has no trees.")
    splits = [split for tree in trees for split in tree.splits]
    leaves = [leaf for tree in trees for leaf in tree.leaves]
    cover = np.array([leaf.cover for leaf in leaves], np.float64)
    return Forest(
        n_features=n_features,
        first_split=np.cumsum([0, *(len(tree.splits) for tree in trees)]),
        first_leaf=np.cumsum([0, *(len(tree.leaves) for tree in trees)]),
        feature=np.array([split.feature for split in splits], np.int32),
        threshold=np.array([split.threshold for split in splits], np.float64),
        left=np.array([split.left for split in splits], np.int32),
        right=np.array([split.right for split in splits], np.int32),
        missing=np.array([split.missing for split in splits], np.uint8),
        missing_left=np.array([split.nan_left for split in splits], bool),
        values=np.array([leaf.value for leaf in leaves], np.float64),
        cover=None if np.isnan(cover).any() else cover,
        gain=np.array([split.gain for split in splits], np.float64),
    )
