"""LightGBM's text of trees that it grew on categories, as text of trees with splits by numbers only."""

from __future__ import annotations

import numpy as np

from podium.scorers.trees.category_splits import Node, NumericTree, numeric_tree, sets_of
from podium.scorers.trees.forest import Forest
from podium.scorers.trees.lightgbm_text import END, write_forest


def numeric_text(text: str, n_features: int) -> bytes:
    """Text of the same scores by splits of the codes; `text` is LightGBM's own, of this process."""
    blocks = text.partition(f"\n{END}\n")[0].split("\nTree=")[1:]
    trees = [_read(dict(line.split("=", 1) for line in block.split("\n") if "=" in line)) for block in blocks]
    splits = [split for tree, _, _ in trees for split in tree.splits]
    forest = Forest(
        n_features=n_features,
        first_split=np.cumsum([0, *(len(tree.splits) for tree, _, _ in trees)]),
        first_leaf=np.cumsum([0, *(len(tree.leaves) for tree, _, _ in trees)]),
        feature=np.array([split.feature for split in splits], np.int32),
        threshold=np.array([split.threshold for split in splits], np.float64),
        left=np.array([split.left for split in splits], np.int32),
        right=np.array([split.right for split in splits], np.int32),
        missing=np.array([split.missing for split in splits], np.uint8),
        missing_left=np.array([split.missing_left for split in splits], np.bool_),
        values=np.concatenate([np.array(values)[tree.leaves] for tree, values, _ in trees]),
        cover=np.concatenate([tree.cover(counts) for tree, _, counts in trees]),
        gain=np.array([split.gain for split in splits], np.float64),
    )
    return write_forest(forest)


def _read(fields: dict[str, str]) -> tuple[NumericTree, list[float], list[float]]:
    """A tree, and the value and count of each leaf of the original."""

    def numbers(key: str) -> list[float]:
        return list(map(float, fields.get(key, "").split()))

    def integers(key: str) -> list[int]:
        return list(map(int, fields.get(key, "").split()))

    values = numbers("leaf_value")
    if len(values) == 1:
        return numeric_tree([]), values, [1.0]
    sets = sets_of(integers("cat_boundaries"), integers("cat_threshold"))
    nodes = [
        Node(
            feature, threshold, kind >> 2 & 3, bool(kind & 2), left, right, gain,
            sets[int(threshold)] if kind & 1 else None,
        )
        for feature, threshold, kind, left, right, gain in zip(
            integers("split_feature"), numbers("threshold"), integers("decision_type"), integers("left_child"),
            integers("right_child"), numbers("split_gain"), strict=True,
        )
    ]  # fmt: skip
    return numeric_tree(nodes), values, numbers("leaf_count")
