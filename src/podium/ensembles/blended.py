"""Stacking: several methods, combined by the mean of their z-scores or by another method on them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from podium.base.arrays import Array, dense
from podium.base.errors import ParameterError
from podium.base.registry import register
from podium.data.dataset import Dataset
from podium.ensembles.composite import parsed
from podium.ensembles.packing import pack, unpack
from podium.ensembles.stack import Stack
from podium.model import Model
from podium.scorers import Params
from podium.solvers import Watch

MEAN = "mean"


@register
class Blended(Stack):
    """Stacking: several methods, whose scores are combined by their mean or by another method.

    Formula: s(x) = g(z_1(x), …, z_B(x)), z_b the score of member b less its mean in the query, over its standard
        deviation there (0 if all are equal). g is the mean, or the method `of`, fitted to z-scores out of fold: in each
        of 5 folds of the queries by members fitted to the other four. Members are then fitted to all queries.
    Ties: documents that all members tie are tied.
    Cost: one fit of each member, and 5 more if `of` learns; scoring costs the sum of theirs.
    Use it for: the last half percent from methods that err differently, such as trees and a linear model.
    Reference: Wolpert, Stacked generalization, Neural Networks 5, 1992; Breiman, Stacked regressions, Machine Learning
        24, 1996.
    """

    members: tuple[str, ...] = ("lambdamart", "listnet")
    """Methods; with validation data, each has the hyperparameters chosen from its own grid."""
    of: str = MEAN
    """How they are combined: mean, which learns nothing, or a method, e.g. listnet."""
    keep: bool = False
    """Whether the original features are given to `of` as well."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for text in (*self.members, *([] if self.of == MEAN else [self.of])):
            parsed(text)  # raises an error if there is no such method
        if not self.members:
            raise ParameterError("blended: give members, e.g. 'blended(members=[lambdamart,listnet])'.")
        if self.keep and self.of == MEAN:
            raise ParameterError("blended: keep=true is for a method that learns, e.g. of=listnet.")

    @property
    def specifications(self) -> tuple[str, ...]:
        return self.members

    @property
    def learns_to_combine(self) -> bool:
        return self.of != MEAN

    def combine(self, data: Dataset, z: Array, z_valid: Array | None, *, seed: int, watch: Watch) -> tuple[Params, Any]:
        if self.of == MEAN:
            return {}, {}
        from podium.metrics import Metric
        from podium.training import train

        valid = None if watch.valid is None or z_valid is None else self._features(watch.valid, z_valid)
        metric = watch.metric or Metric.parse("ndcg@10")
        model = train(self._features(data, z), self.of, valid=valid, metric=metric, seed=seed)
        model = replace(model, info={key: model.info[key] for key in ("trials", "chosen") if key in model.info})
        head = {f"of/{name}": array for name, array in pack([model]).items()}
        return head, {"of": repr(model.learner)}

    def shares(self, params: Params) -> Array | None:
        return np.full(len(self.members), 1.0 / len(self.members)) if self.of == MEAN else None

    def join(self, params: Params, n_features: int) -> Any:
        if self.of == MEAN:
            return lambda data, z: z.mean(axis=1)
        inside = {name.removeprefix("of/"): array for name, array in params.items() if name.startswith("of/")}
        most = len(self.members) + (n_features if self.keep else 0)
        [model] = unpack(inside, 1, most_features=most)

        def join(data: Dataset, z: Array) -> Array:
            return model.score(self._features(data, z))

        return join

    def _features(self, data: Dataset, z: Array) -> Dataset:
        """The data with z-scores as features, and the original ones with `keep`."""
        X = np.asarray(z, np.float32)
        if self.keep:
            X = np.concatenate([X, np.asarray(dense(data.features), np.float32)], axis=1)
        return data.with_features(X, None)


def members_of(model: Model) -> list[Model]:
    """The fitted members of a stacked model."""
    assert isinstance(model.learner, Stack)
    return unpack(model.params, len(model.learner.specifications), most_features=model.n_features)
