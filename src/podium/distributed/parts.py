"""Parts of a dataset: whole queries that a worker holds, and sums over them for solvers.

Parts depend on the data alone, and their sums are added in fixed order: the number of workers, and which worker has
which part, do not change a bit.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from podium.base.arrays import Array, Ints, is_sparse
from podium.base.matrix_on_disk import on_disk
from podium.data.dataset import Dataset
from podium.data.table import Table
from podium.distributed.dask_cluster import Cluster
from podium.formats.cache.cache import open_cache
from podium.formats.cache.cache_writer import write_cache
from podium.formats.tables.table_rows import shared_table
from podium.losses import Loss, product, sweep
from podium.problem import refuse_missing, without_ids
from podium.scorers import SmoothScorer
from podium.transforms import State, Transform, zscore
from podium.transforms.base import refuse_infinite

CELLS = 2**24
"""Features × documents (64 MB) of a part, if there are enough."""
LEAST, MOST = 8, 1024
"""Smallest and largest number of parts; fewer if there are fewer queries."""


@dataclass(frozen=True)
class Request:
    """Sum to compute: a loss of a scorer, at some parameters."""

    loss: Loss  # with its learned parameters
    scorer: SmoothScorer
    constants: Array  # of the loss, for the whole data
    theta: Array  # of the scorer


def cuts(data: Dataset) -> Ints:
    """First query of each part, and the number of queries: parts of about as many documents, by the data alone."""
    wanted = min(max(LEAST, -(-data.n_documents * data.n_features // CELLS)), MOST, max(data.n_queries, 1))
    places = np.searchsorted(data.offsets, np.linspace(0, data.n_documents, wanted + 1))
    places[0], places[-1] = 0, data.n_queries
    return np.unique(places)


def stored(data: Table, cluster: Cluster) -> Dataset:
    """Data with rows that workers can read: in its cache or Parquet file, else written to a cache."""
    if on_disk(data.features) or is_sparse(data.features):
        return data.grouped()
    table = None if cluster.local else shared_table(data)
    if table is not None:
        return replace(data, features=table.features).grouped()
    return replace(open_cache(written(data, cluster)), source=data.source).grouped()


def written(data: Table, cluster: Cluster) -> Path:
    """Cache of data, written once."""
    if data not in cluster.written:
        folder = cluster.folder()
        write_cache(data, folder)
        cluster.written[data] = folder
    return cluster.written[data]


def pieces(data: Dataset, bounds: Ints) -> list[Dataset]:
    """Datasets of the parts; features on disk are not read here."""
    ranges = itertools.pairwise(bounds.tolist())
    if on_disk(data.features):
        return [_cut(data, a, b) for a, b in ranges]
    return [data.select(np.arange(a, b)) for a, b in ranges]


def _cut(data: Dataset, a: int, b: int) -> Dataset:
    X: Any = data.features
    bare = replace(data, features=np.empty((data.n_documents, 0), np.float32), feature_names=None)
    rows = X.taken(slice(int(data.offsets[a]), int(data.offsets[b])))
    return bare.select(np.arange(a, b)).with_features(rows, data.feature_names)


def load(data: Dataset, in_memory: bool) -> Dataset:
    """Load a part on a worker."""
    refuse_infinite(data, "a cluster")
    return replace(data, features=np.asarray(data.features)) if in_memory and on_disk(data.features) else data


def counts_and_sums(part: Dataset) -> tuple[Array, Array]:
    """Number of known values of each feature, and their sum."""
    return zscore.counts_and_sums(part.features)


def squares(part: Dataset, mean: Array) -> Array:
    """Sum of squared distances from a mean, for each feature."""
    return zscore.squares(part.features, mean)


def transformed(data: Dataset, transform: Transform, state: State, scorer: SmoothScorer) -> Dataset:
    """Part with transformed features, for training; raises a clear error for missing or infinite features."""
    changed = transform.apply(state, data)
    refuse_missing(changed, scorer.name)
    return changed


def sums(part: Dataset, request: Request, queries: Ints | None) -> tuple[float, Array]:
    """Sum of the loss over a part's queries, or over some of them, and its gradient in all parameters."""
    data = part if queries is None else part.select(queries)
    params = {"theta": request.theta}
    scores, pullback = request.scorer.score_with_pullback(params, data)
    got = sweep(request.loss, scores, data, constants=request.constants)
    return got.value, np.concatenate([pullback(got.gradient), got.params])


def value(part: Dataset, request: Request) -> float:
    """Sum of the loss over a part's queries."""
    scores = request.scorer.score({"theta": request.theta}, part)
    return sweep(request.loss, scores, part, constants=request.constants).value


def hessian_product(part: Dataset, request: Request, v: Array) -> Array:
    """Hessian of the part's loss times v, for a scorer that is linear in its parameters."""
    scores, along = (request.scorer.score({"theta": theta}, part) for theta in (request.theta, v))
    bent = product(request.loss, scores, part, direction=along, constants=request.constants)
    return request.scorer.pullback({"theta": v}, part, bent)


def bare(data: Dataset, width: int) -> Dataset:
    """Data without features, for the client: zeros that take no memory replace them."""
    zeros = np.broadcast_to(np.zeros(width, np.float32), (data.n_documents, width))
    return without_ids(data.with_features(zeros, None))
