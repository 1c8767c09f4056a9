"""Compare: each method on each fold, trained on train, tuned and stopped on vali, reported on test.

    >>> from podium.data import Fold, make_letor_like, split
    >>> train, vali, test = split(make_letor_like(30, seed=1)[0])
    >>> found = compare([Fold(train, vali, test, "made up")], ["random", "single-feature"], ["ndcg@10"])
    >>> best = found.ranking()[0]
    >>> best
    'single-feature'

With a folder, every finished fold × method is kept there at once, and the same call later goes on where this one ended.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.data.folder import Fold
from podium.errors import DataError, ParameterError
from podium.evaluation.details import History, describe_fold, details
from podium.evaluation.evaluate import all_plain, evaluate, plain, query_names, read_metrics
from podium.evaluation.significance import SystemComparison, compare_systems
from podium.evaluation.store import Store
from podium.methods import method
from podium.metrics import Average, Metric, mean
from podium.model import Model
from podium.training import Observer, train


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one method did on one fold."""

    method: str
    fold: str
    learner: str  # the recipe that was fitted, with what validation chose
    info: dict[str, Any]  # how it was made, as JSON; `trials` are the settings that were tried
    seconds: float
    query_ids: tuple[str, ...]  # of the test data
    values: NDArray[np.float64]  # (M, Q)
    model: Model | None  # None where the outcome was read from a folder
    details: dict[str, Any] = field(default_factory=dict)  # for the report, as JSON; see podium.evaluation.details

    @property
    def chosen(self) -> dict[str, float]:
        """The settings that validation data chose."""
        trials = self.info.get("trials") or [{"valid": 0.0}]
        best = max(trials, key=lambda trial: trial["valid"])
        return {name: value for name, value in best.items() if name != "valid"}


@dataclass(frozen=True, eq=False)
class Comparison:
    """The outcomes of all methods on all folds."""

    metrics: tuple[Metric, ...]
    seed: int
    outcomes: tuple[Outcome, ...]
    data: tuple[dict[str, Any], ...] = ()  # each fold's sizes and grades, as JSON

    @cached_property
    def by_method(self) -> dict[str, list[Outcome]]:
        """The outcomes of each method, fold by fold; methods in the order they were given."""
        found: dict[str, list[Outcome]] = {}
        for outcome in self.outcomes:
            found.setdefault(outcome.method, []).append(outcome)
        return found

    def per_fold(self, name: str) -> NDArray[np.float64]:
        """The mean of each metric on each fold."""  # (M, F)
        return np.array([[mean(row).value for row in outcome.values] for outcome in self.by_method[name]]).T

    def mean(self, name: str) -> NDArray[np.float64]:
        """The mean over folds of each metric."""  # (M,)
        return np.array([mean(row).value for row in self.per_fold(name)])

    def pooled(self, name: str) -> list[Average]:
        """The mean of each metric over the test queries of all folds together."""
        return [mean(row) for row in np.hstack([outcome.values for outcome in self.by_method[name]])]

    @cached_property
    def significance(self) -> dict[str, SystemComparison | None]:
        """Of each metric, tests between all methods over all folds' test queries; None where too few queries count."""
        return {str(metric): self._tested(m) for m, metric in enumerate(self.metrics)}

    def _tested(self, m: int) -> SystemComparison | None:
        rows = [np.hstack([outcome.values[m] for outcome in found]) for found in self.by_method.values()]
        try:
            return compare_systems(np.array(rows), list(self.by_method), seed=self.seed)
        except ValueError:  # fewer than two queries that count, or methods that answered different ones
            return None

    def ranking(self) -> list[str]:
        """The methods, best first by the first metric."""
        return sorted(self.by_method, key=lambda name: -np.nan_to_num(self.mean(name)[0], nan=-np.inf))

    def to_dict(self) -> dict[str, Any]:
        """Everything but the per-query values, as plain values for JSON."""
        names = [str(metric) for metric in self.metrics]
        methods = {}
        for name, outcomes in self.by_method.items():
            folds = self.per_fold(name).T
            pooled = self.pooled(name)
            methods[name] = {
                "mean": dict(zip(names, map(plain, self.mean(name)), strict=True)),
                "pooled": {metric: plain(average.value) for metric, average in zip(names, pooled, strict=True)},
                "queries": {metric: average.queries for metric, average in zip(names, pooled, strict=True)},
                "skipped": {metric: average.skipped for metric, average in zip(names, pooled, strict=True)},
                "seconds": sum(outcome.seconds for outcome in outcomes),
                "folds": [
                    {
                        "fold": outcome.fold,
                        "values": dict(zip(names, map(plain, values), strict=True)),
                        "chosen": outcome.chosen,
                        "learner": outcome.learner,
                        "seconds": outcome.seconds,
                        "info": all_plain(outcome.info),
                    }
                    for outcome, values in zip(outcomes, folds, strict=True)
                ],
            }
        return {
            "metrics": {str(m): m.tag() for m in self.metrics},
            "seed": self.seed,
            "data": list(self.data),
            "methods": methods,
            "significance": {name: found and all_plain(found.to_dict()) for name, found in self.significance.items()},
        }


