"""A sum over thresholds as trees, one for each feature: the scores are the same bits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from podium.arrays import Array
from podium.float32 import round_down
from podium.forms import StumpsForm
from podium.scorers.trees.forest import EXACT, Forest


def forest_of_stumps(form: StumpsForm, n_features: int) -> Forest:
    """A tree for each feature, in their order: its leaves are the sums of α over the thresholds passed."""
    features, splits, values = [], [], []
    for l in np.unique(form.feature):
        mine = np.flatnonzero(form.feature == l)
        mine = mine[np.argsort(form.threshold[mine], kind="stable")]
        steps = np.append(0.0, np.cumsum(form.alpha[mine]))
        cuts = round_down(form.threshold[mine]).astype(np.float64)
        kept = np.append(np.diff(cuts) > 0, True)  # of equal thresholds the last: all are passed at once
        rows, leaves = _tree(cuts[kept], steps[np.append(True, kept)], float(form.alpha[mine] @ form.missing[mine]))
        features.append(np.full(len(rows), l))
        splits.append(rows)
        values.append(leaves)
    if not values:  # no threshold at all
        features, splits, values = [np.zeros(0)], [np.zeros((0, 4))], [np.zeros(1)]
    cut, left, right, nan_left = np.concatenate(splits).T
    return Forest(
        n_features=n_features,
        first_split=np.cumsum([0, *map(len, splits)]),
        first_leaf=np.cumsum([0, *map(len, values)]),
        feature=np.concatenate(features).astype(np.int32),
        threshold=cut,
        left=left.astype(np.int32),
        right=right.astype(np.int32),
        missing=np.full(len(cut), EXACT, np.uint8),
        missing_left=nan_left.astype(bool),
        values=np.concatenate(values),
    )


def _tree(cuts: Array, steps: Array, missing: float) -> tuple[NDArray[np.float64], Array]:
    """Rows of (threshold, left, right, whether NaN goes left) from the root, by halving; and the leaves' values.

    NaN goes to the leaf with the value of missing ones; where there is none, the first split parts it from all numbers.
    """
    same = np.flatnonzero(steps == missing)
    rows: list[list[float]] = [] if len(same) else [[np.inf, 1, -1 - len(steps), False]]
    values = steps if len(same) else np.append(steps, missing)
    waiting = [(0, len(cuts), -1, 0)]
    while waiting:  # thresholds a:b are on the left (1) or right (2) of the split `above`
        a, b, above, side = waiting.pop()
        if above >= 0:
            rows[above][side] = -1 - a if a == b else len(rows)
        if a < b:
            middle = (a + b) // 2
            here = len(rows)
            rows.append([cuts[middle], 0, 0, bool(len(same)) and bool(same[0] <= middle)])
            waiting += [(middle + 1, b, here, 2), (a, middle, here, 1)]
    return np.array(rows, np.float64), values
