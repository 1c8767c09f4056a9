"""Covariate shift: weights of queries that make training data look like other data.

    >>> import numpy as np
    >>> from podium.data.dataset import Dataset
    >>> rng = np.random.default_rng(0)
    >>> def queries(mean):
    ...     X = np.repeat(rng.normal(mean, 1.0, (60, 1)), 2, axis=0)
    ...     return Dataset.from_arrays(X, group=[2] * 60).grouped()
    >>> source, target = queries(0.0), queries(1.0)
    >>> like = shift_weights(source, target)
    >>> bool(np.corrcoef(like.weights, source.features[::2, 0])[0, 1] > 0.5), round(float(like.weights.mean()), 6)
    (True, 1.0)

A logistic regression tells queries of the one from those of the other by their features z: p(z) is the probability that
a query is of the target. A source query weighs (n_s/n_t)·p/(1 − p), the ratio of both densities, by a regression that
did not see it (5 folds); weights are clipped to 0.1 … 10, and their mean is 1. Reference: Sugiyama, Krauledat & Müller,
Covariate shift adaptation by importance weighted cross validation, JMLR 2007.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from podium.base.arguments import random_numbers
from podium.base.arrays import Array, dense
from podium.base.errors import DataError
from podium.data.dataset import Dataset

FOLDS = 5
LEAST_EFFECTIVE = 0.3
"""Share of the queries below which weights leave too few of them to learn from."""


@dataclass(frozen=True, eq=False)
class ShiftWeights:
    """Weights of queries, of mean 1."""

    weights: Array  # (Q,)
    names: tuple[str, ...]  # of the features by which queries were told apart

    @property
    def effective(self) -> float:
        """Effective sample size: the number of queries of equal weight that are as many, (Σw)²/Σw²."""
        return float(self.weights.sum() ** 2 / (self.weights**2).sum())

    @property
    def too_few(self) -> bool:
        """Whether the effective sample size is below 30 % of the queries."""
        return self.effective < LEAST_EFFECTIVE * len(self.weights)


def shift_weights(source: Dataset, target: Dataset, *, seed: int = 0) -> ShiftWeights:
    """Weights of the source's queries by which they are like the target's.

    Queries are described by their query features, or if they have none, by the means of their documents' features.
    """
    first, names = _described(source)
    second, others = _described(target)
    if names != others:
        raise DataError(
            f"queries of {source.source or 'the source'} have the features {', '.join(names[:5])}, those of "
            f"{target.source or 'the target'} {', '.join(others[:5])}. Give both the same .queries columns.",
            where=target.source,
        )
    fewest = min(len(first), len(second))
    if fewest < FOLDS:
        raise DataError(f"{fewest} queries on one side; {FOLDS} are needed to tell both sides apart.")
    z = _standardised(np.concatenate([first, second]))
    is_target = np.arange(len(z)) >= len(first)
    fold = np.concatenate([random_numbers(seed).permutation(len(part)) % FOLDS for part in (first, second)])
    odds = np.empty(len(z))
    for k in range(FOLDS):
        theta = _logistic(z[fold != k], is_target[fold != k])
        odds[fold == k] = np.exp(np.clip(z[fold == k] @ theta[:-1] + theta[-1], -50.0, 50.0))
    weights = np.clip(len(first) / len(second) * odds[: len(first)], 0.1, 10.0)
    return ShiftWeights(weights / weights.mean(), names)


def _described(data: Dataset) -> tuple[Array, tuple[str, ...]]:
    """Numbers that describe each query, and their names."""  # (Q, m)
    if data.query_features is not None:
        names = data.query_feature_names or tuple(f"q{k}" for k in range(1, data.query_features.shape[1] + 1))
        return np.asarray(data.query_features, np.float64), names
    X = np.nan_to_num(np.asarray(dense(data.features[:]), np.float64))
    sums = np.zeros((data.n_queries, data.n_features))
    np.add.at(sums, data.query_index, X)
    names = data.feature_names or tuple(f"f{k}" for k in range(1, data.n_features + 1))
    return sums / np.maximum(data.sizes, 1)[:, None], tuple(f"mean of {name}" for name in names)


def _standardised(z: Array) -> Array:
    z = np.nan_to_num(z)
    deviation = z.std(axis=0)
    return np.asarray((z - z.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0))


def _logistic(z: Array, is_target: Array) -> Array:
    """Coefficients of a logistic regression and its offset, with the penalty ½‖θ‖² of the coefficients."""  # (m + 1,)
    from scipy.optimize import minimize

    sign = np.where(is_target, 1.0, -1.0)

    def objective(theta: Array) -> tuple[float, Array]:
        margin = sign * (z @ theta[:-1] + theta[-1])
        force = -sign / (1.0 + np.exp(np.clip(margin, -500.0, 500.0)))
        value = np.logaddexp(0.0, -margin).sum() + 0.5 * theta[:-1] @ theta[:-1]
        return float(value), np.append(z.T @ force + theta[:-1], force.sum())

    return np.asarray(minimize(objective, np.zeros(z.shape[1] + 1), jac=True, method="L-BFGS-B").x)
