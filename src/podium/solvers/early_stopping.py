"""Early stopping: `Watch` records every iteration and keeps the best on validation data; the one-standard-error rule.

A difference of at most one standard error over the validation queries does not count: tuning keeps its present choice
unless another is `proved_better`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from podium.base.arrays import Array
from podium.data.dataset import Dataset
from podium.metrics import Metric


@dataclass(frozen=True)
class Step:
    """One iteration of training, as observers see it."""

    iteration: int  # 1 is the first
    total: int  # number of iterations allowed
    value: float  # the training objective
    valid: float | None  # validation metric, if there is validation data


@dataclass
class Watch:
    """Early stopping: evaluates each iteration on validation data, keeps the best, and notifies observers."""

    valid: Dataset | None = None
    metric: Metric | None = None
    observers: tuple[Callable[[Step], None], ...] = ()
    history: list[Step] = field(default_factory=list)
    best: Step | None = None
    best_state: Any = None

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
        """Record an iteration; True means stop. `state` is kept if it is the best so far.

        `scores` computes validation scores; it is called only if there is a `patience`.
        """
        measured = None
        if self.valid is not None and self.metric is not None and patience is not None:
            measured = self.metric.average(self.measure(scores)).value
        step = Step(iteration, total, value, measured)
        self.history.append(step)
        for observer in self.observers:
            observer(step)
        if measured is None:
            return False
        if self.best is None or self.best.valid is None or measured > self.best.valid:
            self.best, self.best_state = step, state() if callable(state) else state
        return patience is not None and iteration - self.best.iteration >= patience

    def measure(self, scores: Callable[[Dataset], Array]) -> Array:
        """Metric of each validation query."""  # (Q,)
        assert self.valid is not None
        assert self.metric is not None
        return query_values(self.metric, scores(self.valid), self.valid)


def mean_metric(metric: Metric, scores: Array, data: Dataset) -> float:
    """Mean of a metric over the queries that count; NaN if none does."""
    return metric.average(query_values(metric, scores, data)).value


def query_values(metric: Metric, scores: Array, data: Dataset) -> Array:
    """Value of a metric for each query, NaN if the query is skipped; scores are added to base scores."""  # (Q,)
    assert data.labels is not None, "checked before training"
    ids, topics = data.document_ids, data.topics
    return metric(data.added_to_base(scores), data.labels, data.offsets, document_ids=ids, topics=topics)


def proved_better(values: Array, than: Array) -> bool:
    """Whether the mean over queries is better by more than one standard error of the paired difference.

    Queries that do not count (NaN) in either are left out; False if fewer than two queries count.
    """
    difference = (values - than)[np.isfinite(values - than)]
    if len(difference) < 2:
        return False
    return float(difference.mean()) > float(difference.std(ddof=1) / np.sqrt(len(difference)))
