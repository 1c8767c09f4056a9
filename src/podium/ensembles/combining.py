"""Combine the scores of several rankers, query by query: their mean, that of their z-scores, or by places.

>>> import numpy as np
>>> combined(np.array([[3.0, 2.0, 1.0], [0.0, 9.0, 3.0]]), np.array([0, 3]), "borda").tolist()
[1.0, 1.5, 0.5]
"""

from __future__ import annotations

import itertools
from typing import Literal

import numpy as np

from podium.base.arrays import Array, Ints

Combine = Literal["mean", "zscores", "rrf", "borda"]
_RRF = 60.0
"""Constant of reciprocal rank fusion."""


def combined(scores: Array, offsets: Ints, how: Combine) -> Array:
    """One score per document from a row of scores per ranker."""  # (B, N) → (N,)
    return np.asarray(comparable(scores, offsets, how).mean(axis=0))


def comparable(scores: Array, offsets: Ints, how: Combine) -> Array:
    """Scores on a scale that rankers share."""  # (B, N)
    if how == "mean":
        return scores
    rows = [zscores(row, offsets) if how == "zscores" else _points(row, offsets, how) for row in scores]
    return np.stack(rows)


def zscores(scores: Array, offsets: Ints) -> Array:
    """Scores less their query's mean, over their standard deviation; 0 where a query's scores are all equal."""  # (N,)
    out = np.zeros(len(scores))
    for a, b in itertools.pairwise(offsets.tolist()):
        part = scores[a:b]
        if b > a and (top := part.max()) > (low := part.min()):
            part = (part / 2 - low / 2) / (top / 2 - low / 2)  # halves, whose difference never overflows
            out[a:b] = (part - part.mean()) / part.std()
    return out


def slopes(scores: Array, offsets: Ints) -> Array:
    """What a z-score grows by with the score if its query's mean and deviation stay: 1/deviation, or 0."""  # (N,)
    out = np.zeros(len(scores))
    for a, b in itertools.pairwise(offsets.tolist()):
        part = scores[a:b]
        if b > a and part.max() > part.min():
            out[a:b] = 1.0 / part.std()
    return out


def _points(scores: Array, offsets: Ints, how: Combine) -> Array:
    """Borda's points or the reciprocals of places; tied documents have the mean of their places."""  # (N,)
    from scipy.stats import rankdata

    points = np.zeros(len(scores))
    for a, b in itertools.pairwise(offsets.tolist()):
        places = rankdata(-scores[a:b])
        points[a:b] = b - a - places if how == "borda" else 1.0 / (_RRF + places)
    return points
