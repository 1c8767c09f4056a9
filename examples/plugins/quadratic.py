"""Scores that bend: a weight for each feature and one for its square."""

from typing import Any

import numpy as np

from podium.base.arrays import Array, dense
from podium.base.registry import register
from podium.scorers.base import RowScorer


@register
class Quadratic(RowScorer):
    """f(x) = Σ_l w_l·x_l + v_l·x_l².

    Cost: two passes over the features per evaluation.
    Use it for: features that are best at a middle value, such as the length of a document.
    """

    solver = "lbfgs"

    def n_params(self, n_features: int) -> int:
        return 2 * n_features

    def init(self, n_features: int, rng: np.random.Generator) -> Array:
        return np.zeros(2 * n_features)

    def penalised(self, n_features: int) -> Array:
        return np.ones(2 * n_features)

    def score_rows(self, theta: Array, X: Any) -> Array:
        return np.asarray(_with_squares(X) @ theta)

    def pullback_rows(self, theta: Array, X: Any, gradient: Array) -> Array:
        return np.asarray(_with_squares(X).T @ gradient)


def _with_squares(X: Any) -> Array:
    x = dense(X).astype(np.float64)
    return np.hstack([x, x * x])
