"""Feature selection as a transform: it keeps the most useful features of another transform.

transform=keep(by=rfe,count=20)              20 z-scores, chosen on the training data
transform=keep(only=[1,5,9],of=identity)     these three features as they are
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from podium.base.arrays import Ints
from podium.base.errors import IncompatibleError, ParameterError
from podium.base.registry import param, register
from podium.transforms.base import Affine, State
from podium.transforms.composed import PREFIX, Composed
from podium.transforms.feature_orders import feature_order
from podium.transforms.stacked import Stacked

if TYPE_CHECKING:
    from podium.data.dataset import Dataset


@register
class Keep(Stacked):
    """Keeps `count` features of `of`, chosen by the labels of the training data, or those that `only` lists.

    `gas` takes features that rank well alone and unlike each other; `rfe` drops the smallest weights of least squares
    again and again; `lasso` takes features in the order in which they enter as an L1 penalty falls.
    Reference: Geng, Liu, Qin and Li, Feature selection for ranking, 2007.
    """

    name = "keep"
    supervised: ClassVar[bool] = True
    by: Literal["gas", "rfe", "lasso"] = "rfe"
    """How features are chosen."""
    count: int = param(default=10, least=1)
    """Features that are kept."""
    c: float = param(default=0.01, least=0)
    """Of gas: how much a feature loses by its similarity to one that is kept."""
    only: tuple[int, ...] = ()
    """The features to keep, from 1; then nothing is chosen."""

    mixes = Composed.mixes

    def check(self, data: Dataset) -> None:
        super().check(data)
        if self.only and (min(self.only) < 1 or len(set(self.only)) < len(self.only)):
            raise ParameterError(f"keep: features are different numbers from 1; got only={list(self.only)}.")
        if not self.only and data.labels is None:
            raise IncompatibleError(
                "keep chooses features by labels, but the data has none. Name the features: keep(only=[1,2])."
            )

    def fit(self, data: Dataset) -> State:
        self.check(data)
        below = self.of.fit(data)
        X = self.of.apply(below, data)
        return {PREFIX + name: array for name, array in below.items()} | {"kept": self._chosen(X)}

    def _chosen(self, data: Dataset) -> Ints:
        if not self.only:
            return np.sort(feature_order(self.by, data, c=self.c)[: self.count])
        if max(self.only) > data.n_features:
            raise IncompatibleError(f"keep: there is no feature {max(self.only)}; the data has {data.n_features}.")
        return np.sort(np.array(self.only, np.int64)) - 1

    def features(self, state: State, data: Dataset) -> Any:
        return self.of.features(self.state_below(state), data)[:, state["kept"]]

    def sources(self, state: State, n_features: int) -> Ints:
        return self.of.sources(self.state_below(state), n_features)[state["kept"]]

    def affine(self, state: State, data: Dataset) -> Affine | None:
        below = self.of.affine(self.state_below(state), data)
        return None if below is None else Affine(*(part[state["kept"]] for part in below))
