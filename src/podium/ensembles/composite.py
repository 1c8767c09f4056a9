"""Composite: the base class of learners that fit other methods.

    >>> from podium.methods import method
    >>> method("bagged(of=listnet,members=3)").grid
    {'penalty': (0.01, 0.1, 1.0)}

`of` is the specification of a method. Parameters that are not the composite's own are those of `of`, so that the grid
of `of` is tried on validation data.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any, Self

import numpy as np

from podium.base.errors import IncompatibleError, ParameterError
from podium.base.registry import build, field_types, read_all, split_call, split_list
from podium.data.dataset import Dataset
from podium.ensembles.packing import query_columns_of
from podium.learner import Learned, Learner
from podium.methods import METHODS, Method, method
from podium.model import Model
from podium.scorers import Params
from podium.solvers import Step, Watch
from podium.transforms import Identity, State, Transform


class Composite(Learner):
    """A learner that fits the method `of`, once or several times, each time with a transform of its own."""

    of: str
    transform: Transform = Identity()

    def __post_init__(self) -> None:
        super().__post_init__()
        parsed(self.of)  # raises an error if there is no such method

    @property
    def takes_row_weights(self) -> bool:
        return self.inner.takes_row_weights

    @property
    def takes_categories(self) -> bool:
        return self.inner.takes_categories

    @property
    def inner(self) -> Learner:
        """The learner of `of`."""
        return parsed(self.of).learner

    @property
    def per_query(self) -> bool:
        return self.inner.per_query

    def check(self, data: Dataset) -> None:
        self.inner.check(data)

    @classmethod
    def specified(cls, parameters: dict[str, str]) -> Self:
        own = {key: text for key, text in parameters.items() if key in field_types(cls)}
        rest = {key: text for key, text in parameters.items() if key not in own}
        return build(cls, own).changed(rest)

    def changed(self, parameters: dict[str, str]) -> Self:
        """The learner with other values of its own parameters; all others are those of `of`."""
        own = {key: text for key, text in parameters.items() if key in field_types(type(self))}
        rest = {key: text for key, text in parameters.items() if key not in own}
        changed: Self = replace(self, **read_all(type(self), own))  # type: ignore[type-var]
        return replace(changed, of=_with_parameters(changed.of, rest)) if rest else changed  # type: ignore[type-var]

    def has_parameter(self, key: str) -> bool:
        return super().has_parameter(key) or self.inner.has_parameter(key)

    def grid(self) -> dict[str, tuple[Any, ...]]:
        """The grid of `of`, without the parameters that its specification names."""
        return dict(parsed(self.of).grid)

    def digest(self) -> str:
        return self.inner.digest()

    def query_columns(self, params: Params, state: State) -> tuple[str, ...]:
        return query_columns_of(params)


@functools.lru_cache(maxsize=256)
def parsed(of: str) -> Method:
    """The method of a specification."""
    return method(of)


def _with_parameters(of: str, parameters: dict[str, str]) -> str:
    """The specification of a method with more parameters."""
    name, own = split_call(of)
    if name not in METHODS:
        return repr(parsed(of).learner.changed(parameters))
    text = f"{name}({','.join(f'{key}={value}' for key, value in (own | parameters).items())})"
    parsed(text)
    return text


def fitted(learner: Learner, data: Dataset, rng: np.random.Generator, watch: Watch) -> Model:
    """Fit a learner with its own transform, drawing from `rng`; `watch` has the validation data, as it is."""
    from podium.metrics import Metric
    from podium.training import Watching, fit, measured

    def learn(learner: Learner, data: Dataset, watching: Watching, seed: int) -> tuple[Learned, State]:
        state = learner.transform.fit(data)
        ready = learner.transform.training(state, data)
        return learner.learn(ready, rng, watching(learner.transform, state)), state

    metric = watch.metric or Metric.parse("ndcg@10")
    model = fit(learner, data, valid=watch.valid, metric=metric, observers=watch.observers, learn=learn)
    if watch.valid is not None:
        model = model.with_info(valid=measured(model, watch.valid, metric))
    return replace(model, info={key: model.info[key] for key in _KEPT if key in model.info})


_KEPT = ("metric", "stopped", "iterations", "objective", "valid")
"""Entries of a member's record; the rest is in that of the whole model."""


def report(watch: Watch, done: int, total: int) -> None:
    """Tell observers how many of the fits are done."""
    for observer in watch.observers:
        observer(Step(done, total, float("nan"), None))


def quiet(watch: Watch) -> Watch:
    """The same validation data and metric, for one of several fits, without observers."""
    return Watch(watch.valid, watch.metric)


def check_file_name(path: str, who: str) -> None:
    """Refuse a path that a specification cannot hold."""
    if split_list(path, path) != [path] or "=" in path:
        raise ParameterError(f"{who}: {path!r} has a comma, a bracket, = or a blank at its end. Rename the file.")


def check_query_weights(learner: Learner, data: Dataset, *, why: str, instead: str) -> None:
    """Refuse a learner that takes no query weights, which the composite gives it."""
    if data.query_weights is None:
        try:
            learner.check(replace(data, query_weights=np.ones(data.n_queries)))
        except IncompatibleError as error:
            raise IncompatibleError(f"{why}, and {error} {instead}") from None


def refuse_own_state(learned: Learned, who: str) -> None:
    """Refuse a learner that replaces the state of its transform, where members share one."""
    if learned.state is not None:
        raise IncompatibleError(f"{who} takes no saved model and no self-trained method: give the method itself.")
