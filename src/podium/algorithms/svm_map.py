"""SVM-MAP: a structural support vector machine for average precision or NDCG (Yue, Finley, Radlinski, Joachims, 2007).

>>> from podium.algorithms import SVMMAP
>>> SVMMAP(measure="ndcg", cost=20.0)
svm-map(measure=ndcg,cost=20.0)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from podium.algorithms.linear_learner import LinearLearner
from podium.algorithms.requirements import needs_grades, needs_pairs, needs_relevance
from podium.base.arrays import Array, Ints, Singles
from podium.base.registry import param, register
from podium.data.dataset import Dataset
from podium.jit.compiled import compiled
from podium.jit.sorting import argsort_descending, sort_descending
from podium.kernels.check_gains import check_gains
from podium.learner import Learned
from podium.metrics.gains import exp2_gain
from podium.problem import refuse_missing
from podium.solvers import Watch
from podium.solvers.quadratic_program import solve_planes
from podium.transforms import Transform, ZScore

if TYPE_CHECKING:
    import scipy.sparse as sp

Tables = tuple[bool, Array, Array, Array]
"""Whether the loss is 1 − AP; harmonic numbers, discounts and ideal DCG by rank."""


@register
class SVMMAP(LinearLearner):
    """Structural support vector machine whose hinge loss bounds 1 − AP (or 1 − NDCG), solved by cutting planes.

    Formula: min ½‖w‖² + C·ξ with, for any rankings π_q, (1/Q) Σ_q ⟨w, ψ(π*_q) − ψ(π_q)⟩ ≥ (1/Q) Σ_q Δ(π_q) − ξ, where
        ψ(π) = 1/(|R||N|) Σ_{i∈R, j∈N} ±(x_i − x_j), + if π puts the relevant i before the other j, and Δ = 1 − AP.
        The most violated ranking of each query merges its relevant and its other documents, both by score: each other
        document j takes the place among the relevant ones that adds most to Δ − ⟨w, ψ⟩. Planes are added until none
        is violated by more than ε. With `measure=ndcg` gains are 2^y − 1, and 1 − NDCG = Σ_t β_t (1 − NDCG_t) over the
        grades t of a query but its lowest, where NDCG_t has gain 1 for grades of at least t and 0 below, and β_t ∝ (the
        step of the gain up to t) × (the ideal DCG_t). Each part has its own ψ_t and its own ranking π_t, so the search
        is exact for grades too.
        With `rescale=slack` the loss of a query is max_π Δ(π)·[1 − ⟨w, ψ(π*) − ψ(π)⟩]_+ instead of
        max_π [Δ(π) − ⟨w, ψ(π*) − ψ(π)⟩]_+: a ranking that is a little wrong costs little, however the margin is. The
        search then maximises θΔ − ⟨w, ψ(π*) − ψ(π)⟩ for several θ, up to θ = (1 − ⟨w, ψ(π*) − ψ(π)⟩)/Δ; it finds the
        best ranking on the convex hull of these two numbers, which the very best may exceed a little.
    Ties: a grade of at least `relevant` is relevant (`measure=map`); there is no order among documents of equal grade.
        In Li's book the sum of ψ runs over all pairs of documents, here over those of different grades.
    Cost: O(n log n) per query and plane, times the grades of NDCG, and a quadratic program in the number of planes,
        some 10 to 300; with `rescale=slack` the search takes 20 times as long.
    Use it for: binary relevance and MAP, or graded relevance and NDCG.
    Reference: Yue et al., A support vector method for optimizing average precision, SIGIR 2007; NDCG: Chakrabarti et
        al., Structured learning for non-smooth ranking losses, KDD 2008; one slack for all queries: Joachims, Finley
        and Yu, Cutting-plane training of structural SVMs, 2009.
    """

    measure: Literal["map", "ndcg"] = "map"
    """Metric whose loss is bounded."""
    rescale: Literal["margin", "slack"] = "margin"
    """Whether Δ is the margin that a ranking needs, or the price of a margin below 1."""
    cost: float = param(default=10.0, above=0, search=(0.01, 100.0, "log"))
    """C, the cost of the mean loss."""
    epsilon: float = param(default=0.001, above=0)
    """Planes are added until none is violated by more than this."""
    relevant: float = 1.0
    """Grade from which a document is relevant, with `measure=map`."""
    planes: int = param(default=1000, least=1)
    """Maximum number of cutting planes."""
    transform: Transform = ZScore()
    name = "svm-map"

    def check(self, data: Dataset) -> None:
        if self.measure == "map":
            needs_relevance(data, self.name, relevant=self.relevant)
        else:
            needs_grades(data, self.name)
            needs_pairs(replace(data, preferences=None), self.name)
            check_gains(self.name, data.labels)  # type: ignore[arg-type]

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        refuse_missing(data, self.name)
        assert data.labels is not None
        labels = np.where(data.labels >= self.relevant, 1.0, 0.0) if self.measure == "map" else data.labels
        share = _shares(data, labels)
        G, delta = np.empty((0, data.n_features)), np.empty(0)
        w, slack = np.zeros(data.n_features), 0.0
        n_planes, reason, features = 0, f"{self.planes} planes were allowed", _products(data.features)
        for n_planes in range(1, self.planes + 1):
            search = violations if self.rescale == "margin" else slack_violations
            coefficients, losses = search(self.score({"weights": w}, data), labels, data.offsets, self.measure)
            plane = features(coefficients * np.repeat(share, data.sizes))
            loss = float(share @ losses)
            if loss - plane @ w <= slack + self.epsilon:
                reason = f"no ranking is violated by more than {self.epsilon:g}"
                break
            G, delta = np.vstack([G, plane]), np.append(delta, loss)
            w, slack = solve_planes(G, delta, self.cost, who=self.name)
            watch.record(
                n_planes, self.planes, 0.5 * float(w @ w) + self.cost * slack,
                scores=lambda other, now=w: self.score({"weights": now}, other),  # type: ignore[misc]
                state=None, patience=None,
            )  # fmt: skip
        objective = 0.5 * float(w @ w) + self.cost * slack
        return Learned(self, {"weights": w}, {"stopped": reason, "iterations": n_planes, "objective": objective})


def violations(scores: Array, labels: Array, offsets: Ints, measure: str) -> tuple[Array, Array]:
    """The most violated rankings of each query: the coefficients c of ψ(π*) − ψ(π) = Σ_i c_i x_i (N,), and Δ(π) (Q,).

    Labels are 0 and 1 for `map`, grades for `ndcg`.
    """
    coefficients, losses = np.zeros(len(scores)), np.zeros(len(offsets) - 1)
    largest = int(np.diff(offsets).max(initial=0))
    harmonic = np.append(0.0, np.cumsum(1.0 / np.arange(1, largest + 2)))
    discount = np.append(0.0, 1.0 / np.log2(np.arange(1, largest + 2) + 1.0))  # at rank r, from 1
    tables = (measure == "map", harmonic, discount, np.cumsum(discount))  # the last: DCG of r relevant ones at the top
    _violations(scores, labels, offsets, tables, coefficients, losses)
    return coefficients, losses


def slack_violations(scores: Array, labels: Array, offsets: Ints, measure: str) -> tuple[Array, Array]:
    """Rankings of large Δ·(1 − m), m = ⟨w, ψ(π*) − ψ(π)⟩: Δ·c, with c as in `violations` (N,), and Δ (Q,).

    Where θΔ − m is largest, Δ and m rise with θ, so that (1 − m)/Δ falls; the product is largest where it meets θ,
    which bisection finds. Queries in which nothing is violated have zeros.
    """
    sizes, starts = np.diff(offsets), offsets[:-1]
    low, high = np.full(len(sizes), -_RANGE), np.full(len(sizes), _RANGE)  # log2 θ
    best, kept, price = np.zeros(len(sizes)), np.zeros(len(scores)), np.zeros(len(sizes))
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        theta = 2.0**middle
        coefficients, losses = violations(scores / np.repeat(theta, sizes), labels, offsets, measure)
        sums = np.append(0.0, np.cumsum(scores * coefficients))
        room = 1.0 - (sums[starts + sizes] - sums[starts])
        better = losses * room > best
        best, price = np.where(better, losses * room, best), np.where(better, losses, price)
        rows = np.repeat(better, sizes)
        kept[rows] = (coefficients * np.repeat(losses, sizes))[rows]
        more = room > theta * losses
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    return kept, price


_RANGE, _HALVINGS = 20.0, 20
"""Largest |log2 θ|, and steps of bisection."""


def _shares(data: Dataset, labels: Array) -> Array:
    """Weight of each query, 0 if all its labels are equal; they sum to 1."""
    share = np.ones(data.n_queries) if data.query_weights is None else np.asarray(data.query_weights, np.float64)
    mixed = [b > a and labels[a:b].max() > labels[a:b].min() for a, b in pairwise(data.offsets)]
    share = np.where(mixed, share, 0.0)
    return np.asarray(share / share.sum())


def _products(features: Singles | sp.csr_array) -> Callable[[Array], Array]:
    """c ↦ Σ_i c_i x_i, over the rows with c_i ≠ 0."""

    def product(coefficients: Array) -> Array:
        rows = np.flatnonzero(coefficients)
        return np.asarray(coefficients[rows] @ features[rows], np.float64)

    return product


@compiled
def _violations(
    scores: Array, labels: Array, offsets: Ints, tables: Tables, coefficients: Array, losses: Array
) -> None:
    for q in range(len(losses)):
        a, b = offsets[q], offsets[q + 1]
        order = np.empty(b - a, np.int64)
        argsort_descending(scores[a:b], order)
        grades, weights = _parts(labels[a:b], tables)
        for t in range(len(grades)):
            R, N = _split(order, labels[a:b], grades[t])
            places = _places(scores[a:b], R, N, tables)
            losses[q] += weights[t] * _settle(R, N, places, weights[t], tables, coefficients[a:b])


@compiled
def _split(order: Ints, labels: Array, grade: float) -> tuple[Ints, Ints]:
    """The documents of at least this grade, and the others, in their order."""
    good, bad, n_good, n_bad = np.empty(len(order), np.int64), np.empty(len(order), np.int64), 0, 0
    for i in order:
        if labels[i] >= grade:
            good[n_good] = i
            n_good += 1
        else:
            bad[n_bad] = i
            n_bad += 1
    return good[:n_good], bad[:n_bad]


@compiled
def _parts(labels: Array, tables: Tables) -> tuple[Array, Array]:
    """The grades of a query except the lowest, and the share β of each in 1 − NDCG; 1 for 1 − AP."""
    ap, _, _, ideal = tables
    n, total, size = len(labels), 0.0, 0
    falling, grades, weights = np.empty(n), np.empty(n), np.empty(n)
    sort_descending(labels, falling)
    for p in range(n - 1, -1, -1):
        if p < n - 1 and falling[p] == falling[p + 1]:
            continue
        step = exp2_gain(falling[p]) - (exp2_gain(falling[p + 1]) if p < n - 1 else 0.0)
        grades[size] = falling[p]
        weights[size] = 1.0 if ap else step * ideal[p + 1]  # of p + 1 documents of at least this grade
        total += weights[size]
        size += 1
    for t in range(size):
        weights[t] /= 1.0 if ap else total
    return grades[1:size], weights[1:size]


@compiled
def _places(s: Array, R: Ints, N: Ints, tables: Tables) -> Ints:
    """For each other document the index of the first relevant one that it precedes, |R| if none.

    The best place moves down the list with j, since the gain of preceding decreases with j. So documents of a coarse
    grid are placed first, then those in between, each between the places of its neighbours.
    """
    n_r, n_n = len(R), len(N)
    after = np.zeros(n_r + 1)  # Σ of the scores of the relevant ones from here on
    for k in range(n_r - 1, -1, -1):
        after[k] = after[k + 1] + s[R[k]]
    places = np.full(n_n + 1, n_r, np.int64)  # of document j at j + 1
    places[0] = 0
    step = 1
    while 2 * step <= n_n:
        step *= 2
    while step >= 1:
        for at in range(step, n_n + 1, 2 * step):
            j = at - 1
            low, high = places[at - step], places[at + step] if at + step <= n_n else n_r
            best = -np.inf
            for k in range(low, high + 1):
                margin = after[k] - (n_r - k) * s[N[j]]
                value = _loss(k, j, n_r, tables) - 2.0 * margin / (n_r * n_n)
                if value >= best:
                    best, places[at] = value, k
        step //= 2
    return places[1:]


@compiled
def _loss(k: int, j: int, n_r: int, tables: Tables) -> float:
    """Increase of Δ if the other document j precedes the relevant ones k, k + 1, …, as all before j do.

    The m-th relevant one (from 1) with n others before it counts m/(m + n) in |R|·AP, so one more takes
    m/(m + j) − m/(m + j + 1) away; summed over m from k + 1 to |R| by harmonic numbers. In DCG the sum telescopes.
    """
    ap, harmonic, discount, ideal = tables
    if ap:
        fewer = j * (harmonic[n_r + j] - harmonic[k + j])
        more = (j + 1) * (harmonic[n_r + j + 1] - harmonic[k + j + 1])
        return (more - fewer) / n_r  # type: ignore[no-any-return]
    return (discount[k + j + 1] - discount[n_r + j + 1]) / ideal[n_r]  # type: ignore[no-any-return]


@compiled
def _settle(
    R: Ints, N: Ints, places: Ints, weight: float, tables: Tables,
    coefficients: Array,
) -> float:  # fmt: skip
    """Add the coefficients, ±2/(|R||N|) × weight for each pair in the wrong order; returns Δ."""
    unit, loss = weight * 2.0 / (len(R) * len(N)), 0.0
    for j in range(len(N)):
        loss += _loss(places[j], j, len(R), tables)
        coefficients[N[j]] -= unit * (len(R) - places[j])
    before = 0  # places rise with j
    for k in range(len(R)):
        while before < len(N) and places[before] <= k:
            before += 1
        coefficients[R[k]] += unit * before
    return loss
