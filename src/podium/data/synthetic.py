"""Synthetic learning-to-rank data like LETOR's, with the true utility of each document.

    >>> data, utility = make_letor_like(20, n_features=12, seed=1)
    >>> data.n_queries, data.n_features, utility.shape == data.labels.shape
    (20, 12, True)

A document's utility is a function of its features: linear and curved terms, and products of two. A grade is the utility
plus a shift per query and noise, cut at thresholds; so no order of a query's documents is better in expectation than
the one by utility. Besides the relevant features there are noisy mixtures of them and useless ones; each query shifts
and scales its features, and features have different units, some of them exponential.
"""

from __future__ import annotations

import numpy as np

from podium.base.arguments import random_numbers, whole_number
from podium.base.arrays import Array, Ints
from podium.base.errors import ParameterError
from podium.data.dataset import Dataset

_SHARES = np.array([0.52, 0.32, 0.13, 0.02, 0.01])
"""Frequencies of grades 0 to 4, about as in web search."""


def make_letor_like(
    n_queries: int,
    documents: tuple[int, int] = (20, 60),
    *,
    n_features: int = 24,
    noise: float = 0.5,
    seed: int = 0,
) -> tuple[Dataset, Array]:
    """Make a dataset with grades 0 to 4, and the utility of each of its rows.

    `documents` are the smallest and largest number per query; `noise` is that of grades in standard deviations of
    utility. A quarter of the features is linear in the utility, a quarter curved or multiplied, a quarter redundant, a
    quarter useless. The function depends on the seed, so split one dataset rather than making two.

    `n_queries`: the number of queries, and `n_features` that of features, at least 4.
    `seed`: the same seed gives the same data.
    """
    data, utility, _ = _letor_like(n_queries, documents, n_features=n_features, noise=noise, seed=seed)
    return data, utility


def useless_features(
    n_queries: int, documents: tuple[int, int] = (20, 60), *, n_features: int = 24, noise: float = 0.5, seed: int = 0
) -> Ints:
    """Indices of the features that `make_letor_like` draws without any relation to the utility."""
    return _letor_like(n_queries, documents, n_features=n_features, noise=noise, seed=seed)[2]


def _letor_like(
    n_queries: int, documents: tuple[int, int], *, n_features: int, noise: float, seed: int
) -> tuple[Dataset, Array, Ints]:
    """The data, the utility of its rows, and its useless features."""
    for name, value in (("n_queries", n_queries), ("n_features", n_features), *(("documents", n) for n in documents)):
        whole_number(value, name, least=0)
    if not (n_queries >= 1 and 1 <= documents[0] <= documents[1] and n_features >= 4 and 0 <= noise < np.inf):
        raise ParameterError(
            "make_letor_like needs n_queries ≥ 1, documents (least, most) with 1 ≤ least ≤ most, n_features ≥ 4 and "
            f"noise ≥ 0; got {n_queries}, {documents}, {n_features}, {noise}."
        )
    rng = random_numbers(seed)
    sizes = rng.integers(documents[0], documents[1], n_queries, endpoint=True)
    query = np.repeat(np.arange(n_queries), sizes)
    linear, bent, redundant = (n_features // 4,) * 3
    useless = n_features - linear - bent - redundant
    z = rng.standard_normal((len(query), linear + bent))  # relevant features
    utility = _utility(z[:, :linear], z[:, linear:], rng)
    mixtures = z @ rng.standard_normal((linear + bent, redundant)) / np.sqrt(linear + bent)
    mixtures += rng.standard_normal(mixtures.shape)
    features = np.column_stack([z, mixtures, rng.standard_normal((len(query), useless))])
    features = _shifted(features, query, n_queries, rng)
    grades = _grades(utility + noise * rng.standard_normal(len(query)), query, n_queries, rng)
    order = rng.permutation(n_features)
    data = Dataset.from_arrays(
        features[:, order],
        grades,
        group=sizes,
        document_ids=[f"{q}-{k}" for q, size in enumerate(sizes) for k in range(size)],
        source="synthetic",
    )
    return data.grouped(), utility, np.flatnonzero(order >= n_features - useless)


def _utility(straight: Array, bent: Array, rng: np.random.Generator) -> Array:
    """Utility with mean 0 and deviation 1, about half of its variance linear."""
    linear = straight @ rng.uniform(0.5, 1.5, straight.shape[1])
    curved = np.zeros(len(bent))
    for k in range(bent.shape[1]):
        if k % 2 == 0:
            curved += np.tanh(2 * bent[:, k]) + 0.3 * bent[:, k] ** 2
        else:
            curved += bent[:, k] * straight[:, k % straight.shape[1]]
    return _standard(_standard(linear) + _standard(curved))


def _standard(x: Array) -> Array:
    return np.asarray((x - x.mean()) / (x.std() or 1.0))


def _shifted(features: Array, query: Ints, n_queries: int, rng: np.random.Generator) -> Array:
    """Shift and scale features per query, each in its own unit; every third is exponential."""
    d = features.shape[1]
    seen = features * rng.uniform(0.7, 1.3, (n_queries, d))[query] + 0.5 * rng.standard_normal((n_queries, d))[query]
    seen[:, ::3] = np.exp(0.5 * seen[:, ::3])
    return np.asarray(seen * 10.0 ** rng.integers(-1, 3, d))


def _grades(blurred: Array, query: Ints, n_queries: int, rng: np.random.Generator) -> Array:
    """Grades 0 to 4 by common thresholds, in queries of different difficulty."""
    shifted = blurred + 0.5 * rng.standard_normal(n_queries)[query]
    cuts = np.quantile(shifted, np.cumsum(_SHARES)[:-1])
    return np.searchsorted(cuts, shifted, side="left").astype(np.float64)
