"""Slow and obvious versions of the algorithms that are not loss × scorer × solver."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference.quadratic_program import minimum

Array = NDArray[np.float64]


def prank_step(w: Array, b: Array, x: Array, y: int) -> tuple[Array, Array]:
    """One round of PRank as it is printed; grades are 1, …, l and b has the l − 1 finite thresholds."""
    l = len(b) + 1
    predicted = min(r for r in range(1, l + 1) if r == l or w @ x - b[r - 1] < 0)
    if predicted == y:
        return w, b
    z = [-1 if y <= r else 1 for r in range(1, l)]
    zeta = np.array([z[r] if z[r] * (w @ x - b[r]) <= 0 else 0 for r in range(l - 1)])
    return w + zeta.sum() * x, b - zeta


def splitting_step(w: Array, X: Array, y: Array, k: int, l: int, margin: float) -> Array:
    """One query of Splitting, by all pairs: ranks up to k are good, the last l are bad; no two grades are equal."""
    order = np.argsort(-y)
    pairs = [(i, j) for i in order[:k] for j in order[len(y) - l :]]
    return w + sum(((X[i] - X[j]) / len(pairs) for i, j in pairs if w @ (X[i] - X[j]) <= margin), np.zeros(len(w)))


def fixed_margin_svm(X: Array, y: NDArray[np.int64], cost: Array) -> tuple[Array, Array, float]:
    """w, b and the minimum of the OC SVM with a fixed margin; grades are 0, …, K − 1.

    `cost` is that of each document's slacks.
    """
    n_edges, d = int(y.max()), X.shape[1]
    sides = [(i, r, -1.0 if y[i] == r else 1.0) for r in range(n_edges) for i in range(len(y)) if y[i] in (r, r + 1)]
    n = d + n_edges + len(sides)  # w, b and the slacks
    rows = np.zeros((len(sides), n))  # side·(⟨w, x⟩ − b) + ξ
    for k, (i, r, side) in enumerate(sides):
        rows[k, :d], rows[k, d + r], rows[k, d + n_edges + k] = side * X[i], -side, 1.0
    P, q = np.diag(np.arange(n) < d).astype(float), np.zeros(n)
    q[d + n_edges :] = cost[[i for i, _, _ in sides]]
    at_least_zero = np.eye(n)[d + n_edges :]
    x, value = minimum(P, q, -np.vstack([rows, at_least_zero]), -np.repeat([1.0, 0.0], len(sides)))
    return x[:d], x[d : d + n_edges], value


def sum_of_margins_value(X: Array, y: NDArray[np.int64], cost: Array, w: Array) -> float:
    """The least of Σ(a_r − b_r) + Σ C·slack over a_1 ≤ b_1 ≤ a_2 ≤ … for a given w, by linear programming.

    `cost` is that of each document's slacks.
    """
    from scipy.optimize import linprog

    n_edges, s = int(y.max()), X @ w
    below = [(i, r) for r in range(n_edges) for i in range(len(y)) if y[i] == r]
    above = [(i, r) for r in range(n_edges) for i in range(len(y)) if y[i] == r + 1]
    n_slack = len(below) + len(above)
    c = np.concatenate([np.tile([1.0, -1.0], n_edges), cost[[i for i, _ in below + above]]])
    A, limit = [], []
    for k, (i, r) in enumerate(below):  # s ≤ a + ξ
        row = np.zeros(len(c))
        row[2 * r], row[2 * n_edges + k] = -1, -1
        A.append(row)
        limit.append(-s[i])
    for k, (i, r) in enumerate(above):  # s ≥ b − ξ
        row = np.zeros(len(c))
        row[2 * r + 1], row[2 * n_edges + len(below) + k] = 1, -1
        A.append(row)
        limit.append(s[i])
    for at in range(2 * n_edges - 1):
        row = np.zeros(len(c))
        row[at], row[at + 1] = 1, -1
        A.append(row)
        limit.append(0.0)
    bounds = [(None, None)] * (2 * n_edges) + [(0, None)] * n_slack
    return float(linprog(c, A_ub=np.array(A), b_ub=limit, bounds=bounds).fun)


def every_ranking(good: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], Array]:
    """All rankings of a query: relevance in rank order (n!, n), and c with ψ(π*) − ψ(π) = Σ c_i x_i (n!, n)."""
    orders = np.array(list(itertools.permutations(range(len(good)))))
    place = np.argsort(orders, axis=1)
    c = np.zeros(orders.shape)
    for i, j in itertools.product(np.flatnonzero(good), np.flatnonzero(~good)):
        wrong = 2.0 * (place[:, i] > place[:, j]) / (good.sum() * (~good).sum())  # −1 instead of +1
        c[:, i] += wrong
        c[:, j] -= wrong
    return good[orders], c


def ap_loss(ranked: NDArray[np.bool_]) -> Array:
    """1 − AP of relevance in rank order (…, n)."""
    precision = np.cumsum(ranked, axis=-1) / np.arange(1, ranked.shape[-1] + 1)
    return np.asarray(1 - (precision * ranked).sum(axis=-1) / ranked.sum(axis=-1))


def ndcg_loss(ranked: NDArray[np.bool_]) -> Array:
    """1 − NDCG of relevance in rank order (…, n), gain 1 for what is relevant."""
    discount = 1 / np.log2(np.arange(2, ranked.shape[-1] + 2))
    ideal = np.cumsum(discount)[ranked.sum(axis=-1) - 1]
    return np.asarray(1 - (discount * ranked).sum(axis=-1) / ideal)


def grade_shares(labels: Array) -> list[tuple[float, float]]:
    """(t, β_t) for the grades of a query but the lowest: 1 − NDCG = Σ_t β_t·(1 − NDCG with gain 1 for y ≥ t)."""
    discount, grades = 1 / np.log2(np.arange(2, len(labels) + 2)), sorted(set(labels))
    ideal = float(np.sort(2.0**labels - 1)[::-1] @ discount)
    return [
        (t, float((2.0**t - 2.0**below) * discount[: int((labels >= t).sum())].sum() / ideal))
        for below, t in itertools.pairwise(grades)
    ]


def structural_svm(queries: list[tuple[Array, NDArray[np.bool_]]], cost: float, loss: Any) -> tuple[Array, float]:
    """w and the minimum of the structural SVM with one slack per query and a constraint for every ranking."""
    d, n_queries = queries[0][0].shape[1], len(queries)
    rows, losses, owner = [], [], []
    for q, (X, good) in enumerate(queries):
        ranked, c = every_ranking(good)
        rows.append(c @ X)
        losses.append(loss(ranked))
        owner.append(np.full(len(c), q))
    A, delta, slack = np.vstack(rows), np.concatenate(losses), np.eye(n_queries)[np.concatenate(owner)]
    P = np.diag(np.arange(d + n_queries) < d).astype(float)
    q = np.append(np.zeros(d), np.full(n_queries, cost / n_queries))
    at_least_zero = np.eye(d + n_queries)[d:]
    x, value = minimum(P, q, -np.vstack([np.hstack([A, slack]), at_least_zero]), -np.append(delta, np.zeros(n_queries)))
    return x[:d], value


def adarank(features: Array, measure: Any, rounds: int, bound: str = "exponential") -> Array:
    """The weights of AdaRank after so many rounds; `measure` gives each query's value for scores of all documents."""

    def surrogate(values: Array) -> Array:
        return np.exp(-values) if bound == "exponential" else np.log2(1 + np.exp(-values))

    d = features.shape[1]
    w, loss = np.zeros(d), np.sum(surrogate(measure(np.zeros(len(features)))))
    P = np.full(len(measure(features[:, 0])), 1.0)
    for _ in range(rounds):
        P = P / P.sum()
        weak = [(float(P @ measure(sign * features[:, l])), l, sign) for sign in (1, -1) for l in range(d)]
        for value, l, sign in sorted(weak, key=lambda one: -one[0]):
            made = w.copy()
            made[l] += sign * 0.5 * np.log((1 + value) / (1 - value))
            if np.sum(surrogate(measure(features @ made))) < loss:
                break
        else:
            return w
        w, loss = made, np.sum(surrogate(measure(features @ made)))
        P = np.exp(-measure(features @ w)) if bound == "exponential" else 1 / (1 + np.exp(measure(features @ w)))
    return w


def pairs_of(labels: Array, offsets: NDArray[np.int64]) -> list[tuple[int, int]]:
    """The rows (better, worse) of every pair of different grades within a query."""
    found = []
    for a, b in itertools.pairwise(offsets):
        found += [(i, j) for i in range(a, b) for j in range(a, b) if labels[i] > labels[j]]
    return found


def best_threshold(X: Array, pairs: list[tuple[int, int]], scores: Array) -> tuple[int, float, float, float]:
    """RankBoost's weak ranker by looking at all pairs: feature, threshold, default for missing, and r."""
    D = np.array([np.exp(scores[j] - scores[i]) for i, j in pairs])
    D /= D.sum()
    best = (0, 0.0, 0.0, 0.0)
    for l in range(X.shape[1]):
        for threshold in (-np.inf, *np.unique(X[~np.isnan(X[:, l]), l])):
            for default in (0.0, 1.0):
                h = np.where(np.isnan(X[:, l]), default, X[:, l] > threshold)
                r = float(sum(weight * (h[i] - h[j]) for weight, (i, j) in zip(D, pairs, strict=True)))
                if abs(r) > abs(best[3]) + 1e-12:
                    best = (l, float(threshold), default, r)
    return best
