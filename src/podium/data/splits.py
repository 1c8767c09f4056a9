"""Random splits by query: all documents of a query are in one part. The same seed gives the same split.

>>> from podium.data.synthetic import make_letor_like
>>> data, _ = make_letor_like(10)
>>> [part.n_queries for part in split(data)]
[6, 2, 2]
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from podium.base.arguments import random_numbers, whole_number
from podium.base.arrays import Flags, Ints
from podium.base.columns import float_numbers
from podium.base.errors import DataError, ParameterError, counted
from podium.data.dataset import Dataset
from podium.data.fold import Fold
from podium.data.inputs import labelled_data


def split(data: object, fractions: Sequence[float] = (0.6, 0.2, 0.2), *, seed: int = 0) -> tuple[Dataset, ...]:
    """Split a dataset or frame at random into parts with these fractions of the queries; none is empty.

    `data`: a Dataset, a frame, or any labelled data.
    `seed`: of the order in which queries are dealt; the same seed gives the same parts.
    `fractions`: share of each part; they add up to 1.
    """
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


def hold_out(data: object, fraction: float = 0.2, *, seed: int = 0) -> tuple[Dataset, Dataset | None]:
    """Training and validation data: a fraction of the queries is held out, chosen by query id and seed.

    The order of rows and queries does not matter. Queries that can decide between rankers (`deciding`) and queries that
    cannot are held out in the same proportion. None is held out if fewer than LEAST_DECIDING can decide.
    """
    dataset = labelled_data(data)
    held = queries_to_hold_out(dataset, fraction, deciding(dataset), seed=seed)
    return (dataset, None) if held is None else parts_of(dataset, held)


def parts_of(data: Dataset, held: Ints) -> tuple[Dataset, Dataset]:
    """The data without some queries, and those queries."""
    rest = np.setdiff1d(np.arange(data.n_queries), held)
    return data.select(rest), replace(data.select(held), source=f"{data.source or 'data'} (held out)")


def queries_to_hold_out(data: Dataset, fraction: float, decides: Flags, *, seed: int = 0) -> Ints | None:
    """Numbers of the queries that `hold_out` holds out; None if too few can decide."""
    if not 0.0 < fraction < 1.0:
        raise ParameterError(f"the fraction of queries to hold out must be above 0 and below 1; got {fraction:g}.")
    seed = whole_number(seed, "seed", least=0)
    if decides.sum() < LEAST_DECIDING:
        return None
    names = (data.query_name(q).encode("utf-8", "surrogateescape") for q in range(data.n_queries))
    keys = [hashlib.sha256(b"%d %b" % (seed, name)).digest() for name in names]
    held: list[int] = []
    for part, least in ((np.flatnonzero(decides), 2), (np.flatnonzero(~decides), 0)):
        count = min(max(round(fraction * len(part)), least), len(part) - least)
        held += sorted(part.tolist(), key=keys.__getitem__)[:count]
    return np.array(sorted(held), np.int64)


LEAST_DECIDING = 10
"""Queries that can decide between rankers, below which none is held out: a metric over one or two would be noise."""


def deciding(data: Dataset) -> Flags:
    """Whether each query has documents of different relevance, by labels or document weights.

    In another query, every order is as good as any.
    """  # (Q,)
    if data.document_weights is not None:
        relevance = data.relevance()
    elif data.labels is not None:
        relevance = data.labels
    else:
        return np.zeros(data.n_queries, np.bool_)
    rows = [relevance[a:b] for a, b in itertools.pairwise(data.offsets.tolist())]
    judged = [values[~np.isnan(values)] for values in rows]
    return np.array([len(values) > 0 and values.min() < values.max() for values in judged], np.bool_)


def k_folds(data: object, k: int = 5, *, seed: int = 0) -> list[Fold]:
    """Make k folds for cross-validation as LETOR does: each of k parts of the queries is test data once.

    The next part is validation data, and the others are training data.

    `seed`: of the order in which queries are dealt into folds.
    `data`: a Dataset, a frame, or any labelled data.
    `k`: the number of folds, at least 3.
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
