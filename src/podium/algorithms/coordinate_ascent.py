"""Coordinate ascent: linear weights that maximise a metric, one at a time (Metzler and Croft, 2007).

>>> from podium.algorithms import CoordinateAscent
>>> CoordinateAscent(restarts=2)
coordinate-ascent(restarts=2)
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from podium.algorithms.linear_learner import LinearLearner
from podium.algorithms.requirements import needs_grades
from podium.base.arrays import Array, dense
from podium.base.errors import DataError, IncompatibleError
from podium.base.registry import param, register
from podium.data.dataset import Dataset
from podium.kernels.line_of_ranks import best_step
from podium.learner import Learned
from podium.metrics import DCG, NDCG, Metric
from podium.problem import refuse_missing
from podium.solvers import Watch
from podium.transforms import Transform, ZScore


@register
class CoordinateAscent(LinearLearner):
    """Linear weights that maximise a metric itself, by line searches along one weight after another.

    Formula: w ← w + t·e_l, w/Σ|w| between steps. Along t the ranking changes only where two documents of a query
        cross; for NDCG and DCG the metric is followed from crossing to crossing, and t is the middle of the best
        interval, exactly. For other metrics, and with `line=grid`, 50 steps of RankLib are tried: ±0.05·2^k times the
        weight, and 0. Starts are even weights, the best single feature, and random weights.
    Ties: by the metric's convention.
    Cost: O(relevant documents × n log n) per query and weight for NDCG; 50 evaluations per weight with a grid.
    Use it for: few features and a metric to be maximised directly; weights that people can read.
    Reference: Metzler and Croft, Linear feature-based models for information retrieval, 2007.
    """

    metric: Metric = NDCG(10)
    """Metric that the weights maximise."""
    restarts: int = param(default=5, least=1)
    """Number of starts."""
    steps: int = param(default=25, least=1)
    """Largest number of passes over all weights for each start."""
    tolerance: float = param(default=0.001, least=0)
    """Smallest gain of a pass over all weights."""
    line: Literal["exact", "grid"] = "exact"
    """Search along a weight: `exact` follows NDCG and DCG from crossing to crossing, `grid` tries 50 steps."""
    transform: Transform = ZScore()
    name = "coordinate-ascent"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.metric.check_reads_labels()

    def check(self, data: Dataset) -> None:
        needs_grades(data, self.name)
        if not self.metric.higher_is_better:
            raise IncompatibleError(f"coordinate-ascent maximises a metric, and of {self.metric} less is better.")
        if np.isnan(self.metric(np.zeros(data.n_documents), data.labels, data.offsets)).all():  # type: ignore[arg-type]
            raise DataError(f"coordinate-ascent: {self.metric} has nothing to find in any query.", where=data.source)

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        refuse_missing(data, self.name)
        climb = _Climb(self, data)
        alone = climb.single()
        best, reached = alone, climb.value(climb.X @ alone)
        total, passes = self.restarts * self.steps, 0
        for start in range(self.restarts):
            w = np.full(data.n_features, 1.0 / data.n_features) if start == 0 else alone
            w = w if start < 2 else rng.dirichlet(np.ones(data.n_features)) * rng.choice([-1.0, 1.0], data.n_features)
            value = climb.value(climb.X @ w)
            for step in range(self.steps):
                before = value
                w, value = climb.around(w, value, rng.permutation(data.n_features))
                passes = start * self.steps + step + 1
                watch.record(
                    passes, total, -value, state=w, patience=total if watch.valid is not None else None,
                    scores=lambda other, now=w: self.score({"weights": now}, other),  # type: ignore[misc]
                )  # fmt: skip
                if value <= before + self.tolerance:
                    break
            best, reached = (w, value) if value > reached else (best, reached)
        if watch.best is not None:
            best = watch.best_state
        record = {"stopped": f"{self.restarts} starts", "iterations": passes, "objective": -reached}
        return Learned(self, {"weights": best}, record)


class _Climb:
    """Line searches on training data."""

    def __init__(self, learner: CoordinateAscent, data: Dataset) -> None:
        self.metric, self.data, self.X = learner.metric, data, np.asarray(dense(data.features[:]), np.float64)
        self.exact = learner.line == "exact" and type(learner.metric) in (NDCG, DCG)
        values = self._values(np.zeros(data.n_documents))
        weights = np.ones(data.n_queries) if data.query_weights is None else data.query_weights
        self.weights = np.where(np.isnan(values), 0.0, weights)
        self.worth = self._gains() if self.exact else None

    def _values(self, scores: Array) -> Array:
        return self.metric(scores, self.data.labels, self.data.offsets)  # type: ignore[arg-type]

    def value(self, scores: Array) -> float:
        """Mean of the metric over the queries that count."""
        return float(self.weights @ np.nan_to_num(self._values(scores)) / self.weights.sum())

    def single(self) -> Array:
        """The weights of the best single feature, or of its negative."""
        signs = [(sign, l) for l in range(self.data.n_features) for sign in (1.0, -1.0)]
        values = [self.value(sign * self.X[:, l]) for sign, l in signs]
        sign, l = signs[int(np.argmax(values))]
        w = np.zeros(self.data.n_features)
        w[l] = sign
        return w

    def around(self, w: Array, value: float, order: Any) -> tuple[Array, float]:
        """A pass over all weights."""
        for l in order:
            scores = self.X @ w
            for t in self._steps(scores, int(l), float(w[l])):
                moved = w.copy()
                moved[l] += t
                size = np.abs(moved).sum()
                if size < _NOTHING:
                    continue
                now = self.value(self.X @ (moved / size))
                if now > value + _ROUNDING:
                    w, value = moved / size, now
        return w, value

    def _steps(self, scores: Array, l: int, weight: float) -> list[float]:
        if self.worth is not None:
            step = best_step(scores, self.X[:, l], *self.worth, self.data.offsets)
            return [] if step is None else [step]
        base = 0.001 if abs(weight) < _NOTHING else 0.05 * abs(weight)
        return [*(sign * base * 2.0**k for k in range(25) for sign in (1.0, -1.0)), -weight]

    def _gains(self) -> tuple[Array, Array]:
        """Gains of documents as shares of the mean metric, and the discounts of the ranks of each query."""
        data, gains, discounts = self.data, np.zeros(self.data.n_documents), np.zeros(self.data.n_documents)
        assert data.labels is not None
        config, prepare = self.metric.config_array(data.labels), self.metric.swap_functions()[0]
        for q in np.flatnonzero(self.weights):
            own = slice(*data.offsets[q : q + 2])
            labels, n = data.labels[own], own.stop - own.start
            work = np.zeros(self.metric.work_size(n))
            prepare(labels, np.sort(labels)[::-1].copy(), config, work)
            gains[own], discounts[own] = work[:n] * self.weights[q] / self.weights.sum(), work[n : 2 * n]
        return gains, discounts


_NOTHING = 1e-12
_ROUNDING = 1e-12
"""Gains of the metric that may be rounding errors."""
