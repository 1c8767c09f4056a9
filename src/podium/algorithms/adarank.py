"""AdaRank: boosting of single features for an evaluation metric (Xu and Li, 2007).

>>> from podium.algorithms import AdaRank
>>> from podium.metrics import Metric
>>> AdaRank(metric=Metric.parse("ndcg@5"))
adarank(metric=ndcg@5)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from podium.algorithms.linear_learner import LinearLearner
from podium.algorithms.requirements import needs_grades
from podium.base.arrays import Array, column
from podium.base.errors import DataError, IncompatibleError
from podium.base.registry import param, register
from podium.data.dataset import Dataset
from podium.learner import Learned
from podium.metrics import MAP, Metric
from podium.problem import refuse_missing
from podium.solvers import Watch
from podium.transforms import MinMax, Transform


@register
class AdaRank(LinearLearner):
    """Boosting that adds, in each round, the single feature that best ranks the queries ranked badly so far.

    Formula: f = Σ_t α_t h_t, h a feature or its negative. With P_1(q) = 1/Q, round t takes the h with the largest
        Σ_q P_t(q)·E_q(h), gives it α_t = ½ ln(Σ P_t(1 + E)/Σ P_t(1 − E)), and sets P_{t+1}(q) ∝ e^{−E_q(f_t)}. E is any
        metric between −1 and 1. If the best feature does not lower the loss Σ_q e^{−E_q(f_t)}, the next best is tried;
        if none does, training stops. With `bound=logistic` the loss is Σ_q log₂(1 + e^{−E_q(f_t)}), and P_{t+1}(q) ∝
        1/(1 + e^{E_q(f_t)}); it bounds 1 − E too, if E ≥ 0.
    Ties: by the metric's convention. Queries that do not count for the metric are left out.
    Cost: 2 × features evaluations once; per round one evaluation, and more only if the best features do not help.
    Use it for: a short sum of features, chosen by the metric itself: `adarank-map`, `adarank-ndcg`.
    Reference: Xu and Li, AdaRank: a boosting algorithm for information retrieval, SIGIR 2007.
    """

    metric: Metric = MAP()
    """Metric by which features are chosen."""
    rounds: int = param(default=200, least=1)
    """Most rounds, each of which adds a feature."""
    patience: int | None = param(default=50, least=1)
    """Early stopping: end after this many rounds without a better validation metric."""
    bound: Literal["exponential", "logistic"] = "exponential"
    """The function of E that is minimised."""
    transform: Transform = MinMax()
    name = "adarank"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.metric.check_reads_labels()

    def check(self, data: Dataset) -> None:
        needs_grades(data, self.name)
        low, high = self.metric.range
        if not self.metric.higher_is_better or low < -1 or high > 1:
            raise IncompatibleError(
                f"adarank needs a measure between −1 and 1 of which more is better; got {self.metric}. "
                "Use metric=map or metric=ndcg@10."
            )
        if np.isnan(self.metric(np.zeros(data.n_documents), data.labels, data.offsets)).all():  # type: ignore[arg-type]
            raise DataError(f"adarank: {self.metric} has nothing to find in any query.", where=data.source)

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        refuse_missing(data, self.name)
        evaluation = _Evaluation(self.metric, data)
        alone = evaluation.of_features()  # (2d, Q)
        prior = evaluation.prior
        bound = _BOUNDS[self.bound]
        w, P, loss = np.zeros(data.n_features), prior, float(prior @ bound(evaluation(np.zeros(data.n_documents)))[0])
        scores, rounds, reason = np.zeros(data.n_documents), 0, f"{self.rounds} rounds were allowed"
        for rounds in range(1, self.rounds + 1):
            step = _next(evaluation, alone, P, scores, loss, bound=bound)
            if step is None:
                rounds, reason = rounds - 1, "no feature lowers the loss further"
                break
            feature, alpha, scores, reached, loss = step
            w = w.copy()
            w[feature] += alpha
            P = prior * bound(reached)[1]
            P = P / P.sum()
            if watch.record(
                rounds, self.rounds, loss,
                scores=lambda other, now=w: self.score({"weights": now}, other),  # type: ignore[misc]
                state=w, patience=self.patience,
            ):  # fmt: skip
                reason = "no better validation measure"
                break
        if watch.best is not None:
            w = watch.best_state
        return Learned(self, {"weights": w}, {"stopped": reason, "iterations": rounds, "objective": loss})


def _exponential(E: Array) -> tuple[Array, Array]:
    """e^{−E}, and the same as the weight of a query."""
    return np.exp(-E), np.exp(-E)


def _logistic(E: Array) -> tuple[Array, Array]:
    """log₂(1 + e^{−E}), and its negative slope up to a factor, 1/(1 + e^E), as the weight of a query."""
    return np.log1p(np.exp(-E)) / np.log(2.0), 1.0 / (1.0 + np.exp(E))


_BOUNDS = {"exponential": _exponential, "logistic": _logistic}


class _Evaluation:
    """Values of the metric for the queries that count."""

    def __init__(self, metric: Metric, data: Dataset) -> None:
        self._metric, self.data = metric, data
        self._counts = ~np.isnan(metric(np.zeros(data.n_documents), data.labels, data.offsets))  # type: ignore[arg-type]
        weights = np.ones(data.n_queries) if data.query_weights is None else data.query_weights
        self.prior = weights[self._counts] / weights[self._counts].sum()

    def __call__(self, scores: Array) -> Array:
        values = self._metric(scores, self.data.labels, self.data.offsets)  # type: ignore[arg-type]
        return values[self._counts]

    def of_features(self) -> Array:
        """The values of each feature in ascending, then in descending direction."""  # (2d, Q)
        columns = [column(self.data.features, l).astype(np.float64) for l in range(self.data.n_features)]
        return np.stack([self(sign * x) for sign in (1, -1) for x in columns])


def _next(
    evaluation: _Evaluation, alone: Array, P: Array, scores: Array, loss: float, *, bound: Callable[..., Any]
) -> tuple[int, float, Array, Array, float] | None:
    """The best feature whose step lowers the loss: the feature, its step, scores, values of the metric, loss."""
    weighted = alone @ P
    for at in np.argsort(-weighted, kind="stable"):
        feature, sign = at % evaluation.data.n_features, 1.0 if at < evaluation.data.n_features else -1.0
        E = min(float(weighted[at]), 1 - 1e-6)  # the step of a perfect feature would be infinite
        if E <= 0:
            return None
        alpha = sign * 0.5 * np.log((1 + E) / (1 - E))
        moved = scores + alpha * column(evaluation.data.features, int(feature)).astype(np.float64)
        reached = evaluation(moved)
        value = float(evaluation.prior @ bound(reached)[0])
        if value < loss:
            return int(feature), float(alpha), moved, reached, value
    return None
