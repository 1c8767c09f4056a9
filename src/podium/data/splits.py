"""Random splits by query: all documents of a query are in one part. The same seed gives the same split.

>>> from podium.data.synthetic import make_letor_like
>>> data, _ = make_letor_like(10)
>>> [part.n_queries for part in split(data)]
[6, 2, 2]
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from podium.base.arguments import random_numbers, whole_number
from podium.base.columns import float_numbers
from podium.base.errors import DataError, ParameterError, counted
from podium.data.dataset import Dataset
from podium.data.fold import Fold
from podium.data.inputs import labelled_data


def split(data: object, fractions: Sequence[float] = (0.6, 0.2, 0.2), *, seed: int = 0) -> tuple[Dataset, ...]:
    """Split a dataset or frame at random into parts with these fractions of the queries; none is empty."""
    shares = float_numbers(fractions, "fraction")
    if not ((shares > 0).all() and abs(shares.sum() - 1) <= 1e-9):
        raise ParameterError(f"the fractions of a split must be positive and add up to 1; got {shares.tolist()}.")
    dataset = labelled_data(data)
    _need(dataset, len(shares), "split into")
    n = dataset.n_queries
    cuts = np.rint(np.cumsum(shares) * n).astype(np.int64)[:-1]
    for k in range(len(cuts)):  # no part may be empty
        cuts[k] = max(cuts[k], (cuts[k - 1] if k else 0) + 1)
    for k in range(len(cuts) - 1, -1, -1):
        cuts[k] = min(cuts[k], (cuts[k + 1] if k + 1 < len(cuts) else n) - 1)
    order = random_numbers(seed).permutation(n)
    return tuple(dataset.select(np.sort(part)) for part in np.split(order, cuts))


def k_folds(data: object, k: int = 5, *, seed: int = 0) -> list[Fold]:
    """Make k folds for cross-validation as LETOR does: each of k parts of the queries is test data once.

    The next part is validation data, and the others are training data.
    """
    k = whole_number(k, "k", least=0)
    if k < 3:
        raise ParameterError(f"k_folds needs k ≥ 3, for training, validation and test data; got {k}.")
    dataset = labelled_data(data)
    _need(dataset, k, "held out in")
    parts = [np.sort(part) for part in np.array_split(random_numbers(seed).permutation(dataset.n_queries), k)]
    folds = []
    for i, test in enumerate(parts):
        valid = parts[(i + 1) % k]
        rest = np.setdiff1d(np.arange(dataset.n_queries), np.concatenate([test, valid]))
        folds.append(Fold(dataset.select(rest), dataset.select(valid), dataset.select(test), f"Fold{i + 1}"))
    return folds


def _need(data: Dataset, parts: int, verb: str) -> None:
    if data.n_queries < parts:
        raise DataError(
            f"{counted(data.n_queries, 'query', 'queries')} cannot be {verb} {parts} parts without cutting one. "
            "Do all documents have their qid?",
            where=data.source,
        )
