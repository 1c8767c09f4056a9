"""PermuRank: a support vector machine on pairs of whole rankings, a perfect and an imperfect one (Xu et al., 2008).

>>> from podium.algorithms import PermuRank
>>> PermuRank(cost=1.0, rounds=5)
permurank(cost=1.0,rounds=5)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from podium.algorithms.linear_learner import LinearLearner
from podium.algorithms.requirements import needs_pairs
from podium.algorithms.working_set_programs import Over, Pairs, Surrogate, minimise, objective
from podium.base.arrays import Array, Flags, Ints, dense
from podium.base.errors import DataError, IncompatibleError, needs_memory
from podium.base.registry import param, register
from podium.data.dataset import Dataset
from podium.jit.sorting import order_all
from podium.learner import Learned
from podium.metrics import MAP, Metric
from podium.problem import refuse_missing
from podium.solvers import Watch
from podium.solvers.quadratic_program import BYTES
from podium.transforms import Transform, ZScore


@register
class PermuRank(LinearLearner):
    """Support vector machine that separates perfect rankings of each query from imperfect ones, weighted by a metric.

    Formula: min ½‖w‖² + (C/Q) Σ_q Σ_{π*∈B*_q, π∈B_q} (E(π*) − E(π))·[1 − (S(π*) − S(π))]_+, with E any metric and
        S(π) = 2/(n(n−1)) Σ_{i before j} ⟨w, x_i − x_j⟩. With `over=max` the worst pair of rankings of a query counts
        instead of their sum; with `surrogate=exponential` or `logistic`, e^{−δ} or log2(1 + e^{−δ}) of δ = S(π*) − S(π)
        instead of [1 − δ]_+. All are at least 1 − E of the model's own ranking if it is in the set.
        The working set B*, B of perfect and imperfect rankings starts with those by the covariance of features and
        grades. Each round solves the program and adds an imperfect ranking, the one with the largest S, which is the
        model's own, and a perfect one. It ends when no new ranking violates the margin.
    Ties: every order of documents of equal grade is perfect. `perfect=nearest` adds the one with the largest S, which
        does not constrain documents of equal grade; `violated`, the literature's rule, the one with the least, which
        forces them to equal scores and ranks OHSUMED markedly worse.
    Cost: per round a sort, and a quadratic program of O(queries × rounds²) pairs of rankings by features.
    Use it for: any metric on up to some thousands of queries; `svm-map` is exact and cheaper for MAP.
    Reference: Xu, Liu, Lu, Li and Ma, Directly optimizing evaluation measures in learning to rank, SIGIR 2008.
    """

    metric: Metric = MAP()
    """Metric by which wrong rankings are weighted."""
    cost: float = param(default=0.1, above=0, search=(0.01, 10.0, "log"))
    """C, the cost of a query's loss."""
    surrogate: Surrogate = "hinge"
    """Bound of the 0–1 function of a pair of rankings in the wrong order."""
    over: Over = "sum"
    """Pairs of rankings of a query: all of the working set, or the worst."""
    perfect: Literal["nearest", "violated"] = "nearest"
    """Perfect ranking that a round adds: the one with the largest score (`nearest`) or with the least (`violated`)."""
    rounds: int = param(default=10, least=1)
    """Most rounds."""
    patience: int | None = param(default=5, least=1)
    """Early stopping: end after this many rounds without a better validation metric."""
    transform: Transform = ZScore()
    name = "permurank"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.metric.check_reads_labels()

    def check(self, data: Dataset) -> None:
        if data.labels is None or data.preferences is None:
            needs_pairs(data, self.name)
        if data.labels is None:
            raise IncompatibleError(
                "permurank learns by a metric of grades, but the data has only preferences. Use rankboost or ranknet."
            )
        if not self.metric.higher_is_better:
            raise IncompatibleError(f"permurank needs a metric of which more is better; got {self.metric}.")
        if not _counts(self.metric, data).any():
            raise DataError(f"permurank: {self.metric} cannot tell two rankings of any query apart.", where=data.source)
        size = data.n_queries * self.rounds**2 * data.n_features * BYTES
        needs_memory(size, self.name, instead="Use svm-map, or fewer rounds.")

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        refuse_missing(data, self.name)
        keep = np.flatnonzero(_counts(self.metric, data))
        weights = np.ones(data.n_queries) if data.query_weights is None else data.query_weights
        data, share = data.select(keep), weights[keep] / weights[keep].sum()
        assert data.labels is not None
        sets = [_WorkingSet() for _ in keep]
        w, rounds, reason = np.zeros(data.n_features), 0, f"{self.rounds} rounds were allowed"
        for rounds in range(1, self.rounds + 1):
            direction = _covariance(data) if rounds == 1 else w
            added = self._add(sets, data, w, self._by_score(data, direction))
            if rounds == 1 and not added:  # that direction ranks all perfectly: begin with the reverse
                added = self._add(sets, data, w, self._by_score(data, -direction))
            if not added:
                rounds, reason = rounds - 1, "no new ranking violates the margin"
                break
            w, objective = self._solve(sets, share)
            if watch.record(
                rounds, self.rounds, objective,
                scores=lambda other, now=w: self.score({"weights": now}, other),  # type: ignore[misc]
                state=w, patience=self.patience,
            ):  # fmt: skip
                reason = "no better validation measure"
                break
        if watch.best is not None:
            w = watch.best_state
        return Learned(self, {"weights": w}, {"stopped": reason, "iterations": rounds})

    def _by_score(self, data: Dataset, w: Array) -> tuple[Ints, Ints]:
        """A perfect ranking of each query, and the ranking by score."""
        scores = self.score({"weights": w}, data)
        ties = scores if self.perfect == "nearest" else -scores
        return _by_grade(data, ties), order_all(scores, data.offsets)[0]

    def _add(self, sets: list[_WorkingSet], data: Dataset, w: Array, rankings: tuple[Ints, Ints]) -> bool:
        """Add a perfect and an imperfect ranking of each query if w violates their margin; whether any is new."""
        features = [_sums(data, _weights_of_places(data, best_first)) for best_first in rankings]
        values = [self._measure(data, best_first) for best_first in rankings]
        added = False
        for q, rankings_of_query in enumerate(sets):
            gap, margin = values[0][q] - values[1][q], float(w @ (features[0][q] - features[1][q]))
            if gap > 0 and (margin < 1 - 1e-6 or self.surrogate != "hinge"):  # the smooth ones are never 0
                new = [_include(rankings_of_query.perfect, features[0][q], values[0][q])]
                new.append(_include(rankings_of_query.imperfect, features[1][q], values[1][q]))
                added |= any(new)
        return added

    def _measure(self, data: Dataset, best_first: Ints) -> Array:
        assert data.labels is not None
        scores = np.empty(data.n_documents)
        scores[best_first] = -np.arange(data.n_documents, dtype=np.float64)
        return self.metric(scores, data.labels, data.offsets)

    def _solve(self, sets: list[_WorkingSet], share: Array) -> tuple[Array, float]:
        rows, gaps, query = [], [], []
        for q, rankings in enumerate(sets):
            for best, reached in rankings.perfect:
                for other, value in rankings.imperfect:
                    if reached > value:
                        rows.append(best - other)
                        gaps.append(reached - value)
                        query.append(q)
        pairs = Pairs(np.array(rows), np.array(gaps), np.array(query), self.cost * share)
        w = minimise(pairs, self.surrogate, self.over, who=self.name)
        return w, objective(pairs, w, self.surrogate, self.over)


