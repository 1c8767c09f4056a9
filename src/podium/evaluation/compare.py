"""Comparison of methods trained and evaluated on the same folds: means, rankings and significance.

>>> good = Outcome("good", "Fold1", "listnet", {}, 1.0, ("1", "2"), np.array([[0.9, 0.7]]), None)
>>> poor = Outcome("poor", "Fold1", "random", {}, 1.0, ("1", "2"), np.array([[0.1, 0.4]]), None)
>>> comparison = Comparison((Metric.parse("ndcg@10"),), 0, (good, poor))
>>> comparison.ranking(), comparison.mean("good").tolist()
(['good', 'poor'], [0.8])

`podium.comparison.compare` returns one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from podium.base.arrays import Array
from podium.base.shown import Backend, Shown, ShownTable, frame_of
from podium.evaluation.evaluate import all_plain, plain
from podium.evaluation.significance import Correction, SystemComparison, compare_systems
from podium.metrics import Average, Metric, mean

if TYPE_CHECKING:
    from podium.evaluation.by_segment import SegmentComparison
    from podium.model import Model


@dataclass(frozen=True, eq=False)
class Outcome:
    """Result of one method on one fold with one seed."""

    method: str
    fold: str
    learner: str  # the recipe that was fitted, with the hyperparameters that validation chose
    info: dict[str, Any]  # the record of training, as JSON; `trials` are the hyperparameters that were tried
    seconds: float
    query_ids: tuple[str, ...]  # of the test data
    values: Array  # (M, Q)
    model: Model | None  # None if the outcome was read from a folder
    details: dict[str, Any] = field(default_factory=dict)  # for the report, as JSON; see podium.evaluation.details
    seed: int = 0
    provenance: dict[str, Any] = field(default_factory=dict)  # machine, time and versions, as JSON

    @property
    def chosen(self) -> dict[str, Any]:
        """The hyperparameters chosen on validation data."""
        if "trials" not in self.info:
            return {}
        return {name: value for name, value in self.info["trials"][self.info["chosen"]].items() if name != "valid"}


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Shown):
    """The outcomes of all methods on all folds, with every seed."""

    word: ClassVar[str] = "method"
    """What is compared."""
    trained: ClassVar[bool] = True
    """Whether it was trained here, so that there are times, hyperparameters and folds."""

    metrics: tuple[Metric, ...]
    seed: int  # of the tests between methods
    outcomes: tuple[Outcome, ...]
    data: tuple[dict[str, Any], ...] = ()  # each fold's sizes and grades, as JSON
    tune_by: Metric | None = None  # the metric of tuning and early stopping on validation data; None: not recorded
    dataset: str = ""  # the name of the data
    baseline: str | None = None  # if all others are tested against one of them only
    test: str = "randomisation"
    correction: Correction = "holm"
    segments: Mapping[str, SegmentComparison] = field(default_factory=dict)  # by metric; empty if not asked for

    @cached_property
    def by_method(self) -> dict[str, list[Outcome]]:
        """The outcomes of each method, fold by fold, averaged over seeds; methods in the order they were given."""
        return {name: _averaged(self.runs(name)) for name in dict.fromkeys(run.method for run in self.outcomes)}

    @cached_property
    def seeds(self) -> list[int]:
        """The seeds, in the order they were given."""
        return list(dict.fromkeys(outcome.seed for outcome in self.outcomes))

    def runs(self, name: str) -> list[Outcome]:
        """The outcomes of a method, on each fold with each seed."""
        return [outcome for outcome in self.outcomes if outcome.method == name]

    def per_fold(self, name: str) -> Array:
        """The mean of each metric on each fold."""  # (M, F)
        return self._means(self.by_method[name])

    def per_seed(self, name: str) -> Array:
        """The mean over folds of each metric with each seed."""  # (M, S)
        by_seed = [self._means([run for run in self.runs(name) if run.seed == seed]) for seed in self.seeds]
        return np.array([[mean(row).value for row in values] for values in by_seed]).T

    def spread(self, name: str) -> Array:
        """The standard deviation over seeds of each metric's mean; NaN with one seed."""  # (M,)
        several = len(self.seeds) > 1
        return self.per_seed(name).std(axis=1, ddof=1) if several else np.full(len(self.metrics), np.nan)

    def mean(self, name: str) -> Array:
        """The mean over folds of each metric."""  # (M,)
        return np.array([mean(row).value for row in self.per_fold(name)])

    def pooled(self, name: str) -> list[Average]:
        """The mean of each metric over the test queries of all folds together."""
        values = np.hstack([outcome.values for outcome in self.by_method[name]])  # (M, Q)
        return [metric.average(row) for metric, row in zip(self.metrics, values, strict=True)]

    @cached_property
    def significance(self) -> dict[str, SystemComparison | None]:
        """Significance tests between all methods, by metric, over all test queries; None if too few queries count."""
        return {str(metric): self._tested_or_none(m) for m, metric in enumerate(self.metrics)}

    def _tested_or_none(self, m: int) -> SystemComparison | None:
        try:
            return self.tested(m)
        except ValueError:  # fewer than two queries that count, or methods that answered different ones
            return None

    def tested(self, m: int) -> SystemComparison:
        """Significance tests between all methods by metric number m; an error if they cannot be tested."""
        rows = [np.hstack([outcome.values[m] for outcome in outcomes]) for outcomes in self.by_method.values()]
        return compare_systems(
            np.array(rows), list(self.by_method), metric=self.metrics[m], baseline=self.baseline, test=self.test,
            correction=self.correction, seed=self.seed,
        )  # fmt: skip

    def ranking(self) -> list[str]:
        """The methods, best first by the first metric."""
        sign = 1.0 if self.metrics[0].higher_is_better else -1.0
        return sorted(self.by_method, key=lambda name: -np.nan_to_num(sign * self.mean(name)[0], nan=-np.inf))

    def _means(self, outcomes: list[Outcome]) -> Array:
        """Each metric's average for each outcome."""  # (M, outcomes)
        rows = [[m.average(row).value for m, row in zip(self.metrics, run.values, strict=True)] for run in outcomes]
        return np.array(rows).T

    def best(self, metric: Metric) -> str | None:
        """The method with the best mean over folds; ties go to the first. None if no mean is a number."""
        m = self.metrics.index(metric)
        means = {name: float(self.mean(name)[m]) for name in self.ranking()}
        finite = [name for name, value in means.items() if np.isfinite(value)]
        sign = 1.0 if metric.higher_is_better else -1.0
        return max(finite, key=lambda name: sign * means[name], default=None)

    def ties_with_best(self, metric: Metric) -> list[str]:
        """The methods that do not differ significantly from the best one; all others if that cannot be tested."""
        m, best, tested = self.metrics.index(metric), self.best(metric), self.significance[str(metric)]
        letters = (tested.letters if tested else None) or dict.fromkeys(self.by_method, "a")
        others = [name for name in self.ranking() if name != best and np.isfinite(self.mean(name)[m])]
        return [name for name in others if best is not None and set(letters[name]) & set(letters[best])]

    def to_frame(self, *, per_query: bool = False, backend: Backend = "pandas") -> Any:
        """A data frame with a row per method, best first; with `per_query`, a row per method and query."""
        if not per_query:
            return self._shown().frame(backend)
        outcomes = [outcome for outcomes in self.by_method.values() for outcome in outcomes]
        columns = {
            self.word: [outcome.method for outcome in outcomes for _ in outcome.query_ids],
            "fold": [outcome.fold for outcome in outcomes for _ in outcome.query_ids],
            "query": [query for outcome in outcomes for query in outcome.query_ids],
        }
        values = np.hstack([outcome.values for outcome in outcomes])
        named = {str(metric): row for metric, row in zip(self.metrics, values, strict=True)}
        return frame_of({**{k: v for k, v in columns.items() if self.trained or k != "fold"}, **named}, backend)

    def _shown(self) -> ShownTable:
        from podium.evaluation.report_texts import shown_comparison

        return shown_comparison(self)

    def seconds(self, name: str) -> float:
        """The wall-clock seconds that a method took, over all folds and seeds."""
        return sum(outcome.seconds for outcome in self.runs(name))

    def cpu_seconds(self, name: str) -> float:
        """The CPU seconds that a method took, of all threads, over all folds and seeds; NaN if not recorded."""
        return float(sum(outcome.provenance.get("cpu_seconds", np.nan) for outcome in self.runs(name)))

    def to_dict(self) -> dict[str, Any]:
        """Everything but the per-query values, as plain values for JSON; nothing that differs from run to run."""
        names = [str(metric) for metric in self.metrics]
        return {
            "dataset": self.dataset,
            "metrics": {str(m): m.tag() for m in self.metrics},
            "tune_by": None if self.tune_by is None else str(self.tune_by),
            "seeds": self.seeds,
            "data": list(self.data),
            "methods": {name: self._method(name, names) for name in self.by_method},
            "significance": {name: tests and all_plain(tests.to_dict()) for name, tests in self.significance.items()},
            **({"segments": {name: part.to_dict() for name, part in self.segments.items()}} if self.segments else {}),
        }

    def _method(self, name: str, metrics: list[str]) -> dict[str, Any]:
        def named(values: Array) -> dict[str, Any]:
            return dict(zip(metrics, map(plain, values), strict=True))

        pooled = self.pooled(name)
        report: dict[str, Any] = {
            "mean": named(self.mean(name)),
            "pooled": {metric: plain(average.value) for metric, average in zip(metrics, pooled, strict=True)},
            "queries": {metric: average.queries for metric, average in zip(metrics, pooled, strict=True)},
            "skipped": {metric: average.skipped for metric, average in zip(metrics, pooled, strict=True)},
        }
        if len(self.seeds) > 1:
            per_seed = zip(self.seeds, self.per_seed(name).T, strict=True)
            report["spread"] = named(self.spread(name))
            report["seeds"] = [{"seed": seed, "mean": named(values)} for seed, values in per_seed]
        report["folds"] = [
            {
                "fold": averaged.fold,
                "values": named(self._means([averaged])[:, 0]),
                "runs": [
                    {
                        "seed": run.seed,
                        "values": named(self._means([run])[:, 0]),
                        "chosen": run.chosen,
                        "learner": run.learner,
                        "info": all_plain(run.info),
                    }
                    for run in self.runs(name)
                    if run.fold == averaged.fold
                ],
            }
            for averaged in self.by_method[name]
        ]
        return report

    def provenance(self) -> dict[str, Any]:
        """Time, memory, machine and versions of every run, as plain values for JSON."""
        environments: list[dict[str, Any]] = []
        runs = []
        for outcome in self.outcomes:
            measured = {name: value for name, value in outcome.provenance.items() if name != "environment"}
            environment = outcome.provenance.get("environment", {})
            if environment not in environments:
                environments.append(environment)
            where = {"method": outcome.method, "fold": outcome.fold, "seed": outcome.seed, "learner": outcome.learner}
            runs.append({**where, **measured, "environment": environments.index(environment)})
        return {"environments": environments, "runs": runs}


def _averaged(outcomes: list[Outcome]) -> list[Outcome]:
    """One outcome for each fold: per-query values averaged over seeds, seconds added up, the rest of the first seed."""
    folds: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        folds.setdefault(outcome.fold, []).append(outcome)
    return [
        runs[0]
        if len(runs) == 1
        else replace(
            runs[0],
            values=np.mean([run.values for run in runs], axis=0),
            seconds=sum(run.seconds for run in runs),
        )
        for runs in folds.values()
    ]
