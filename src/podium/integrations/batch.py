"""Batch of queries as other libraries hold it: scores and labels in a row with sizes of queries, or padded.

>>> import numpy as np
>>> from podium.losses import RankNet
>>> value, gradient, _ = mean_loss(RankNet(), np.array([2.0, 1.0, 0.0]), np.array([1, 0, 0]), group=[2, 1])
>>> round(value, 4)  # log(1 + e^−1) and 0, over two queries
0.1566
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array, Flags, Ints
from podium.base.errors import DataError, IncompatibleError
from podium.data.dataset import Dataset
from podium.losses import Loss, sweep


def parsed(loss: Loss | str) -> Loss:
    """Loss by its specification."""
    return loss if isinstance(loss, Loss) else Loss.parse(loss)


def mean_loss(
    loss: Loss, scores: ArrayLike, labels: ArrayLike, *, group: ArrayLike | None = None, mask: ArrayLike | None = None
) -> tuple[float, Array, Array]:
    """Mean of a loss over the queries of a batch, its gradient in scores and in learned parameters.

    Scores and labels are (N,), with the sizes of consecutive queries in `group`, by default one query; or (B, n), one
    query per row, with `mask` True at documents and False at padding, by default no padding.
    """
    s, y = np.array(scores, np.float64), np.array(labels, np.float64)
    if s.shape != y.shape:
        raise DataError(f"labels have shape {y.shape}, scores {s.shape}. Give every score one label.")
    keep, sizes = _layout(s, group, mask)
    got = sweep(loss, finite_scores(s[keep]), labelled_queries(y[keep], sizes))
    gradient = np.zeros(s.shape)
    gradient[keep] = got.gradient / len(sizes)
    return got.value / len(sizes), gradient, got.params / len(sizes)


def finite_scores(scores: Array) -> Array:
    """Scores, which must be numbers."""
    return _finite(scores, "score", "Lower the learning rate, and look for features that are not numbers")


def labelled_queries(labels: Array, sizes: Ints, row_weights: Array | None = None) -> Dataset:
    """Labels of queries as a dataset without features."""
    _finite(labels, "label", "Leave documents without a label out; in padded scores, set their mask to False")
    offsets = np.append(0, np.cumsum(sizes))
    if (sizes < 0).any() or offsets[-1] != len(labels):
        raise DataError(
            f"the sizes of {len(sizes)} queries add up to {offsets[-1]}, but there are {len(labels)} documents. "
            "State the number of documents of each query, in the order of the rows."
        )
    return Dataset(np.empty((len(labels), 0), np.float32), labels, offsets, row_weights=row_weights)


def _layout(scores: Array, group: ArrayLike | None, mask: ArrayLike | None) -> tuple[Flags, Ints]:
    """Which scores are documents, and the sizes of queries."""
    if scores.ndim not in (1, 2) or scores.size == 0:
        raise DataError(f"scores must have shape (N,) or (B, n), and not be empty; got {scores.shape}.")
    if scores.ndim == 2:
        if group is not None:
            raise IncompatibleError("scores (B, n) have one query per row. Leave group out; mask says what is padding.")
        keep = np.ones(scores.shape, bool) if mask is None else np.array(mask, bool)
        if keep.shape != scores.shape:
            raise DataError(f"mask has shape {keep.shape}, scores {scores.shape}. They must be the same.")
        return keep, keep.sum(axis=1)
    if mask is not None:
        raise IncompatibleError("a mask goes with padded scores (B, n); these are (N,). State the sizes in group.")
    sizes = np.array([len(scores)]) if group is None else np.array(group)
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu":
        raise DataError(f"group must be whole numbers, the sizes of consecutive queries; got {sizes.ravel()[:5]}.")
    return np.ones(len(scores), bool), sizes.astype(np.int64)


def _finite(numbers: Array, what: str, advice: str) -> Array:
    bad = np.flatnonzero(~np.isfinite(numbers))
    if bad.size:
        raise DataError(f"{what} {bad[0] + 1} of {len(numbers)} is {numbers[bad[0]]}. {advice}.")
    return numbers
