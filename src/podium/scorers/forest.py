"""Forest: regression trees as plain arrays, the one form that scoring, exporting and importing share.

>>> import numpy as np
>>> from podium.scorers import tree_text
>>> read_forest(np.frombuffer(tree_text.constant(3), np.uint8), 3).values.tolist()
[0.0]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.arrays import Array
from podium.errors import ModelFileError
from podium.scorers import tree_text

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


def read_forest(text: NDArray[np.uint8], n_features: int, *, exact: bool = False) -> Forest:
    """The trees of LightGBM's text, which is checked first. With `exact`, values next to 0 are themselves."""
    whole = text.tobytes()
    tree_text.check(whole, n_features)
    found: dict[str, list[str]] = {key: [] for key in _TYPES}
    splits, leaves = [0], [0]
    for line in whole.decode().splitlines():
        key, _, value = line.partition("=")
        if key in found:
            found[key].append(value)
        elif key == "num_leaves":
            splits.append(splits[-1] + int(value) - 1)
            leaves.append(leaves[-1] + int(value))
    arrays: dict[str, Any] = {key: np.array(" ".join(found[key]).split(), of) for key, of in _TYPES.items()}
    decision = arrays["decision_type"]
    missing = (decision >> 2 & 3).astype(np.uint8)
    if exact and (missing != NAN).any():
        raise ModelFileError("Trees that take small values as they are must have NaN for missing. Import them again.")
    return Forest(
        n_features=n_features,
        first_split=np.array(splits),
        first_leaf=np.array(leaves),
        feature=arrays["split_feature"],
        threshold=arrays["threshold"],
        left=arrays["left_child"],
        right=arrays["right_child"],
        missing=np.full_like(missing, EXACT) if exact else missing,
        missing_left=(decision & 2).astype(bool),
        values=arrays["leaf_value"],
        cover=arrays["leaf_count"] if len(arrays["leaf_count"]) == leaves[-1] else None,
    )


_TYPES = {
    "split_feature": np.int32,
    "threshold": np.float64,
    "decision_type": np.int64,
    "left_child": np.int32,
    "right_child": np.int32,
    "leaf_value": np.float64,
    "leaf_count": np.float64,
}
