"""Synthetic data of many shapes: what documents, features and grades look like, and how grades follow from features.

A shape has a seed for its truth, so that training, validation and test queries of one seed follow the same one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from podium.base.arrays import Array, Ints
from podium.data.dataset import Dataset


@dataclass(frozen=True)
class Shape:
    """Sizes, and shares of what is in the data."""

    queries: int = 100
    documents: tuple[int, int] = (10, 40)
    features: int = 40
    useful: float = 0.5
    """Share of features that grades follow from."""
    linear: float = 1.0
    """Weights of the parts of the truth: sums, rising curves, bends, steps, and products of two features."""
    curves: float = 0.0
    bends: float = 0.0
    steps: float = 0.0
    products: float = 0.0
    noise: float = 1.0
    """Standard deviation of noise, that of the truth being 1."""
    grades: tuple[float, ...] = (0.6, 0.85, 0.95, 0.99)
    """Quantiles at which the next grade begins."""
    levels: float = 0.0
    """Standard deviation of a feature's level between queries, for half of the features."""
    scales: float = 0.0
    """Standard deviation of the logarithm of its scale."""
    tails: float = 1.0
    """Power of features: above 1, tails are heavy."""
    zeros: float = 0.0
    """Share of zeros, for half of the features."""
    missing: float = 0.0
    """Share of missing values."""
    copies: float = 0.0
    """Share of features that nearly repeat another."""


def parts(shape: Shape, seed: int, *, tested: int = 200) -> tuple[Dataset, Dataset, Dataset]:
    """Training, validation (a third as many queries, 20 at least) and test data."""
    sizes = (shape.queries, max(shape.queries // 3, 20), tested)
    train, valid, test = (drawn(shape, n, truth=seed, seed=3 * seed + k) for k, n in enumerate(sizes))
    return train, valid, test


def drawn(shape: Shape, queries: int, *, truth: int, seed: int) -> Dataset:
    """Queries of a shape."""
    fixed, rng = np.random.default_rng([truth, 1]), np.random.default_rng([seed, 2])
    sizes = rng.integers(shape.documents[0], shape.documents[1] + 1, queries)
    Z = rng.standard_normal((int(sizes.sum()), shape.features))
    repeats = fixed.random(shape.features) < shape.copies
    Z[:, repeats] = 0.9 * Z[:, fixed.integers(shape.features, size=repeats.sum())] + 0.4 * Z[:, repeats]
    use = _truth(shape, Z, fixed) + shape.noise * rng.standard_normal(len(Z))
    cuts = np.quantile(use, shape.grades)
    X = _seen(shape, Z, np.repeat(np.arange(queries), sizes), fixed, rng)
    return Dataset.from_arrays(X.astype(np.float32), np.digitize(use, cuts).astype(np.float64), group=sizes)


def _truth(shape: Shape, Z: Array, fixed: np.random.Generator) -> Array:
    """What grades follow from, without noise: mean 0, standard deviation 1."""
    useful = fixed.permutation(shape.features)[: max(round(shape.useful * shape.features), 4)]
    own = Z[:, useful]
    bent = own[:, :8]
    terms = {
        "linear": own @ fixed.standard_normal(len(useful)),
        "curves": np.exp(0.7 * bent) @ fixed.standard_normal(bent.shape[1]),
        "bends": np.abs(bent) @ fixed.standard_normal(bent.shape[1]),
        "steps": (own > fixed.standard_normal(len(useful))) @ fixed.standard_normal(len(useful)),
        "products": sum((bent[:, k] * bent[:, k - 1] for k in range(1, bent.shape[1], 2)), np.zeros(len(Z))),
    }
    use = np.zeros(len(Z))
    for name, term in terms.items():
        use += getattr(shape, name) * (term - term.mean()) / term.std()
    return use / max(use.std(), 1e-12)


def _seen(shape: Shape, Z: Array, q: Ints, fixed: np.random.Generator, rng: np.random.Generator) -> Array:
    """Features as a ranker sees them."""
    d, queries = shape.features, int(q[-1]) + 1
    by_query, sparse = fixed.random(d) < 0.5, fixed.random(d) < 0.5
    level = shape.levels * rng.standard_normal((queries, d))
    scale = np.exp(shape.scales * rng.standard_normal((queries, d)))
    X = np.where(by_query, (Z + level[q]) * scale[q], Z)
    X = np.sign(X) * np.abs(X) ** shape.tails
    X = np.where(sparse & (rng.random(X.shape) < shape.zeros), 0.0, X)
    return np.where(rng.random(X.shape) < shape.missing, np.nan, X)
