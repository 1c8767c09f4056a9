"""A forest as LightGBM's text, in the grammar that `tree_text` checks."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from podium.arrays import Array
from podium.scorers import tree_text
from podium.scorers.forest import EXACT, NAN, Forest
from podium.scorers.splits import build

_TOTAL = 1e6  # what the weights of a tree's leaves add up to where they are no counts


def write_forest(forest: Forest) -> bytes:
    """The text. Splits that are EXACT are written as NAN; `read_forest(…, exact=True)` makes them EXACT again."""
    trees = [_tree(forest, t) for t in range(forest.n_trees)]
    return tree_text.whole(trees, forest.n_features)


def _tree(forest: Forest, t: int) -> str:
    a, b = forest.first_split[t : t + 2]
    c, e = forest.first_leaf[t : t + 2]
    kind = np.where(forest.missing[a:b] == EXACT, NAN, forest.missing[a:b]).astype(int)
    counts = _counts(forest.cover[c:e] if forest.cover is not None else np.ones(e - c))
    inner = np.zeros(b - a, np.int64)

    def above(split: int, left: int, right: int) -> int:
        inner[split - a] = left + right
        return left + right

    build(forest, t, leaf=lambda place: int(counts[place - c]), split=above)
    gain = np.zeros(b - a) if forest.gain is None else forest.gain[a:b]
    fields = {
        "num_leaves": str(e - c),
        "num_cat": "0",
        "split_feature": _whole(forest.feature[a:b]),
        "split_gain": _real(gain),
        "threshold": _real(forest.threshold[a:b]),
        "decision_type": _whole(kind * 4 + forest.missing_left[a:b] * 2),
        "left_child": _whole(forest.left[a:b]),
        "right_child": _whole(forest.right[a:b]),
        "leaf_value": _real(forest.values[c:e]),
        "leaf_weight": _whole(counts),
        "leaf_count": _whole(counts),
        "internal_value": _whole(np.zeros(b - a, int)),
        "internal_weight": _whole(inner),
        "internal_count": _whole(inner),
        "is_linear": "0",
        "shrinkage": "1",
    }
    lines = [f"{key}={value}" for key, value in fields.items()]
    return "\n".join([f"Tree={t}", *lines, "", "", ""])


def _counts(cover: Array) -> Array:
    """Whole numbers of at least 1 in proportion to the cover; the cover itself where it is such."""
    if (cover == np.rint(cover)).all() and cover.min() >= 1 and cover.sum() < 2**31:
        return cover.astype(np.int64)
    known = np.where(np.isfinite(cover), np.maximum(cover, 0.0), 0.0)
    total = known.sum()
    return np.maximum(np.rint(known * (_TOTAL / total)) if total > 0 else known, 1.0).astype(np.int64)


def _whole(values: Iterable[int]) -> str:
    return " ".join(str(int(value)) for value in values)


def _real(values: Iterable[float]) -> str:
    return " ".join(repr(float(value)) for value in values)
