"""PRank: an online perceptron with ordered thresholds between the grades (Crammer and Singer, 2001).

>>> from podium.algorithms import PRank
>>> PRank(epochs=5, average=True)
prank(epochs=5,average=true)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from podium.algorithms.linear_learner import LinearLearner
from podium.algorithms.requirements import needs_grades, needs_no_weights
from podium.algorithms.thresholds import grade_of
from podium.base.arrays import Array, Ints, Singles, dense, is_sparse
from podium.base.errors import needs_memory
from podium.base.registry import param, register
from podium.data.dataset import Dataset
from podium.jit.compiled import compiled
from podium.learner import Learned
from podium.problem import refuse_missing
from podium.scorers import Params
from podium.solvers import Watch
from podium.transforms import Transform, ZScore


@register
class PRank(LinearLearner):
    """Perceptron for ordinal grades, trained document by document, with a threshold between neighbouring grades.

    Formula: grade = min{r : ⟨w,x⟩ < b_r} with b_1 ≤ … ≤ b_{K−1}, b_K = ∞. With z_r = +1 for thresholds below the true
        grade and −1 for the others, each r with z_r(⟨w,x⟩ − b_r) ≤ 0 adds z_r·x to w and −z_r to b_r. Every update
        keeps the order of the thresholds. `average` uses the mean of w and b over all steps; the documents are
        shuffled before every epoch. The score is ⟨w,x⟩.
    Ties: documents of equal grade are not compared; queries are ignored.
    Cost: O(documents × (features + grades)) per epoch.
    Use it for: grades from a stream of documents; a fast pointwise baseline that predicts grades too.
    Reference: Crammer and Singer, Pranking with ranking, NIPS 2001; averaging: Harrington, ICML 2003.
    """

    epochs: int = param(default=50, least=1)
    """Most passes over the documents."""
    average: bool = False
    """Whether weights and thresholds are the mean over all steps."""
    patience: int | None = param(default=20, least=1)
    """Early stopping: end after this many epochs without a better validation metric."""
    transform: Transform = ZScore()
    name = "prank"

    def check(self, data: Dataset) -> None:
        needs_grades(data, self.name)
        needs_no_weights(data, self.name)
        if is_sparse(data.features):
            size = 4.0 * data.n_documents * data.n_features
            needs_memory(size, f"{self.name}, which makes sparse features dense,", instead="Use oc-svm or regression.")

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        X = _dense(data)
        assert data.labels is not None
        grades, y = np.unique(data.labels, return_inverse=True)
        rows = np.lexsort((y, *X.T))  # shuffling does not depend on the order of the input
        w, b = np.zeros(data.n_features), np.zeros(len(grades) - 1)
        sum_w, sum_b, steps = np.zeros_like(w), np.zeros_like(b), 0
        params, reason, epoch = {}, f"{self.epochs} epochs were allowed", 0
        for epoch in range(1, self.epochs + 1):
            wrong = _epoch(X, y, rng.permutation(rows), w, b, sum_w, sum_b)
            steps += len(y)
            now = (sum_w / steps, sum_b / steps) if self.average else (w.copy(), b.copy())
            params = {"weights": now[0], "thresholds": now[1], "grades": grades}
            if watch.record(
                epoch, self.epochs, wrong / len(y),
                scores=lambda other, now=params: self.score(now, other),  # type: ignore[misc]
                state=params, patience=self.patience,
            ):  # fmt: skip
                reason = "no better validation measure"
                break
        if watch.best is not None:
            params = watch.best_state
        return Learned(self, params, {"stopped": reason, "iterations": epoch, "mistakes": wrong / len(y)})

    def grades(self, params: Params, data: Dataset) -> Array:
        return grade_of(self.score(params, data), params)


def _dense(data: Dataset) -> Singles:
    refuse_missing(data, "prank")
    X: Any = data.features
    return np.ascontiguousarray(dense(X), np.float32)


@compiled
def _epoch(
    X: Singles, y: Ints, order: Ints,
    w: Array, b: Array, sum_w: Array, sum_b: Array,
) -> int:  # fmt: skip
    """One pass over the documents in `order`: updates w, b and their sums over the steps; returns the mistakes."""
    wrong = 0
    for i in order:
        x, score, predicted, push = X[i], 0.0, 0, 0.0
        for l in range(len(w)):
            score += w[l] * x[l]
        while predicted < len(b) and score >= b[predicted]:
            predicted += 1
        if predicted != y[i]:
            wrong += 1
            for r in range(len(b)):
                z = 1.0 if y[i] > r else -1.0
                if z * (score - b[r]) <= 0.0:
                    push += z
                    b[r] -= z
            for l in range(len(w)):
                w[l] += push * np.float64(x[l])
        for l in range(len(w)):
            sum_w[l] += w[l]
        for r in range(len(b)):
            sum_b[r] += b[r]
    return wrong
