"""Feature orders: from the most to the least useful, by the labels of training data.

`gas` (Geng et al., Feature selection for ranking, 2007) weighs how well each feature ranks alone against how alike two
features rank. `rfe` and `lasso` are of least squares within queries: features and labels less their means in the query.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Array, Ints, dense
from podium.metrics import Metric

if TYPE_CHECKING:
    from podium.data.dataset import Dataset

_MANY_FEATURES, _QUERIES = 100, 200
"""Beyond so many features, so many random queries are enough to see how alike two features rank."""
_RIDGE = 1e-3
"""L2 penalty of least squares on features of deviation 1."""


def feature_order(by: str, data: Dataset, *, c: float) -> Ints:
    """All features, the most useful first, by `gas`, `rfe` or `lasso`."""
    X = np.nan_to_num(dense(data.features).astype(np.float64))
    if by == "gas":
        weights, signs = single_feature_values(X, data)
        return gas_order(weights, similarities(X * signs, data.offsets), c)
    gram, products = moments_within_queries(X, data)
    return rfe_order(gram, products) if by == "rfe" else lasso_order(gram, products)


def single_feature_values(X: Array, data: Dataset, metric: str = "ndcg@10") -> tuple[Array, Array]:
    """The mean metric of ranking by each feature in its better direction, and that direction, ±1."""
    assert data.labels is not None, "checked"
    how, values = Metric.parse(metric), np.empty((2, X.shape[1]))
    for l in range(X.shape[1]):
        for row, sign in enumerate((1.0, -1.0)):
            values[row, l] = how.average(how(sign * X[:, l], data.labels, data.offsets)).value
    values = np.nan_to_num(values)  # no query counts
    return values.max(axis=0), np.where(values[1] > values[0], -1.0, 1.0)


def similarities(X: Array, offsets: Ints, *, seed: int = 0) -> Array:
    """Mean over queries of the share of document pairs that two features order alike; a tie counts ½."""  # (d, d)
    queries = np.flatnonzero(np.diff(offsets) > 1)
    if X.shape[1] > _MANY_FEATURES and len(queries) > _QUERIES:
        queries = np.sort(np.random.default_rng(seed).choice(queries, _QUERIES, replace=False))
    total = np.zeros((X.shape[1], X.shape[1]))
    for q in queries:
        x = X[offsets[q] : offsets[q + 1]]
        alike = np.zeros_like(total)
        for i in range(len(x) - 1):
            signs = np.sign(x[i] - x[i + 1 :])
            alike += signs.T @ signs
        total += alike / (len(x) * (len(x) - 1) / 2)
    return np.asarray(0.5 * (1.0 + total / max(len(queries), 1)))


def gas_order(weights: Array, alike: Array, c: float) -> Ints:
    """Greedy: take the feature of the largest weight, then lower those of all others by 2c times their similarity."""
    left, order = weights.astype(np.float64), list[int]()
    for _ in range(len(left)):
        best = int(np.argmax(left))
        order.append(best)
        left = left - 2.0 * c * alike[best]
        left[order] = -np.inf
    return np.array(order, np.int64)


def moments_within_queries(X: Array, data: Dataset) -> tuple[Array, Array]:
    """Correlations of features within queries, and of features with labels; 0 for a constant feature."""
    assert data.labels is not None, "checked"
    y = np.asarray(data.labels, np.float64)[:, None]
    sizes = np.diff(data.offsets)
    sizes, starts = sizes[sizes > 0], data.offsets[:-1][sizes > 0]

    def centred(values: Array) -> Array:
        means = np.add.reduceat(values, starts, axis=0) / sizes[:, None] if len(starts) else values[:0]
        return np.asarray(values - np.repeat(means, sizes, axis=0))

    x, y = centred(X), centred(y)
    norms = np.sqrt((x * x).sum(axis=0))
    varies = norms > 1e-9 * np.maximum(np.sqrt((X * X).sum(axis=0)), 1e-30)
    x = np.divide(x, norms, out=np.zeros_like(x), where=varies)
    return x.T @ x, (x.T @ y)[:, 0] / (np.sqrt((y * y).sum()) or 1.0)


def rfe_order(gram: Array, products: Array, *, drop: float = 0.1) -> Ints:
    """Recursive feature elimination: fit, drop the tenth of the smallest |weights|, and fit again."""
    left, order = np.arange(len(products)), list[int]()
    while len(left):
        ridge = gram[np.ix_(left, left)] + _RIDGE * np.eye(len(left))
        weights = np.abs(np.linalg.solve(ridge, products[left]))
        worst = np.argsort(weights, kind="stable")[: max(int(drop * len(left)), 1)]
        order += left[worst].tolist()
        left = np.delete(left, worst)
    return np.array(order[::-1], np.int64)


def lasso_order(gram: Array, products: Array, *, steps: int = 60, ratio: float = 1e-3) -> Ints:
    """The order in which features enter as the L1 penalty falls; those that never do come last, by correlation."""
    d, weights = len(products), np.zeros(len(products))
    entered, size = np.full(d, steps), np.abs(products).copy()
    for step, strength in enumerate(np.abs(products).max(initial=0.0) * np.geomspace(1.0, ratio, steps)):
        _descend(gram, products, strength, weights)
        new = (weights != 0) & (entered == steps)
        entered[new], size[new] = step, np.abs(weights[new])
    return np.lexsort((-size, entered)).astype(np.int64)


def _descend(gram: Array, products: Array, strength: float, weights: Array) -> None:
    """Coordinate descent on ½wᵀGw − ⟨b, w⟩ + strength·‖w‖₁, from `weights`, which it changes."""
    for _ in range(200):
        largest = 0.0
        for l in np.flatnonzero(np.diag(gram) > 0):
            slope = products[l] - gram[l] @ weights + gram[l, l] * weights[l]
            new = np.sign(slope) * max(abs(slope) - strength, 0.0) / gram[l, l]
            largest, weights[l] = max(largest, abs(new - weights[l])), new
        if largest < 1e-8:
            return
