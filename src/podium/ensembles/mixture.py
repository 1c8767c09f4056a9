"""Mixture: the base class of learners whose score is a weighted sum of fitted models' z-scores in the query."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from podium.base.arrays import Array
from podium.data.dataset import Dataset
from podium.ensembles.combining import zscores
from podium.ensembles.packing import pack, query_columns_of, unpack
from podium.ensembles.stack import columns, zscore_weights
from podium.learner import Learner, fitted
from podium.model import Model
from podium.scorers import Params, Prepared
from podium.transforms import Identity, State, Transform


class Mixture(Learner):
    """A learner whose parameters are packed models and their `shares`."""

    transform: Transform = Identity()

    @property
    def per_query(self) -> bool:
        return True

    def query_columns(self, params: Params, state: State) -> tuple[str, ...]:
        return query_columns_of(params)

    def score(self, params: Params, data: Dataset) -> Array:
        return self.prepare(params, data.n_features)(data)

    def prepare(self, params: Params, n_features: int) -> Prepared:
        members = _members(params, n_features)

        def score(data: Dataset) -> Array:
            parts = (weight * zscores(model.score(data), data.offsets) for weight, model in members)
            return np.asarray(sum(parts, np.zeros(data.n_documents)))

        return score

    def spread(self, params: Params, data: Dataset) -> Array:
        models = [model for _, model in _members(params, data.n_features)]
        return np.asarray(columns(models, data).std(axis=1))

    def weighted_members(self, params: Params, data: Dataset) -> list[tuple[Array, Model]]:
        return zscore_weights(_members(params, data.n_features), data)


def mixed(models: Sequence[Model], shares: Array) -> Params:
    """The parameters of a mixture; a model without weight is dropped."""
    kept = np.flatnonzero(shares).tolist()
    return pack([models[b] for b in kept]) | {"shares": shares[kept]}


def _members(params: Params, n_features: int) -> list[tuple[float, Model]]:
    """The members of a fitted mixture and their weights."""
    shares = fitted(params, "shares", (None,)).tolist()
    return list(zip(shares, unpack(params, len(shares), most_features=n_features), strict=True))
