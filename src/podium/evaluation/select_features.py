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
from typing import TYPE_CHECKING, Literal, cast, get_args

import numpy as np

from podium.base.arguments import whole_number
from podium.base.arrays import Array, Ints
from podium.base.errors import DataError, IncompatibleError, ParameterError, counted
from podium.base.progress import Progress, quiet
from podium.explanation.importance import Kind, importance
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

By = Literal["gain", "shap", "drop", "gas", "lasso"]
_BY_IMPORTANCE: tuple[Kind, ...] = ("gain", "shap", "drop")
_DROP = 0.1
"""Share of the features that a step drops, if the number of steps is not given."""
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
    """A path from all features to few, and the step that is chosen."""

    path: tuple[SelectionStep, ...]
    by: str
    metric: str
    keep: int | None = None  # how many features to keep; None: the fewest that are not proved worse

    @property
    def best(self) -> SelectionStep:
        """The step with the largest mean; of equals, the one of fewer features."""
        return max(reversed(self.path), key=lambda step: step.mean)

    @property
    def chosen(self) -> SelectionStep:
        """The step of `keep` features, else the smallest within one standard error of the best.

        The error is that of the paired difference over queries.
        """
        if self.keep is not None:
            return next(step for step in self.path if len(step.features) == self.keep)
        return min(
            (step for step in self.path if step is self.best or not proved_better(self.best.values, step.values)),
            key=lambda step: len(step.features),
        )


def select_features(
    data: Dataset,
    valid: Dataset,
    method: str | Learner = "listnet",
    *,
    by: By = "gain",
    keep: int | None = None,
    steps: int | None = None,
    metric: str | Metric = "ndcg@10",
    seed: int = 0,
    progress: Progress = quiet,
) -> FeatureSelection:
    """The path from all features of training data to `keep` or one, a tenth fewer at each step or in `steps` steps.

    `gain`, `shap` and `drop` are recursive elimination: those of least importance in the method's own model go first,
    and it is fitted again; the drop is that of the metric on validation data. `gas` and `lasso` order the features
    first, and the method is fitted to the best of that order. Hyperparameters are not tuned.
    """
    if by not in get_args(By):
        raise ParameterError(f"select: by is one of {', '.join(get_args(By))}; got {by!r}.")
    fitted = Fitted.of(data, valid, method, metric, seed)
    learner, how = fitted.learner, fitted.metric
    sizes = _sizes(data.n_features, keep, steps)
    if by in _BY_IMPORTANCE:
        return FeatureSelection(_eliminated(fitted, cast(Kind, by), sizes, progress), by, str(how), keep)
    X = learner.transform.apply(learner.transform.fit(data), data)
    costs = _COSTS if by == "gas" else (0.0,)
    paths = list[FeatureSelection]()
    for number, c in enumerate(costs):
        order = feature_order(by, X, c=c)
        path = _along(fitted, order, sizes, lambda share, k=number: progress((k + share) / len(costs)))
        paths.append(FeatureSelection(path, f"gas(c={c:g})" if by == "gas" else by, str(how), keep))
    return max(paths, key=lambda selection: (selection.best if keep is None else selection.chosen).mean)


def _sizes(d: int, keep: int | None, steps: int | None) -> list[int]:
    """Numbers of features of the models, falling from all to the fewest."""
    last = 1 if keep is None else whole_number(keep, "keep", least=1)
    if last > d:
        raise ParameterError(f"select: keep={last}, but the data has {counted(d, 'feature')}.")
    if steps is not None:
        steps = whole_number(steps, "steps", least=1)
        return sorted({round(float(size)) for size in np.geomspace(d, last, steps + 1)}, reverse=True)
    sizes = [d]
    while sizes[-1] > last:
        sizes.append(max(sizes[-1] - max(int(_DROP * sizes[-1]), 1), last))
    return sizes


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


class Fitted:
    """Models of subsets of the features, each fitted once."""

    def __init__(self, learner: Learner, data: Dataset, valid: Dataset, metric: Metric, seed: int) -> None:
        self.learner, self.data, self.valid, self.metric, self.seed = learner, data, valid, metric, seed
        self._steps: dict[tuple[int, ...], tuple[Model, Array]] = {}

    @classmethod
    def of(cls, data: Dataset, valid: Dataset, method: str | Learner, metric: str | Metric, seed: int) -> Fitted:
        """Models of a method, after a check that its features and the validation data allow it."""
        learner = named(method).learner if isinstance(method, str) else method
        how = Metric.parse(metric) if isinstance(metric, str) else metric
        _check_validation(valid, how)
        return cls(_checked(learner, data), data, valid, how, seed)

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


def _eliminated(fitted: Fitted, kind: Kind, sizes: list[int], progress: Progress) -> tuple[SelectionStep, ...]:
    """Recursive feature elimination: fit, drop the features of least importance, and fit again."""
    left, path = np.arange(fitted.data.n_features), list[SelectionStep]()
    for k, size in enumerate(sizes):
        worst = left
        if k + 1 < len(sizes):
            shares = _importance(fitted, left, kind)
            worst = left[np.argsort(shares[left], kind="stable")[: size - sizes[k + 1]]]
        path.append(fitted.step(left, worst))
        left = np.setdiff1d(left, worst)
        progress((k + 1) / len(sizes))
    return tuple(path)


def _importance(fitted: Fitted, features: Ints, kind: Kind) -> Array:
    model = fitted.model(features)[0]
    shares = importance(model, fitted.valid if kind == "drop" else fitted.data, kind=kind, metric=fitted.metric)
    if shares is not None:
        return shares[0]
    if kind == "drop":  # no feature alone changes the metric
        return np.zeros(fitted.data.n_features)
    raise IncompatibleError(
        f"{fitted.learner} has no importance of features by {kind}. Choose by=drop, which any model has, gas or lasso."
    )


def _along(fitted: Fitted, order: Ints, sizes: list[int], progress: Progress) -> tuple[SelectionStep, ...]:
    """Models of the first features of an order."""
    path = list[SelectionStep]()
    for k, size in enumerate(sizes):
        fewer = sizes[k + 1] if k + 1 < len(sizes) else 0
        path.append(fitted.step(order[:size], order[fewer:size][::-1]))
        progress((k + 1) / len(sizes))
    return tuple(path)
