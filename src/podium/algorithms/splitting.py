"""Splitting: a perceptron that separates the best of a list from the worst (Shen and Joshi, 2004).

>>> from podium.algorithms import Splitting
>>> Splitting(top=0.2)
splitting(top=0.2)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.algorithms.linear_learner import LinearLearner
from podium.algorithms.requirements import needs_no_weights, needs_pairs
from podium.base.arrays import Array, Ints, Singles, dense, is_sparse
from podium.base.errors import IncompatibleError, ParameterError, needs_memory
from podium.base.registry import param, register
from podium.data.dataset import Dataset
from podium.jit.compiled import compiled
from podium.learner import Learned
from podium.problem import refuse_missing
from podium.solvers import Watch
from podium.transforms import Transform, ZScore


@register
class Splitting(LinearLearner):
    """Perceptron on pairs of a good and a bad document of the same query; documents in between are ignored.

    Formula: the best k = ⌈top·n⌉ of the n documents of a query are good, the worst l = ⌈bottom·n⌉ bad; `top` and
        `bottom` from 1 are k and l themselves. For one query after another, each pair of a good i and a bad j with
        ⟨w, x_i − x_j⟩ ≤ τ (the margin) adds (x_i − x_j)/(good × bad) to w; all pairs of a query at once. The model is
        the mean of w over all steps, and the queries are shuffled before every epoch. The score is ⟨w, x⟩: in each
        query, a hyperplane normal to w separates good from bad.
    Ties: documents of the same grade are on the same side: all that are as good as the k-th are good, all that are as
        bad as the l-th worst are bad. A grade that would be both is neither, unless no other grade is on that side.
        So with binary labels, the relevant documents are good and all others bad.
    Cost: O(documents × (features + log documents)) per epoch.
    Use it for: long lists with a noisy middle, such as n-best lists of translations or parses.
    Reference: Shen, Sarkar and Och, Discriminative reranking for machine translation, HLT-NAACL 2004; Shen and Joshi,
        Ranking and reranking with perceptron, Machine Learning 60, 2005.
    """

    top: float = param(default=0.1, above=0)
    """Share of good documents in each list, up to ½; or their number, from 1."""
    bottom: float = param(default=0.1, above=0)
    """Share of bad documents in each list, up to ½; or their number, from 1."""
    margin: float = param(default=10.0, least=0, search=(0.1, 1000.0, "log"))
    """Difference of scores up to which a pair counts as a mistake."""
    epochs: int = param(default=50, least=1)
    """Most passes over the training queries."""
    patience: int | None = param(default=20, least=1)
    """Early stopping: end after this many epochs without a better validation metric."""
    transform: Transform = ZScore()
    name = "splitting"

    def __post_init__(self) -> None:
        super().__post_init__()
        for side, value in {"top": self.top, "bottom": self.bottom}.items():
            if value > 0.5 and (value < 1 or value % 1):
                raise ParameterError(
                    f"{self.name}: {side} must be a share of at most 0.5, or a number of documents from 1; got {value}."
                )

    def check(self, data: Dataset) -> None:
        if data.labels is None and data.preferences is not None:
            raise IncompatibleError(
                f"{self.name} needs the best and the worst of each list, but the data has only preferences. "
                "Use data with labels, or a pairwise method such as ranknet or rankboost."
            )
        needs_pairs(data, self.name)
        needs_no_weights(data, self.name)
        if is_sparse(data.features):
            size = 4.0 * data.n_documents * data.n_features
            needs_memory(size, f"{self.name}, which makes sparse features dense,", instead="Use ranking-svm.")

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        refuse_missing(data, self.name)
        X: Singles = np.ascontiguousarray(dense(data.features), np.float32)
        assert data.labels is not None
        side = sides(data.labels, data.offsets, self.top, self.bottom)
        lists = np.array([q for q in range(data.n_queries) if side[data.offsets[q] : data.offsets[q + 1]].any()])
        w, total = np.zeros(data.n_features), np.zeros(data.n_features)
        params, reason, epoch, wrong = {}, f"{self.epochs} epochs were allowed", 0, 0.0
        for epoch in range(1, self.epochs + 1):
            wrong = _epoch(X, side, data.offsets, rng.permutation(lists), self.margin, w, total) / len(lists)
            params = {"weights": total / (epoch * len(lists))}
            if watch.record(
                epoch, self.epochs, wrong,
                scores=lambda other, now=params: self.score(now, other),  # type: ignore[misc]
                state=params, patience=self.patience,
            ):  # fmt: skip
                reason = "no better validation measure"
                break
            if wrong == 0.0:
                reason = f"every pair is apart by more than the margin after {epoch} epochs"
                break
        if watch.best is not None:
            params = watch.best_state
        return Learned(self, params, {"stopped": reason, "iterations": epoch, "mistakes": wrong})


def sides(labels: Array, offsets: Ints, top: float, bottom: float) -> NDArray[np.int8]:
    """1 for the good documents of each query, −1 for the bad, 0 for the rest and for queries of one grade."""  # (N,)
    side = np.zeros(len(labels), np.int8)
    for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        y = labels[a:b]
        ordered = np.sort(y)
        if b - a < 2 or ordered[0] == ordered[-1]:
            continue
        k, l = (math.ceil(part * (b - a)) if part < 1 else min(int(part), b - a) for part in (top, bottom))
        least, most = ordered[-k], ordered[l - 1]
        good, bad = y >= least, y <= most
        if least <= most:  # a grade is on both sides
            good, bad = y > most, y < least
            good, bad = good if good.any() else y >= least, bad if bad.any() else y <= most
        side[a:b][good], side[a:b][bad] = 1, -1
    return side


@compiled
def _epoch(
    X: Singles, side: NDArray[np.int8], offsets: Ints, order: Ints,
    margin: float, w: Array, total: Array,
) -> float:  # fmt: skip
    """One pass over the queries in `order`: updates w and its sum over the steps.

    Returns the sum over queries of the share of wrong pairs.
    """
    wrong = 0.0
    for q in order:
        start, end = offsets[q], offsets[q + 1]
        scores = np.zeros(end - start)
        for i in range(start, end):
            for l in range(len(w)):
                scores[i - start] += w[l] * X[i, l]
        pushes, share = _pushes(scores, side[start:end], margin)
        wrong += share
        for i in range(start, end):
            if pushes[i - start] != 0.0:
                for l in range(len(w)):
                    w[l] += pushes[i - start] * X[i, l]
        for l in range(len(w)):
            total[l] += w[l]
    return wrong


@compiled
def _pushes(scores: Array, side: NDArray[np.int8], margin: float) -> Any:
    """u_i = Σ_j [s_i − s_j ≤ τ]/(good × bad) for a good i, negative for a bad one; and the share of wrong pairs.

    Two pointers over the sorted scores count the pairs without visiting each.
    """
    good, bad = np.flatnonzero(side > 0), np.flatnonzero(side < 0)
    good, bad = good[np.argsort(scores[good])], bad[np.argsort(scores[bad])]
    pushes, pairs, count, below = np.zeros(len(scores)), float(len(good)) * float(len(bad)), 0.0, 0
    for i in good:  # ascending: more and more of the bad are below by more than the margin
        while below < len(bad) and scores[i] - scores[bad[below]] > margin:
            below += 1
        pushes[i] = (len(bad) - below) / pairs
        count += len(bad) - below
    within = 0
    for j in bad:  # ascending: more and more of the good are above by no more than the margin
        while within < len(good) and scores[good[within]] - scores[j] <= margin:
            within += 1
        pushes[j] = -within / pairs
    return pushes, count / pairs
