"""Query classes: a method for each class of queries, combined by how close a query is to each class."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import ModelFileError, PodiumError
from podium.base.registry import param, register
from podium.data.dataset import Dataset
from podium.ensembles.composite import Composite, check_query_weights, fitted, quiet, report
from podium.ensembles.packing import pack, unpack
from podium.learner import Learned
from podium.learner import fitted as fitted_array
from podium.scorers import Params, Prepared
from podium.solvers import Watch
from podium.transforms import State
from podium.transforms.query_columns import query_columns
from podium.transforms.tasks import CENTRES, fit_tasks, n_clusters, squared_distances, task_columns, tasks_of


@register
class PerClass(Composite):
    """Query classes: a method for each class of queries, and scores weighted by how close a query is to each class.

    Formula: s(x) = Σ_c a_c(q) f_c(x). Clusters have a_c(q) ∝ exp(−d²(q, c)/2σ²), Σ_c a_c = 1, d the distance of the
        query's z-scored features to the cluster's centre, σ = width × the median distance of training queries to their
        own; f_c is fitted to all queries, with weights in proportion to a_c. width=0, and classes that a column names:
        a_c is 1 for the query's own class and 0 for others, and f_c is fitted to the queries of its class.
    Ties: documents that all models tie are tied.
    Cost: a fit for each class and one for all queries, which scores classes that no training query had.
    Use it for: queries of different kinds that want different rankers, such as short and long ones; by=market with
        enough queries in each market. With few, use transform=shared or adapted(by=…).
    Reference: Kang & Kim, Query type classification for web document retrieval, SIGIR 2003; Liu, Learning to rank for
        information retrieval, 2009, section 7 (query-dependent ranking).
    """

    of: str = "listnet"
    """Method to fit for each class."""
    by: str = "cluster(8)"
    """Classes: clusters of the query features, or the values of one of them, such as market."""
    width: float = param(default=1.0, least=0)
    """Of clusters: how far a class reaches, in median distances; 0: each query belongs to one class only."""
    queries: tuple[str, ...] = ()
    """Of clusters: the query features, or query-profile, that describe a query; all query features by default."""

    def __post_init__(self) -> None:
        super().__post_init__()
        n_clusters(self.by)  # raises an error if it is misspelt

    @property
    def per_query(self) -> bool:
        return True

    def query_columns(self, params: Params, state: State) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*task_columns(self.by, params), *super().query_columns(params, state)]))

    @property
    def _soft(self) -> bool:
        return self.width > 0 and n_clusters(self.by) not in (None, 1)

    def check(self, data: Dataset) -> None:
        super().check(data)
        fit_tasks(self.by, self.queries, data, self.name)
        if self._soft:
            instead = "Or let each query belong to one class: width=0."
            check_query_weights(self.inner, data, why="per-class weights queries by their class", instead=instead)

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        params: Params = dict(fit_tasks(self.by, self.queries, data, self.name))
        if self._soft:
            params["width"] = np.array([self._median_distance(params, data)])
        shares = self._shares(params, data)
        valid = None if watch.valid is None else self._shares(params, watch.valid)
        models, own, reasons = [fitted(self.inner, data, rng, quiet(watch))], [], dict[str, str]()
        for number in range(shares.shape[1] if shares.shape[1] > 1 else 0):
            report(watch, number + 1, shares.shape[1])
            part = _weighted(data, shares[:, number], soft=self._soft)
            of_class = Watch(None, watch.metric)
            if watch.valid is not None and valid is not None and (valid[:, number] > 0).any():
                of_class.valid = _weighted(watch.valid, valid[:, number], soft=self._soft)
            try:
                models.append(fitted(self.inner, part, rng.spawn(1)[0], of_class))
                own.append(number)
            except PodiumError as error:  # documents of one grade only, or validation data without relevant ones
                reasons[str(number)] = str(error)
        record: dict[str, Any] = {
            "stopped": "all classes fitted",
            "iterations": len(models),
            "classes": shares.shape[1],
        }
        record |= {"not_learned": reasons} if reasons else {}
        return Learned(self, {**pack(models), **params, "classes": np.array(own, np.int64)}, record)

    def _median_distance(self, params: Params, data: Dataset) -> float:
        z = query_columns(self.queries, params, data, self.name)
        nearest = np.sqrt(squared_distances(z, params[CENTRES]).min(axis=1))
        return float(np.median(nearest)) or float(nearest.max()) or 1.0

    def _shares(self, params: Params, data: Dataset) -> Array:
        """How much each query belongs to each class; 0 for all if its class is new."""  # (Q, C)
        if not self._soft:
            tasks = tasks_of(self.by, self.queries, params, data, self.name)
            count = len(params[CENTRES] if CENTRES in params else params["tasks.values"])
            return np.equal.outer(tasks, np.arange(count)).astype(np.float64)
        width = self.width * float(fitted_array(params, "width", (1,))[0])
        z = query_columns(self.queries, params, data, self.name)
        exponents = -squared_distances(z, fitted_array(params, CENTRES, (None, None))) / (2.0 * width**2)
        closeness = np.exp(exponents - exponents.max(axis=1, keepdims=True, initial=-np.inf))
        return np.asarray(closeness / closeness.sum(axis=1, keepdims=True))

    def score(self, params: Params, data: Dataset) -> Array:
        return self.prepare(params, data.n_features)(data)

    def prepare(self, params: Params, n_features: int) -> Prepared:
        classes = fitted_array(params, "classes", (None,)).astype(np.int64)
        plain, *others = unpack(params, len(classes) + 1, most_features=n_features)

        def score(data: Dataset) -> Array:
            shares = self._shares(params, data)
            if not others:
                return plain.score(data)
            if len(classes) and classes.max() >= shares.shape[1]:
                raise ModelFileError("The model has more rankers than classes. Train it again.")
            learned = shares[:, classes]
            parts = [(plain, 1.0 - learned.sum(axis=1)), *zip(others, learned.T, strict=True)]
            scores = np.zeros(data.n_documents)
            for model, weights in parts:
                queries = np.flatnonzero(weights > _NOTHING)
                if len(queries):
                    rows = np.isin(data.query_index, queries)
                    scores[rows] += weights[data.query_index[rows]] * model.score(data.select(queries))
            return scores

        return score


_NOTHING = 1e-9
"""Share of a class below which its model is not asked."""


def _weighted(data: Dataset, shares: Array, *, soft: bool) -> Dataset:
    """The queries of a class: those of the class alone, or all with weights, which have the sum that they had."""
    if not soft:
        return data.select(np.flatnonzero(shares > 0))
    own = np.ones(data.n_queries) if data.query_weights is None else data.query_weights
    weights = own * shares
    return replace(data, query_weights=weights * (own.sum() / max(weights.sum(), 1e-300)))
