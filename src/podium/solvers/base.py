"""Solvers: from a problem to parameters; and the watch that sees every iteration and stops early."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import IncompatibleError, ParameterError
from podium.base.registry import Named
from podium.data.dataset import Dataset
from podium.losses import Loss
from podium.metrics import Metric
from podium.problem import Problem
from podium.scorers import Params, Scorer, SmoothScorer


@dataclass(frozen=True)
class Solution:
    """What a solver found."""

    params: Params  # of the scorer
    loss: Loss  # with its learned parameters
    value: float  # the objective at the last iteration
    iterations: int
    reason: str  # why it stopped


@dataclass(frozen=True)
class Step:
    """One iteration, as those who watch see it."""

    iteration: int  # 1 is the first
    total: int  # the number of iterations allowed
    value: float  # the training objective
    valid: float | None  # the validation measure, where there is validation data


@dataclass
class Watch:
    """Sees every iteration: measures validation data, keeps the best, tells observers; early stopping."""

    valid: Dataset | None = None
    metric: Metric | None = None
    observers: tuple[Callable[[Step], None], ...] = ()
    history: list[Step] = field(default_factory=list)
    best: Step | None = None
    best_state: Any = None
    as_good: Step | None = None
    """The latest iteration that is not worse than the best by more than one standard error over queries."""
    _best_values: Array | None = None  # of each validation query

    def record(
        self,
        iteration: int,
        total: int,
        value: float,
        *,
        scores: Callable[[Dataset], Array],
        state: Any,
        patience: int | None,
    ) -> bool:
        """Take note of an iteration; True means stop. `state` is kept if it is the best so far.

        `scores` computes validation scores, asked for only when there is a `patience` to judge by.
        """
        measured = None
        if self.valid is not None and self.metric is not None and patience is not None:
            values = self.measure(scores)
            measured = self.metric.average(values).value
        step = Step(iteration, total, value, measured)
        self.history.append(step)
        for observer in self.observers:
            observer(step)
        if measured is None:
            return False
        if self.best is None or self.best.valid is None or measured > self.best.valid:
            self.best, self.best_state = step, state() if callable(state) else state
            self.as_good, self._best_values = step, values
        elif _not_worse(values, self._best_values):
            self.as_good = step
        return patience is not None and iteration - self.best.iteration >= patience

    def measure(self, scores: Callable[[Dataset], Array]) -> Array:
        """The measure of each validation query."""  # (Q,)
        assert self.valid is not None
        assert self.metric is not None
        return query_values(self.metric, scores(self.valid), self.valid)


def mean_metric(metric: Metric, scores: Array, data: Dataset) -> float:
    """What a metric reports over the queries that count; NaN where none does."""
    return metric.average(query_values(metric, scores, data)).value


def query_values(metric: Metric, scores: Array, data: Dataset) -> Array:
    """A metric's value for each query, NaN where the query is skipped."""  # (Q,)
    assert data.labels is not None, "checked before training"
    return metric(scores, data.labels, data.offsets, document_ids=data.document_ids)


def proved_better(values: Array, than: Array) -> bool:
    """Whether the mean over queries is better by more than one standard error of the paired difference.

    Queries that do not count (NaN) in either are left out; a single query proves nothing.
    """
    lead = _lead(values, than)
    return lead is not None and lead[0] > lead[1]


def _not_worse(values: Array, best: Array | None) -> bool:
    """Whether the mean over queries is behind by at most one standard error; False if fewer than two queries count."""
    assert best is not None, "the first iteration is the best so far"
    lead = _lead(best, values)
    return lead is not None and lead[0] <= lead[1]


def _lead(values: Array, than: Array) -> tuple[float, float] | None:
    """The mean paired difference over the queries that count, and its standard error; None for fewer than two."""
    difference = (values - than)[np.isfinite(values - than)]
    if len(difference) < 2:
        return None
    return float(difference.mean()), float(difference.std(ddof=1) / np.sqrt(len(difference)))


class Solver(Named):
    """A way to move parameters. Its fields are its settings."""

    kind: ClassVar[str] = "solver"
    home: ClassVar[str] = "podium.solvers"
    needs_convex: ClassVar[bool] = False
    """Whether it relies on the objective being convex, which negative document weights undo."""
    penalty: float = 0.0
    """λ of the (λ/2)‖θ‖² in the objective; solvers with a penalty have it as a parameter."""

    def check(self, loss: Loss, scorer: Scorer) -> None:
        """Raise a clear error if this solver cannot work with the parts."""
        if not isinstance(scorer, SmoothScorer):
            raise IncompatibleError(
                f"{self.name} needs a scorer with parameters to differentiate; got {scorer.name}. "
                "Use solver=boosting, or scorer=linear or scorer=mlp."
            )

    def solve(self, problem: Problem, rng: np.random.Generator, watch: Watch) -> Solution:
        """Parameters that make the problem's value small."""
        raise NotImplementedError


def best_or_last(
    problem: Problem, theta: Array, watch: Watch, *, value: float, iterations: int, reason: str
) -> Solution:
    """The solution: the best parameters by validation where they were measured, else the last ones."""
    if watch.best is not None:
        theta = watch.best_state
        reason += f"; best {watch.metric} {watch.best.valid:.4f} at iteration {watch.best.iteration}"
    elif not (np.isfinite(value) and np.isfinite(theta).all()):
        raise ParameterError(
            f"{problem.loss.name} over {problem.scorer.name}: the objective is {value} after {iterations} iterations. "
            "Scale the features with transform=zscore, or use a larger penalty."
        )
    params, loss = problem.split(theta)
    return Solution(params, loss, value, iterations, reason)
