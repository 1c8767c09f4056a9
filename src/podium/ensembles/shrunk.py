"""Shrinkage: a method's scores, shrunk towards one feature by as much as cross-validation asks for."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from podium.algorithms.requirements import needs_grades
from podium.algorithms.single_feature import SingleFeature
from podium.base.arrays import Array
from podium.base.errors import IncompatibleError
from podium.base.registry import param, register
from podium.data.dataset import Dataset
from podium.ensembles.composite import fitted, parsed, quiet, report
from podium.ensembles.interpolated import simplex
from podium.ensembles.mixture import Mixture, mixed
from podium.ensembles.stack import columns, out_of_fold
from podium.learner import Learned, Learner
from podium.metrics import Metric
from podium.model import Model
from podium.solvers import Watch
from podium.solvers.early_stopping import proved_better, query_values
from podium.tuning import candidates

_STEPS = 4
"""Shares are quarters."""
_ANY = "first-stage"


class _Trial(NamedTuple):
    """Shares of the feature, of the method and of the trees, and what they reach."""

    shares: Array
    values: Array  # (Q,) of the metric


@register
class Shrunk(Mixture):
    """A method's scores, shrunk towards one feature: the score of a search's first stage, which is hard to beat.

    Formula: s(x) = (1 − w)·z(x_l) + w·z(f(x)), l the feature `towards`, f the fitted method `of`, z a score less its
        mean in the query, over its standard deviation there. Of the shares 0, ¼, ½, ¾, 1, let v be the one with the
        best metric in 5-fold cross-validation, where each query is scored by a method that was fitted without it, and
        g ± e its mean gain over w = 0 with the standard error over queries. w is v·max(0, 1 − (e/g)²), to the nearest
        quarter: 0 for a gain up to one standard error, most of v from two on; never one that is below w = 0 there.
        Validation queries count too. So do the hyperparameters of `of`, which are those of its grid that are best at
        w = 1.
        With `least` queries and more, `trees` have a share as well, if they are better by over one standard error.
    Ties: documents that all parts tie are tied. With one part left, that is the model.
    Cost: 5 fits for each setting of the grid, and one more.
    Use it for: search with few judged queries: at worst, about as good as the first stage. It learns from all
        queries, so it needs no validation data.
    Reference: James and Stein, Estimation with quadratic loss, 1961; with the factor as in Breiman, Better subset
        regression using the nonnegative garrote, 1995.
    """

    cross_validates: ClassVar[bool] = True
    of: str = "listnet(transform=query-zscore)"
    """Method whose scores are shrunk."""
    trees: str = "lambdamart(num_leaves=7,rounds=100,transform=identity)"
    """Method of trees that joins if there are enough queries."""
    least: int = param(default=300, least=1)
    """Queries from which trees are tried."""
    towards: str = _ANY
    """A feature by its name, or by its number from 1; first-stage: the one that the data states."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for text in (self.of, self.trees):
            parsed(text)  # raises an error if there is no such method

    def check(self, data: Dataset) -> None:
        needs_grades(data, self.name)
        self._feature(data)
        for text in self._methods(data):
            parsed(text).learner.check(data)

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        metric = watch.metric or Metric.parse("ndcg@10")
        learner, trials = self._tried(data, rng, watch, metric)
        means = [metric.average(trial.values).value for trial in trials]
        chosen = _chosen(trials, means)
        shares = trials[chosen].shares
        members = [self._anchor(data), *self._refitted(learner, data, rng, watch)]
        record: dict[str, Any] = {
            "stopped": f"all members fitted; {1 - shares[0]:.0%} of the score is learned",
            "towards": self._name(data),
            "members": [
                {"learner": repr(model.learner), "share": float(share)}
                for model, share in zip(members, shares, strict=True)
            ],
            "trials": [_record(trial.shares, mean) for trial, mean in zip(trials, means, strict=True)],
            "chosen": chosen,
            "rule": "the best learned share in cross-validation, less the part of its gain that may be noise",
        }
        if shares.max() == 1.0:  # one part is left: that is the model
            [alone] = [model for model, share in zip(members, shares, strict=True) if share]
            return Learned(alone.learner, dict(alone.params), record, dict(alone.state))
        return Learned(self, mixed(members, shares), record)

    def _methods(self, data: Dataset) -> list[str]:
        return [self.of, self.trees] if data.n_queries >= self.least else [self.of]

    def _tried(
        self, data: Dataset, rng: np.random.Generator, watch: Watch, metric: Metric
    ) -> tuple[Learner, list[_Trial]]:
        """The best setting of the method, and all shares of it, on queries that it was not fitted to."""
        settings = [learner for learner, _ in candidates(parsed(self.of))]
        trees = [parsed(text).learner for text in self._methods(data)[1:]]
        if data.n_queries < 2:  # none can be held out
            nothing = np.full(data.n_queries, np.nan)
            return settings[0], [_Trial(np.eye(2 + len(trees))[0], nothing)]
        learners = [*settings, *trees]
        parts = [(data, out_of_fold(learners, data, rng, quiet(watch)))]
        report(watch, 1, 2)
        if watch.valid is not None:
            models = [fitted(learner, data, rng.spawn(1)[0], quiet(watch)) for learner in learners]
            parts.append((watch.valid, columns(models, watch.valid)))
        measured = [(part, columns([self._anchor(data)], part), z) for part, z in parts]

        def trial(number: int, shares: Array) -> _Trial:
            own = [number, *range(len(settings), len(learners))]
            scores = ((part, np.concatenate([anchor, z[:, own]], axis=1) @ shares) for part, anchor, z in measured)
            return _Trial(shares, np.concatenate([query_values(metric, s, part) for part, s in scores]))

        alone = [trial(number, np.eye(2 + len(trees))[1]) for number in range(len(settings))]
        means = [metric.average(each.values).value for each in alone]
        best = int(np.argmax(np.nan_to_num(means, nan=-np.inf)))
        return settings[best], [trial(best, shares) for shares in simplex(2 + len(trees), _STEPS)]

    def _refitted(self, learner: Learner, data: Dataset, rng: np.random.Generator, watch: Watch) -> list[Model]:
        """The method, and the trees if they are tried, fitted to all queries."""
        learners = [learner, *(parsed(text).learner for text in self._methods(data)[1:])]
        models = [fitted(each, data, rng.spawn(1)[0], quiet(watch)) for each in learners]
        report(watch, 2, 2)
        return models

    def _anchor(self, data: Dataset) -> Model:
        """The ranking by the feature alone."""
        params = {"feature": np.array([self._feature(data)]), "sign": np.array([1])}
        return Model(SingleFeature(), params, {}, data.n_features, data.feature_names, {}, categories=data.categories)

    def _feature(self, data: Dataset) -> int:
        """The column of the feature; raises an error if there is none."""
        name = self._name(data)
        names = data.feature_names or tuple(str(column + 1) for column in range(data.n_features))
        if name in names:
            return names.index(name)
        if name.isdecimal() and 1 <= int(name) <= data.n_features:
            return int(name) - 1
        raise IncompatibleError(
            f"shrunk: no feature {name!r} to shrink towards. Name one, e.g. "
            f"'shrunk(towards={names[0] if names else 1})'; data of podium features states its own."
        )

    def _name(self, data: Dataset) -> str:
        stated = (data.info or {}).get("first_stage")
        return str(stated) if self.towards == _ANY and stated is not None else self.towards

    def digest(self) -> str:
        return parsed(self.of).learner.digest() + parsed(self.trees).learner.digest()


