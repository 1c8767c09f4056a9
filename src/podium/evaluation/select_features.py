"""Feature selection for a method: its metric on validation data with fewer and fewer features.

>>> from podium.data.splits import split
>>> from podium.data.synthetic import make_letor_like
>>> training, valid = split(make_letor_like(30, n_features=8, seed=1)[0], (0.7, 0.3))
>>> selection = select_features(training, valid, "regression")
>>> [len(step.features) for step in selection.path]
[8, 7, 6, 5, 4, 3, 2, 1]
>>> selection.chosen in selection.path
True
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.errors import DataError, IncompatibleError, ParameterError, counted
from podium.base.progress import Progress, quiet
from podium.explanation.importance import importance
from podium.methods import method as named
from podium.metrics import Metric
from podium.solvers.early_stopping import proved_better, query_values
from podium.training import fit
from podium.transforms import Keep
from podium.transforms.feature_orders import feature_order

if TYPE_CHECKING:
    from podium.data.dataset import Dataset
    from podium.learner import Learner
    from podium.model import Model

By = Literal["rfe", "gas", "lasso"]
DROP = 0.1
"""Share of the features that a step drops."""
_COSTS = (0.0, 0.01, 0.1, 1.0)
"""Costs of similarity, c of gas, of which validation data chooses one."""


@dataclass(frozen=True, eq=False)
class SelectionStep:
    """A model of some of the features."""

    features: Ints  # indices, rising
    dropped: Ints  # by the step to the next, the least useful first; empty at the end
    mean: float  # of the metric on validation data
    error: float  # its standard error over queries
    values: Array  # (Q,) the metric of each validation query; NaN if it does not count


@dataclass(frozen=True, eq=False)
class FeatureSelection:
    """A path from all features to one, and the smallest step that is not proved worse than the best."""

    path: tuple[SelectionStep, ...]
    by: str
    metric: str

    @property
    def best(self) -> SelectionStep:
        """The step with the largest mean; of equals, the one of fewer features."""
        return max(reversed(self.path), key=lambda step: step.mean)

    @property
    def chosen(self) -> SelectionStep:
        """The smallest step within one standard error of the best, by the paired difference over queries."""
        return min(
            (step for step in self.path if step is self.best or not proved_better(self.best.values, step.values)),
            key=lambda step: len(step.features),
        )


def select_features(
    data: Dataset,
    valid: Dataset,
    method: str | Learner = "listnet",
    *,
    by: By = "rfe",
    metric: str | Metric = "ndcg@10",
    seed: int = 0,
    progress: Progress = quiet,
) -> FeatureSelection:
    """The path from all features of training data to one, a tenth fewer at each step.

    `rfe` drops those of least importance in the method's own model; `gas` and `lasso` order the features first, and
    the method is fitted to the best of that order. Hyperparameters are not tuned.
    """
    if by not in get_args(By):
        raise ParameterError(f"select: by is one of {', '.join(get_args(By))}; got {by!r}.")
    learner = named(method).learner if isinstance(method, str) else method
    how = Metric.parse(metric) if isinstance(metric, str) else metric
    _check_validation(valid, how)
    fitted = _Fitted(_checked(learner, data), data, valid, how, seed)
    if by == "rfe":
        return FeatureSelection(_eliminated(fitted, progress), by, str(how))
    X = learner.transform.apply(learner.transform.fit(data), data)
    costs = _COSTS if by == "gas" else (0.0,)
    paths = list[FeatureSelection]()
    for number, c in enumerate(costs):
        order = feature_order(by, X, c=c)
        path = _along(fitted, order, lambda share, k=number: progress((k + share) / len(costs)))
        paths.append(FeatureSelection(path, f"gas(c={c:g})" if by == "gas" else by, str(how)))
    return max(paths, key=lambda selection: selection.best.mean)


def _check_validation(valid: Dataset, metric: Metric) -> None:
    """Raise an error if validation data cannot tell two sets of features apart."""
    if valid.labels is None:
        raise DataError("validation data needs labels to measure by.", where=valid.source)
    counting = int(np.isfinite(query_values(metric, np.zeros(valid.n_documents), valid)).sum())
    if counting < 2:
        raise DataError(
            f"{metric} counts {counted(counting, 'query', 'queries')} of the validation data, too few for a standard "
            "error: at least 2 are needed, and better 50. Give more validation data.",
            where=valid.source,
        )


def _checked(learner: Learner, data: Dataset) -> Learner:
    """The learner, if its transform gives one number for each feature."""
    transform = learner.transform
    few = data.select(np.arange(min(data.n_queries, 2)))
    if transform.mixes or transform.supervised or transform.apply(transform.fit(few), few).n_features != few.n_features:
        raise IncompatibleError(
            f"features can be selected if each is transformed on its own, which {transform} does not. "
            "Use transform=zscore or transform=identity."
        )
    return learner


class _Fitted:
    """Models of subsets of the features, each fitted once."""

    def __init__(self, learner: Learner, data: Dataset, valid: Dataset, metric: Metric, seed: int) -> None:
        self.learner, self.data, self.valid, self.metric, self.seed = learner, data, valid, metric, seed
        self._steps: dict[tuple[int, ...], tuple[Model, Array]] = {}

    def model(self, features: Ints) -> tuple[Model, Array]:
        """The model of these features, and the metric of each validation query."""
        key = tuple(int(l) + 1 for l in np.sort(features))
        if key not in self._steps:
            learner = self.learner.changed({"transform": repr(Keep(of=self.learner.transform, only=key))})
            model = fit(learner, self.data, valid=self.valid, metric=self.metric, seed=self.seed)
            self._steps[key] = model, query_values(self.metric, model.score(self.valid), self.valid)
        return self._steps[key]

    def step(self, features: Ints, dropped: Ints) -> SelectionStep:
        values = self.model(features)[1]
        finite = values[np.isfinite(values)]
        error = finite.std(ddof=1) / np.sqrt(len(finite))
        return SelectionStep(np.sort(features), dropped, self.metric.average(values).value, float(error), values)


def _eliminated(fitted: _Fitted, progress: Progress) -> tuple[SelectionStep, ...]:
    """Recursive feature elimination: fit, drop the features of least importance, and fit again."""
    left, d, path = np.arange(fitted.data.n_features), fitted.data.n_features, list[SelectionStep]()
    while len(left):
        shares = importance(fitted.model(left)[0], fitted.data)
        if shares is None:
            raise IncompatibleError(
                f"{fitted.learner} has no importance of features, which rfe needs. Choose by=gas or by=lasso."
            )
        worst = left[np.argsort(shares[0][left], kind="stable")[: _number(len(left))]]
        path.append(fitted.step(left, worst))
        left = np.setdiff1d(left, worst)
        progress(1.0 - np.log1p(len(left)) / np.log1p(d))
    return tuple(path)


def _along(fitted: _Fitted, order: Ints, progress: Progress) -> tuple[SelectionStep, ...]:
    """Models of the first features of an order, from all to one."""
    path, k = list[SelectionStep](), len(order)
    while k:
        fewer = k - _number(k)
        path.append(fitted.step(order[:k], order[fewer:k][::-1]))
        k = fewer
        progress(1.0 - np.log1p(k) / np.log1p(len(order)))
    return tuple(path)


def _number(left: int) -> int:
    """How many of the features that are left to drop; none is dropped from the last one but itself."""
    return max(int(DROP * left), 1)
