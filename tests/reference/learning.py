"""Slow and obvious: ridge regression in closed form, and small data for learners."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from podium.data.dataset import Dataset


def ridge(data: Dataset, penalty: float) -> tuple[NDArray[np.float64], float]:
    """Weights and offset that minimise (1/Q) Σ (⟨w, x⟩ + b − y)² + (λ/2)‖w‖², and that minimum."""
    X = np.column_stack([data.features, np.ones(data.n_documents)]).astype(np.float64)
    shrink = np.diag([*np.ones(data.n_features), 0.0]) * penalty / 2
    theta = np.linalg.solve(X.T @ X / data.n_queries + shrink, X.T @ data.labels / data.n_queries)
    value = np.sum((X @ theta - data.labels) ** 2) / data.n_queries + theta @ shrink @ theta
    return theta, float(value)


def linear_data(
    n_queries: int = 8, documents: int = 6, *, n_features: int = 3, noise: float = 0.3, seed: int = 0
) -> Dataset:
    """Standard normal features, and grades 0 to 2 of a noisy linear utility."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_queries * documents, n_features))
    utility = X @ np.linspace(1.0, -1.0, n_features) + noise * rng.standard_normal(len(X))
    grades = np.digitize(utility, [0.0, 1.0])
    return Dataset.from_arrays(X, grades, group=np.full(n_queries, documents))
