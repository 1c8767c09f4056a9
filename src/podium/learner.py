"""Learner: anything that can be fitted and then scores documents: a recipe, or a self-contained algorithm."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Array
from podium.base.errors import ModelFileError
from podium.base.registry import Named, field_types, read_all
from podium.data.dataset import Dataset
from podium.scorers import Params, Prepared
from podium.scorers.forms import Form
from podium.solvers import Watch
from podium.transforms import State, Transform


@dataclass(frozen=True)
class Learned:
    """What a learner found."""

    learner: Learner  # with whatever parameters of its own it has learned
    params: Params
    record: dict[str, Any]  # how it went: numbers and words for people
    state: State | None = None  # of the learner's transform, where it is not the one that was fitted


class Learner(Named):
    """What turns data into a model. Its fields are its settings, one of them its `transform` of the features."""

    kind: ClassVar[str] = "learner"
    home: ClassVar[str] = "podium.algorithms"
    elsewhere: ClassVar[tuple[str, ...]] = ("podium.recipe", "podium.model")
    transform: Transform

    takes_document_weights: ClassVar[bool] = False
    """Whether it can learn from document weights; `training.fit` raises an error where it cannot."""

    @property
    def per_query(self) -> bool:
        """Whether a document's score depends on the other documents of its query."""
        return self.transform.per_query

    def check(self, data: Dataset) -> None:
        """Raise a clear error, before work starts, if the settings or the data cannot be used."""

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        """Fit transformed data; `watch.valid` is transformed too."""
        raise NotImplementedError

    def score(self, params: Params, data: Dataset) -> NDArray[np.float64]:
        """Scores of transformed data, larger is better."""
        raise NotImplementedError

    def prepare(self, params: Params, n_features: int) -> Prepared:
        """A function from transformed data to scores that does once what does not depend on the data."""
        return functools.partial(self.score, params)

    def form(self, params: Params, n_features: int) -> Form | None:
        """What a fitted model is made of, over transformed features; None where it has none of the known forms."""
        return None

    def digest(self) -> str:
        """A hash of what it learns from beside its settings and the data; empty of most."""
        return ""

    def changed(self, settings: dict[str, str]) -> Learner:
        """The learner with other settings, given as text."""
        return replace(self, **read_all(type(self), settings))  # type: ignore[type-var]

    def has_parameter(self, key: str) -> bool:
        """Whether it has a setting of this name."""
        return key in field_types(type(self))


def fitted(params: Params, name: str, shape: tuple[int | None, ...]) -> Array:
    """An array of a fitted learner as float64, refused where a model file holds another shape."""
    found = params.get(name)
    if (
        found is None
        or found.ndim != len(shape)
        or any(n not in (None, m) for n, m in zip(shape, found.shape, strict=True))
    ):
        got = "nothing" if found is None else f"shape {found.shape}"
        expected = "(" + ", ".join("any" if n is None else str(n) for n in shape) + ")"
        raise ModelFileError(
            f"The model's array {name!r} should have shape {expected}; got {got}. Train the model again."
        )
    return np.asarray(found, np.float64)
