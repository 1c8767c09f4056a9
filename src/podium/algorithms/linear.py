"""Scores ⟨w, x⟩ of learners whose model is a direction, and grades where it has thresholds too."""

from __future__ import annotations

import numpy as np

from podium.algorithms.requirements import Array, fitted
from podium.data.dataset import Dataset
from podium.learner import Params
from podium.problem import refuse_missing
from podium.scorers import Linear


def linear_scores(params: Params, data: Dataset, *, who: str) -> Array:
    """⟨w, x⟩ for each document."""  # (N,)
    refuse_missing(data, who)
    return Linear().score(np.append(fitted(params, "weights", (data.n_features,)), 0.0), data.features)


def grade_of(scores: Array, params: Params) -> Array:
    """min{r : s < b_r} with b_K = ∞, as the grade of that number."""
    grades = fitted(params, "grades", (None,))
    above = np.append(fitted(params, "thresholds", (len(grades) - 1,)), np.inf)
    return np.asarray(grades[np.argmax(scores[:, None] < above, axis=1)])
