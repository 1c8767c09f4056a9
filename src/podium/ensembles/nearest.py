"""Nearest queries: a ranker fitted to the training queries that are most like the query."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.errors import IncompatibleError, ModelFileError, PodiumError
from podium.base.registry import param, register
from podium.data.dataset import Dataset
from podium.ensembles.composite import Composite, fitted, quiet, report
from podium.ensembles.data_in_model import data_of, data_params
from podium.ensembles.packing import pack, unpack
from podium.learner import Learned
from podium.learner import fitted as fitted_array
from podium.model import Model
from podium.scorers import Linear, Params, Prepared
from podium.solvers import Watch
from podium.transforms import State
from podium.transforms.query_columns import fit_query_columns, names_of, query_columns
from podium.transforms.tasks import squared_distances

_MOST_QUERIES = 2000
_REMEMBERED = 256
"""Fits of the variant online that a loaded model keeps."""


@register
class Nearest(Composite):
    """Nearest queries: a method fitted to the k training queries that are most like the query.

    Formula: N(q) = the k training queries with the smallest Euclidean distance of z-scored query features to q, the
        first of equal ones. online: f is fitted to N(q) when q comes. offline-1: a model is fitted to N(p) for each
        training query p, and q uses the one whose N(p) has most queries in common with N(q), the nearest of those.
        offline-2: q uses the model of its nearest training query. k of all queries: the method itself.
    Ties: those of `of`.
    Cost: a fit for each training query, at most 2,000 unless linear; online a fit for each new query, and the model
        file holds the training data.
    Use it for: rankers that change gradually with features of the query. One linear model with transform=crossed often
        does as well, with one fit.
    Reference: Geng, Liu, Qin, Arnold, Li & Shum, Query dependent ranking using k-nearest neighbor, SIGIR 2008.
    """

    of: str = "listnet"
    """Method to fit to the nearest queries."""
    k: int = param(default=50, least=1)
    """How many training queries are nearest."""
    when: Literal["offline-2", "offline-1", "online"] = "offline-2"
    """Whether models are fitted before, and how one is chosen, or when a query comes."""
    queries: tuple[str, ...] = ()
    """The query features, or query-profile, that describe a query; all query features by default."""

    @property
    def per_query(self) -> bool:
        return True

    def query_columns(self, params: Params, state: State) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*names_of(params), *super().query_columns(params, state)]))

    def check(self, data: Dataset) -> None:
        super().check(data)
        fit_query_columns(self.queries, data, self.name)
        linear = isinstance(getattr(self.inner, "scorer", None), Linear)
        if self.when != "online" and data.n_queries > max(self.k, _MOST_QUERIES) and not linear:
            raise IncompatibleError(
                f"nearest fits a model for each training query, and there are {data.n_queries}; at most "
                f"{_MOST_QUERIES} unless the method is linear. Use of=listnet, when=online, or "
                f"'per-class(of={self.of},by=cluster(8))'."
            )
        if self.when == "online" and (data.preferences is not None or data.document_weights is not None):
            raise IncompatibleError(
                "nearest(when=online) keeps the training data in the model, which has no place for preferences and "
                "document weights. Use when=offline-2."
            )

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        params: Params = dict(fit_query_columns(self.queries, data, self.name))
        places = params["places"] = query_columns(self.queries, params, data, self.name)
        plain = fitted(self.inner, data, rng, quiet(watch))
        if self.when == "online" and self.k < data.n_queries:
            seed = int(rng.integers(2**31))
            record = {"stopped": "training data kept", "iterations": 1, "queries_kept": data.n_queries}
            kept = {f"data/{name}": array for name, array in data_params(data).items()}
            return Learned(self, {**pack([plain]), **params, **kept, "seed": np.array([seed])}, record)
        sets = np.array([neighbours(places, place, self.k) for place in places]).reshape(data.n_queries, -1)
        different, which = np.unique(sets, axis=0, return_inverse=True)
        models, numbers, failed = [plain], np.zeros(len(different), np.int64), 0
        for number, chosen in enumerate(different):
            report(watch, number + 1, len(different))
            if len(chosen) == data.n_queries:
                continue  # all queries: the plain fit
            try:
                models.append(fitted(self.inner, data.select(chosen), rng.spawn(1)[0], Watch(None, watch.metric)))
                numbers[number] = len(models) - 1
            except PodiumError:  # the documents of these queries have one grade: the plain fit
                failed += 1
        record = {"stopped": "all neighbourhoods fitted", "iterations": len(models)}
        record |= {"not_learned": failed} if failed else {}
        params |= {"model_of_query": numbers[which.ravel()], "neighbours": sets}
        return Learned(self, {**pack(models), **params}, record)

    def score(self, params: Params, data: Dataset) -> Array:
        return self.prepare(params, data.n_features)(data)

    def prepare(self, params: Params, n_features: int) -> Prepared:
        places = fitted_array(params, "places", (None, None))
        model_for = self._on_line(params, n_features) if "seed" in params else self._fitted(params, n_features)

        def score(data: Dataset) -> Array:
            z = query_columns(self.queries, params, data, self.name)
            groups: dict[int, tuple[Model, list[int]]] = {}
            for q in range(data.n_queries):
                model = model_for(places, z[q])
                groups.setdefault(id(model), (model, []))[1].append(q)
            scores = np.zeros(data.n_documents)
            for model, queries in groups.values():
                scores[np.isin(data.query_index, queries)] = model.score(data.select(queries))
            return scores

        return score

    def _fitted(self, params: Params, n_features: int) -> Callable[[Array, Array], Model]:
        """The function (places of the training queries, place of a query) → its model, of those in the file."""
        which, sets = params.get("model_of_query"), params.get("neighbours")
        places = fitted_array(params, "places", (None, None))
        if which is None or sets is None or which.shape != (len(places),) or sets.shape[:1] != which.shape:
            raise ModelFileError("The model's neighbourhoods are missing. Train it again.")
        if which.dtype.kind != "i" or not len(which) or which.min() < 0:
            raise ModelFileError("The model's neighbourhoods are damaged. Train it again.")
        models = unpack(params, int(which.max()) + 1, most_features=n_features)

        def model_for(places: Array, place: Array) -> Model:
            squares = squared_distances(places, place[None, :])[:, 0]
            if self.when == "offline-1":
                common = np.isin(sets, neighbours(places, place, self.k)).sum(axis=1)
                squares = np.where(common == common.max(), squares, np.inf)
            return models[int(which[int(squares.argmin())])]

        return model_for

    def _on_line(self, params: Params, n_features: int) -> Callable[[Array, Array], Model]:
        """The function (places of the training queries, place of a query) → a model fitted to its neighbours."""
        training = data_of(
            {name.removeprefix("data/"): array for name, array in params.items() if name.startswith("data/")},
            n_features,
        )
        if training.n_queries != len(fitted_array(params, "places", (None, None))):
            raise ModelFileError("The model's training data has another number of queries. Train it again.")
        seed, [plain] = int(fitted_array(params, "seed", (1,))[0]), unpack(params, 1, most_features=n_features)
        models: dict[bytes, Model] = {}

        def model_for(places: Array, place: Array) -> Model:
            chosen = neighbours(places, place, self.k)
            key = chosen.tobytes()
            if key not in models:
                if len(models) >= _REMEMBERED:
                    models.pop(next(iter(models)))
                models[key] = self._fit_to(training.select(chosen), plain, seed)
            return models[key]

        return model_for

    def _fit_to(self, part: Dataset, plain: Model, seed: int) -> Model:
        try:
            return fitted(self.inner, part, np.random.default_rng(seed), Watch(None, None))
        except PodiumError:  # the documents of these queries have one grade
            return plain


def neighbours(places: Array, place: Array, k: int) -> Ints:
    """The k training queries nearest to a place, in their own order; of equal distances, the first."""
    squares = squared_distances(places, place[None, :])[:, 0]
    return np.sort(np.argsort(squares, kind="stable")[:k])