@dataclass
class _WorkingSet:
    """Working set of a query: the feature vector of each ranking, and its value of the metric."""

    perfect: list[tuple[Array, float]] = field(default_factory=list)
    imperfect: list[tuple[Array, float]] = field(default_factory=list)


def _include(rankings: list[tuple[Array, float]], features: Array, value: float) -> bool:
    if any(np.array_equal(features, other) for other, _ in rankings):
        return False
    rankings.append((features, value))
    return True


def _counts(metric: Metric, data: Dataset) -> Flags:
    """Queries in which the metric differs between the best and the worst ranking."""
    assert data.labels is not None
    best, worst = (metric(scores, data.labels, data.offsets) for scores in (data.labels, -data.labels))
    return np.asarray((best > worst) & (data.sizes > 1))


def _covariance(data: Dataset) -> Array:
    """Covariance of each feature with the grades."""
    assert data.labels is not None
    return np.asarray(_sums(data, data.labels - data.labels.mean()).sum(axis=0))


def _by_grade(data: Dataset, keys: Array) -> Ints:
    """Documents of each query in order of grade, and within a grade by descending key."""
    assert data.labels is not None
    return np.lexsort((-keys, -data.labels, data.query_index))


def _weights_of_places(data: Dataset, best_first: Ints) -> Array:
    """Weight of each document's features in S: 2(n + 1 − 2r)/(n(n − 1)) at rank r."""  # (N,)
    n = np.repeat(data.sizes, data.sizes).astype(np.float64)
    rank = 1.0 + np.arange(data.n_documents) - np.repeat(data.offsets[:-1], data.sizes)
    weights = np.empty(data.n_documents)
    weights[best_first] = 2 * (n + 1 - 2 * rank) / (n * (n - 1))
    return weights


def _sums(data: Dataset, weights: Array) -> Array:
    """Σ_i c_i x_i over the documents of each query."""  # (Q, d)
    import scipy.sparse as sp

    gather = sp.csr_array((weights, np.arange(data.n_documents), data.offsets))
    sums = gather @ data.features
    return dense(sums).astype(np.float64, copy=False)
