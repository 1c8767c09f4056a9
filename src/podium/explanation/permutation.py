"""Permutation importance: the drop of a metric when a feature's values are shuffled among documents.

It works for any model, also without weights or gains of splits. Correlated features share information, so that each
alone may seem to matter little.
Reference: Breiman, Random forests, 2001; Fisher, Rudin and Dominici, All models are wrong, but many are useful, 2019.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Array, is_sparse
from podium.base.matrix_on_disk import on_disk
from podium.training import measured

if TYPE_CHECKING:
    from podium.data.dataset import Dataset
    from podium.metrics import Metric
    from podium.model import Model

SECONDS = 1.0
"""Approximate time limit: with a slow model, fewer queries are used."""
_DENSE = 2**26  # largest number of values of sparse features to make dense


def permuted(model: Model, data: Dataset, metric: Metric, *, seconds: float = SECONDS) -> tuple[Array, str] | None:
    """Permutation importance of each feature as shares of 1, with a description; None if no feature alone matters."""
    part = _affordable(model, data, seconds)
    if part is None:
        return None
    rng = np.random.default_rng(0)
    whole = measured(model, part, metric)
    drops = np.zeros(data.n_features)
    for l in range(data.n_features):
        X = np.array(part.features)
        X[:, l] = rng.permutation(X[:, l])
        drops[l] = max(whole - measured(model, replace(part, features=X), metric), 0.0)
    total = drops.sum()
    if not total > 0:
        return None
    return drops / total, f"drop of {metric} on {part.n_queries} queries when the feature is shuffled"


def _affordable(model: Model, data: Dataset, seconds: float) -> Dataset | None:
    """The first queries, as many as can be scored once per feature in that time; None if not even one can."""
    if is_sparse(data.features) and data.n_documents * data.n_features > _DENSE:
        return None
    whole = data if on_disk(data.features) else data.dense()
    if seconds == np.inf:
        return whole
    few = whole.select(np.arange(min(whole.n_queries, 2)))
    model.score(few)  # compiling and loading are not counted
    start = time.perf_counter()
    model.score(few)
    each = (time.perf_counter() - start) / max(few.n_queries, 1) * data.n_features
    queries = min(whole.n_queries, int(seconds / max(each, 1e-9)))
    return whole.select(np.arange(queries)) if queries else None