def compare(
    folds: Sequence[Fold],
    methods: Sequence[str],
    metrics: Sequence[str | Metric] = ("ndcg@10",),
    *,
    preset: str | None = None,
    seed: int = 0,
    folder: str | PathLike[str] | None = None,
    observers: tuple[Observer, ...] = (),
) -> Comparison:
    """Train and judge every method on every fold.

    The first metric also tunes and stops: what is tuned is what is reported. With a `folder`, models, tables and
    per-query values are written there, and what an earlier call with the same arguments finished is not done again.
    """
    chosen = read_metrics(metrics, preset)
    found = outcomes(folds, methods, chosen, seed=seed, folder=folder, observers=observers)
    comparison = Comparison(chosen, seed, tuple(found), tuple(map(describe_fold, folds)))
    if folder is not None:
        from podium.evaluation.report import write_report

        write_report(comparison, folder)
    return comparison


def outcomes(
    folds: Sequence[Fold],
    methods: Sequence[str],
    metrics: Sequence[Metric],
    *,
    seed: int = 0,
    folder: str | PathLike[str] | None = None,
    observers: tuple[Observer, ...] = (),
) -> Iterator[Outcome]:
    """Each method on each fold, one after the other, as they are finished."""
    _check(folds, methods, metrics)
    store = None if folder is None else Store(folder, metrics, seed)
    return _outcomes(folds, dict.fromkeys(methods), tuple(metrics), seed=seed, store=store, observers=observers)


def _outcomes(
    folds: Sequence[Fold],
    methods: Iterable[str],
    metrics: tuple[Metric, ...],
    *,
    seed: int,
    store: Store | None,
    observers: tuple[Observer, ...],
) -> Iterator[Outcome]:
    for fold in folds:
        for name in methods:
            kept = None if store is None else store.read(fold, name)
            if kept is not None:
                yield Outcome(**kept, method=name, fold=fold.name, model=None)
                continue
            outcome = _outcome(fold, name, metrics, seed=seed, observers=observers, detailed=store is not None)
            if store is not None:
                store.write(fold, outcome)
            yield outcome


def _outcome(
    fold: Fold,
    name: str,
    metrics: tuple[Metric, ...],
    *,
    seed: int,
    observers: tuple[Observer, ...],
    detailed: bool,
) -> Outcome:
    assert fold.test is not None, "checked before work started"
    history = History()
    start = time.perf_counter()
    model = train(fold.train, name, valid=fold.vali, metric=metrics[0], seed=seed, observers=(*observers, history.see))
    seconds = time.perf_counter() - start
    scores = model.score(fold.test)
    values = evaluate(fold.test, scores, metrics).values
    more = details(model, fold, scores, metrics=metrics, history=history) if detailed else {}
    names = query_names(fold.test)
    return Outcome(name, fold.name, repr(model.learner), model.info, seconds, names, values, model, more)


def _check(folds: Sequence[Fold], methods: Sequence[str], metrics: Sequence[Metric]) -> None:
    """Refuse before any work starts what would fail later: methods, data, and labels that a metric has no gain for."""
    if not folds:
        raise ParameterError("There is no fold to compare on.")
    if not methods:
        raise ParameterError("At least one method is needed, e.g. listnet.")
    for fold in folds:
        if fold.test is None or fold.test.labels is None:
            raise DataError(
                "no labelled test data, which a comparison reports on. Add test.txt, or give one file to be split.",
                where=fold.name,
            )
        for part in (fold.vali, fold.test):
            if part is not None and part.labels is not None:
                evaluate(part, np.zeros(part.n_documents), metrics)
    for name in methods:
        learner = method(name).learner
        for fold in folds:
            learner.check(fold.train)
