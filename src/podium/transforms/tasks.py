"""Tasks: the class that a query belongs to, as a column of the query features or a cluster of queries.

by=market        the value of the query feature `market`
by=cluster(8)    the nearest of 8 centres, by k-means of the query columns
"""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.errors import DataError, ModelFileError, ParameterError
from podium.data.query_values import query_values
from podium.transforms.base import State
from podium.transforms.query_columns import NAMES, fit_query_columns, names_of, query_columns

if TYPE_CHECKING:
    from podium.data.dataset import Dataset

VALUES, CENTRES = "tasks.values", "tasks.centres"
_STARTS = 8
"""Runs of k-means from other centres, of which the best is taken."""
_FEW = 10


def n_clusters(by: str) -> int | None:
    """The number of clusters that `by` asks for; None if it names a column."""
    match = re.fullmatch(r"cluster\(\s*(\d+)\s*\)", by)
    if match is None and by.partition("(")[0].strip() == "cluster" and "(" in by:
        raise ParameterError(f"by={by}: write the number of clusters, e.g. by=cluster(8).")
    if match is not None and int(match[1]) < 1:
        raise ParameterError(f"by={by}: there is at least one cluster.")
    return None if match is None else int(match[1])


def fit_tasks(by: str, queries: tuple[str, ...], data: Dataset, who: str) -> State:
    """Fit to the training queries; `queries` describe them for clusters."""
    clusters = n_clusters(by)
    if clusters is not None:
        state = fit_query_columns(queries, data, who)
        return {**state, CENTRES: k_means(query_columns(queries, state, data, who), clusters)}
    values = query_values(data, by, who)
    tasks = np.unique(values[~np.isnan(values)])
    if len(tasks) == data.n_queries > _FEW:
        raise DataError(
            f"{who}: each of {data.n_queries} queries has a value of {by!r} of its own; a task has several queries. "
            f"Group them: by=cluster(8),queries=[{by}].",
            where=data.source,
        )
    return {VALUES: tasks}


def n_tasks(state: State) -> int:
    """The number of tasks of the training queries."""
    return len(state[VALUES] if VALUES in state else _centres(state))


def tasks_of(by: str, queries: tuple[str, ...], state: State, data: Dataset, who: str) -> Ints:
    """The number of each query's task; −1 if no training query had it."""  # (Q,)
    if n_clusters(by) is not None:
        squares = squared_distances(query_columns(queries, state, data, who), _centres(state))
        return np.asarray(squares.argmin(axis=1))
    values, tasks = query_values(data, by, who), state.get(VALUES)
    if tasks is None or tasks.ndim != 1:
        raise ModelFileError("The model's tasks are missing. Train it again.")
    if not len(tasks):
        return np.full(data.n_queries, -1)
    places = np.minimum(np.searchsorted(tasks, values), len(tasks) - 1)
    return np.where(tasks[places] == values, places, -1)


def task_columns(by: str, state: State) -> tuple[str, ...]:
    """The query features that fitted tasks read."""
    return names_of(state) if NAMES in state else (by,)


def k_means(z: Array, k: int) -> Array:
    """Centres of at most k clusters, the best of several runs from k-means++ centres."""  # (k', m)
    from scipy.cluster.vq import kmeans2

    distinct = np.unique(z, axis=0)
    if len(distinct) <= k:
        return distinct
    best, least = distinct[:k], np.inf
    for seed in range(_STARTS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an empty cluster, which is left out
            centres, _ = kmeans2(z, k, iter=100, minit="++", rng=np.random.default_rng(seed))
        centres = np.unique(centres[np.isfinite(centres).all(axis=1)], axis=0)
        squares = squared_distances(z, centres)
        used = np.unique(squares.argmin(axis=1))
        total = float(squares.min(axis=1).sum())
        if total < least:
            best, least = centres[used], total
    return np.asarray(best)


def squared_distances(z: Array, others: Array) -> Array:
    """Squared Euclidean distance of each row of z to each of the others."""  # (Q, k)
    if z.shape[1] != others.shape[1]:
        raise ModelFileError("The model's queries have other features than these. Train it again.")
    return np.array([((z - other) ** 2).sum(axis=1) for other in others]).reshape(len(others), len(z)).T


def _centres(state: State) -> Array:
    centres = state.get(CENTRES)
    if centres is None or centres.ndim != 2 or not len(centres):
        raise ModelFileError("The model's clusters are missing. Train it again.")
    return centres
