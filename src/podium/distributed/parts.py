"""Parts: some whole queries of a dataset, kept by a worker, and the sums over them that solvers ask for.

Parts are cut by the data alone, and what they give is added in their order: the number of workers, and which worker
has which part, do not change a bit.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Array, is_sparse
from podium.base.matrix_on_disk import on_disk
from podium.data.dataset import Dataset
from podium.data.table import Table
from podium.distributed.cluster import Cluster
from podium.formats.cache.cache import open_cache
from podium.formats.cache.cache_writer import write_cache
from podium.formats.tables.table_rows import shared_table
from podium.losses import Loss, product, sweep
from podium.problem import refuse_missing, without_ids
from podium.scorers import SmoothScorer
from podium.transforms import State, Transform, zscore
from podium.transforms.base import refuse_infinite

CELLS = 2**24
"""Features × documents (64 MB) of a part, where there are enough."""
LEAST, MOST = 8, 1024
"""The fewest and the most parts; fewer where there are fewer queries."""


@dataclass(frozen=True)
class Request:
    """What to sum: a loss over a scorer, at some parameters."""

    loss: Loss  # with its learned parameters
    scorer: SmoothScorer
    constants: Array  # of the loss, for the whole data
    theta: Array  # of the scorer


def cuts(data: Dataset) -> NDArray[np.int64]:
    """The first query of each part, and the number of queries: parts of about as many documents, by the data alone."""
    wanted = min(max(LEAST, -(-data.n_documents * data.n_features // CELLS)), MOST, max(data.n_queries, 1))
    places = np.searchsorted(data.offsets, np.linspace(0, data.n_documents, wanted + 1))
    places[0], places[-1] = 0, data.n_queries
    return np.unique(places)


def stored(data: Table, cluster: Cluster) -> Dataset:
    """The data with its rows where workers can read them: in a cache or Parquet as they are, or written to a cache."""
    if on_disk(data.features) or is_sparse(data.features):
        return data.grouped()
    table = None if cluster.local else shared_table(data)
    if table is not None:
        return replace(data, features=table.features).grouped()
    return replace(open_cache(written(data, cluster)), source=data.source).grouped()


def written(data: Table, cluster: Cluster) -> Path:
    """A cache of data, which is written once."""
    if data not in cluster.written:
        place = cluster.folder()
        write_cache(data, place)
        cluster.written[data] = place
    return cluster.written[data]


def pieces(data: Dataset, bounds: NDArray[np.int64]) -> list[Dataset]:
    """The queries of each part, whose features are not read here."""
    found = []
    for a, b in itertools.pairwise(bounds.tolist()):
        found.append(_cut(data, a, b) if on_disk(data.features) else data.select(np.arange(a, b)))
    return found


def _cut(data: Dataset, a: int, b: int) -> Dataset:
    X: Any = data.features
    bare = replace(data, features=np.empty((data.n_documents, 0), np.float32), feature_names=None)
    rows = X.taken(slice(int(data.offsets[a]), int(data.offsets[b])))
    return bare.select(np.arange(a, b)).with_features(rows, data.feature_names)


def load(data: Dataset, in_memory: bool) -> Dataset:
    """The part as a worker keeps it."""
    refuse_infinite(data, "a cluster")
    return replace(data, features=np.asarray(data.features)) if in_memory and on_disk(data.features) else data


def counts_and_sums(part: Dataset) -> tuple[Array, Array]:
    """For each feature, the number of known values and their sum."""
    return zscore.counts_and_sums(part.features)


def squares(part: Dataset, mean: Array) -> Array:
    """For each feature, the sum of squared distances from a mean."""
    return zscore.squares(part.features, mean)


def transformed(data: Dataset, transform: Transform, state: State, scorer: SmoothScorer) -> Dataset:
    """The part as learning sees it; raises a clear error for missing or infinite features."""
    made = transform.apply(state, data)
    refuse_missing(made, scorer.name)
    return made


def sums(part: Dataset, request: Request, queries: NDArray[np.int64] | None) -> tuple[float, Array]:
    """The loss of the part's queries, or of some of them, and its gradient in all parameters; not divided."""
    data = part if queries is None else part.select(queries)
    params = {"theta": request.theta}
    scores, pullback = request.scorer.score_with_pullback(params, data)
    got = sweep(request.loss, scores, data, constants=request.constants)
    return got.value, np.concatenate([pullback(got.gradient), got.params])


def value(part: Dataset, request: Request) -> float:
    """The loss of the part's queries."""
    scores = request.scorer.score({"theta": request.theta}, part)
    return sweep(request.loss, scores, part, constants=request.constants).value


def hessian_product(part: Dataset, request: Request, v: Array) -> Array:
    """The Hessian of the part's loss times v, for a scorer that is linear in its parameters."""
    scores, along = (request.scorer.score({"theta": theta}, part) for theta in (request.theta, v))
    bent = product(request.loss, scores, part, direction=along, constants=request.constants)
    return request.scorer.pullback({"theta": v}, part, bent)


def bare(data: Dataset, width: int) -> Dataset:
    """What a client keeps of the data: everything but features, which are zeros that take no memory."""
    nothing = np.broadcast_to(np.zeros(width, np.float32), (data.n_documents, width))
    return without_ids(data.with_features(nothing, None))
