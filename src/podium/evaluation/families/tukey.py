"""Tukey's honestly significant differences: all pairs of systems tested together, with the queries as blocks.

    >>> import numpy as np
    >>> values = np.array([[0.2, 0.5, 0.4, 0.7], [0.4, 0.7, 0.5, 0.9], [0.2, 0.6, 0.4, 0.6]])
    >>> tukey(values, [(1, 0), (1, 2), (0, 2)]).round(4)
    array([0.01, 0.01, 1.  ])

The probability that any two equal systems of the family seem to differ is at most the level, so p-values need no other
correction. Reference: Carterette, Multiple testing in statistical analysis of systems-based information retrieval
experiments, TOIS 2012.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from podium.base.arguments import random_numbers
from podium.base.arrays import Array
from podium.base.errors import DataError

_BATCH = 2_000_000  # numbers held at once
_SLACK = 1e-12


def tukey(table: Array, pairs: Sequence[tuple[int, int]]) -> Array:
    """The p-values of pairs of systems (rows of the table) by the studentised range.

    Values are system + query + error, errors normal and of one spread: the range of m means over the standard error,
    of (m − 1)(Q − 1) degrees of freedom, has Tukey's distribution if no two systems differ.
    """
    from scipy.stats import studentized_range

    values = _complete(table)
    m, queries = values.shape
    means = values.mean(axis=1)
    residuals = values - means[:, None] - values.mean(axis=0) + values.mean()
    free = (m - 1) * (queries - 1)
    error = np.sqrt((residuals**2).sum() / free / queries)
    gaps = np.array([abs(means[i] - means[j]) for i, j in pairs])
    if error <= _SLACK * max(np.abs(values).max(), _SLACK):
        return np.where(gaps <= _SLACK, 1.0, 2.0 ** (1 - queries))  # as n fair coins agree
    return np.asarray(studentized_range.sf(gaps / error, m, free), np.float64)


def randomised_tukey(table: Array, pairs: Sequence[tuple[int, int]], *, rounds: int = 10_000, seed: int = 0) -> Array:
    """The p-values of pairs of systems by random permutations of the systems within each query.

    p = (1 + draws whose largest difference of two means is as large)/(1 + draws): no distribution is assumed.
    """
    values, rng = _complete(table), random_numbers(seed)
    m, queries = values.shape
    gaps = np.array([abs(values[i].mean() - values[j].mean()) for i, j in pairs])
    batch, as_large = max(1, _BATCH // values.size), np.zeros(len(pairs))
    for start in range(0, rounds, batch):
        drawn = np.broadcast_to(values, (min(batch, rounds - start), m, queries))
        means = rng.permuted(drawn, axis=1).mean(axis=2)
        ranges = means.max(axis=1) - means.min(axis=1)
        as_large += (ranges[:, None] >= gaps - _SLACK).sum(axis=0)
    return np.asarray((1 + as_large) / (1 + rounds), np.float64)


def _complete(table: Array) -> Array:
    """The queries that count for all systems."""
    values = table[:, ~np.isnan(table).any(axis=0)]
    if values.shape[1] < 2:
        raise DataError(f"{values.shape[1]} queries count for all systems; at least 2 are needed to tell a difference.")
    return values
