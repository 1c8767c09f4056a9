"""Comparison: what came out of training and judging several methods on the same folds, and what it tells.

>>> good = Outcome("good", "Fold1", "listnet", {}, 1.0, ("1", "2"), np.array([[0.9, 0.7]]), None)
>>> poor = Outcome("poor", "Fold1", "random", {}, 1.0, ("1", "2"), np.array([[0.1, 0.4]]), None)
>>> found = Comparison((Metric.parse("ndcg@10"),), 0, (good, poor))
>>> found.ranking(), round(found.mean("good")[0], 3)
(['good', 'poor'], 0.8)

`podium.experiments.compare` makes one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.evaluation.evaluate import all_plain, plain
from podium.evaluation.significance import SystemComparison, compare_systems
from podium.metrics import Average, Metric, mean
from podium.model import Model


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
    seed: int = 0

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