def _chosen(trials: list[_Trial], means: list[float]) -> int:
    """The number of the trial whose share is the best one, shrunk by what may be noise of its gain."""

    def best(numbers: list[int]) -> int:
        return max(numbers, key=lambda k: float(np.nan_to_num(means[k], nan=-np.inf)))

    every = list(range(len(trials)))
    linear = [k for k in every if not trials[k].shares[2:].any()]
    v = best(every)
    if not proved_better(trials[v].values, trials[best(linear)].values):
        v = best(linear)
    allowed = every if trials[v].shares[2:].any() else linear
    share = (1.0 - trials[v].shares[0]) * _certainty(trials[v].values, trials[0].values)
    steps = np.floor(_STEPS * share + 0.5)
    chosen = best([k for k in allowed if round(_STEPS * (1.0 - trials[k].shares[0])) == steps])
    return chosen if means[chosen] > means[0] else 0  # of shares between, none that is below the first stage


def _certainty(values: Array, than: Array) -> float:
    """The part of the mean gain over queries that is not noise, max(0, 1 − (e/g)²), e the standard error of g."""
    gains = (values - than)[np.isfinite(values - than)]
    if len(gains) < 2 or gains.mean() <= 0:
        return 0.0
    return max(0.0, 1.0 - float(gains.var(ddof=1) / len(gains) / gains.mean() ** 2))


def _record(shares: Array, mean: float) -> dict[str, float]:
    """Shares of the learned parts in words, and their metric in cross-validation."""
    names = ("learned",) if len(shares) == 2 else ("linear", "trees")
    return {**{name: float(share) for name, share in zip(names, shares[1:], strict=True)}, "valid": mean}
