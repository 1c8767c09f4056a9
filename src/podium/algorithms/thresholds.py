"""Thresholds between grades: from a score to a predicted grade, and the thresholds with the smallest absolute error.

>>> import numpy as np
>>> learned = best_thresholds(np.array([0.1, 0.4, 0.5, 0.9]), np.array([0, 0, 1, 3]))
>>> learned["thresholds"].tolist(), grade_of(np.array([0.3, 0.5, 2.0]), learned).tolist()
([0.45, 0.7], [0.0, 1.0, 3.0])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.errors import ModelFileError, needs_memory
from podium.learner import fitted
from podium.scorers import Params


def grade_of(scores: Array, params: Params) -> Array:
    """Predicted grades: that of min{r : s < b_r}, with b_K = ∞."""
    grades = fitted(params, "grades", (None,))
    above = np.append(fitted(params, "thresholds", (len(grades) - 1,)), np.inf)
    return np.asarray(grades[np.searchsorted(above, scores, side="right")])


def best_thresholds(scores: Array, labels: Array) -> Params:
    """The grades of the labels, and thresholds b_1 ≤ … ≤ b_{K−1} on the scores with the smallest Σ|grade − label|.

    The minimum is exact: with C_k(i) the error if the i lowest scores had grade k, the best of the first k grades is
    F_k(i) = C_k(i) + min_{j ≤ i} (F_{k−1}(j) − C_k(j)). Cuts are between different scores only, in the middle of two.
    A grade that would only add errors gets no scores: its two thresholds are equal. Cost: O(N·(K + log N)).
    """
    order = np.argsort(scores, kind="stable")
    s, y = scores[order], labels[order]
    grades = np.unique(labels)
    needs_memory(
        16.0 * len(grades) * len(s), f"Thresholds between {len(grades)} grades", instead="Round the labels first."
    )
    places = np.concatenate([[0], np.flatnonzero(np.diff(s) > 0) + 1, [len(s)]])  # where a cut may be
    errors = [np.append(0.0, np.cumsum(np.abs(grade - y)))[places] for grade in grades]
    best, steps = errors[0], []
    for error in errors[1:]:
        gain = best - error
        lowest = np.minimum.accumulate(gain)
        steps.append(_first_places(gain, lowest))
        best = error + lowest
    cut, cuts = len(places) - 1, np.empty(len(steps), np.int64)
    for k in range(len(steps) - 1, -1, -1):
        cut = cuts[k] = steps[k][cut]
    edges = np.concatenate([s[:1], (s[places[1:-1] - 1] + s[places[1:-1]]) / 2, np.nextafter(s[-1:], np.inf)])
    return {"grades": grades, "thresholds": edges[cuts]}


def _first_places(values: Array, lowest: Array) -> Ints:
    """For each place, the first place that has the running minimum."""
    new = np.append(True, values[1:] < lowest[:-1])
    return np.asarray(np.maximum.accumulate(np.where(new, np.arange(len(values)), 0)))


def thresholds_of(record: Any) -> Params:
    """Grades and thresholds as the model's record has them."""
    try:
        read = {name: np.array(record[name], np.float64) for name in ("grades", "thresholds")}
        if not (np.diff(read["thresholds"]) >= 0.0).all():
            raise ValueError("thresholds that fall")
    except (TypeError, KeyError, ValueError, OverflowError) as error:
        raise ModelFileError(f"Its thresholds between grades cannot be read ({error!r}). Learn them again.") from None
    return read
