"""Kernels of SortNet's comparison network: its pairwise loss with derivatives, and sorting by its comparisons.

Documents are given by their two products with the first layer, A = Vx and B = Ux (n, H): a comparison costs O(H).
"""

from __future__ import annotations

import math

import numpy as np

from podium.base.arrays import Array, Ints
from podium.jit.compiled import compiled
from podium.jit.sorting import argsort_descending, merge_sort


@compiled
def add_pairs(
    A: Array, B: Array, b: Array, out: Array,
    winner: Ints, loser: Ints, target: Array, weight: Array,
    dA: Array, dB: Array, db: Array, dout: Array,
) -> float:  # fmt: skip
    """Σ weight·[(P̄ − N≻)² + (1 − P̄ − N≺)²] over the pairs of one query; adds its derivatives to dA, dB, db and dout."""
    n_hidden, total = len(b), 0.0
    u, v = np.empty(n_hidden), np.empty(n_hidden)
    for e in range(len(winner)):
        i, j = winner[e], loser[e]
        better, worse = out[2, 0], out[2, 0]
        for h in range(n_hidden):
            u[h] = _sigmoid(A[i, h] + B[j, h] + b[h])
            v[h] = _sigmoid(A[j, h] + B[i, h] + b[h])
            better += out[0, h] * u[h] + out[1, h] * v[h]
            worse += out[0, h] * v[h] + out[1, h] * u[h]
        better, worse = _sigmoid(better), _sigmoid(worse)
        off_better, off_worse = better - target[e], worse - 1.0 + target[e]
        total += weight[e] * (off_better**2 + off_worse**2)
        to_better = 2.0 * weight[e] * off_better * better * (1.0 - better)
        to_worse = 2.0 * weight[e] * off_worse * worse * (1.0 - worse)
        dout[2, 0] += to_better + to_worse
        for h in range(n_hidden):
            dout[0, h] += to_better * u[h] + to_worse * v[h]
            dout[1, h] += to_better * v[h] + to_worse * u[h]
            du = (to_better * out[0, h] + to_worse * out[1, h]) * u[h] * (1.0 - u[h])
            dv = (to_better * out[1, h] + to_worse * out[0, h]) * v[h] * (1.0 - v[h])
            dA[i, h] += du
            dB[j, h] += du
            dA[j, h] += dv
            dB[i, h] += dv
            db[h] += du + dv
    return total


@compiled
def sort_queries(A: Array, B: Array, b: Array, out: Array, offsets: Ints, wins: bool, scores: Array) -> None:
    """Scores of the documents of each query: positions in the sorted order, or comparisons won."""
    for q in range(len(offsets) - 1):
        first, last = offsets[q], offsets[q + 1]
        if wins:
            _count_wins(A[first:last], B[first:last], b, out, scores[first:last])
        else:
            _sort(A[first:last], B[first:last], b, out, scores[first:last])


@compiled
def _sigmoid(z: float) -> float:
    if z >= 0.0:
        return 1.0 / (1.0 + math.exp(-z))
    e = math.exp(z)
    return e / (1.0 + e)


@compiled
def _compare(x: Array, x_swapped: Array, y: Array, y_swapped: Array, b: Array, out: Array) -> float:
    """⟨w − w', u − v⟩, which has the sign of N≻ − N≺; exactly antisymmetric, as u and v only change places."""
    total = 0.0
    for h in range(len(b)):
        u = _sigmoid(x[h] + y_swapped[h] + b[h])
        v = _sigmoid(y[h] + x_swapped[h] + b[h])
        total += (out[0, h] - out[1, h]) * (u - v)
    return total


@compiled
def _count_wins(A: Array, B: Array, b: Array, out: Array, scores: Array) -> None:
    """Number of other documents that each beats, ½ for a draw."""
    for i in range(len(scores)):
        for j in range(i):
            answer = _compare(A[i], B[i], A[j], B[j], b, out)
            scores[i] += 0.5 + 0.5 * np.sign(answer)
            scores[j] += 0.5 - 0.5 * np.sign(answer)


@compiled
def _beats(net: tuple[Array, Array, Array, Array], i: int, j: int) -> bool:
    """Whether document i moves before j, the earlier of the two so far: not if j wins or they draw."""
    A, B, b, out = net
    return not _compare(A[j], B[j], A[i], B[i], b, out) >= 0.0


@compiled
def _sort(A: Array, B: Array, b: Array, out: Array, scores: Array) -> None:
    """Merge sort; a document's score is the number of documents sorted below it, equal for neighbours that draw."""
    n = len(scores)
    mean, against_mean = np.zeros(len(b)), np.empty(n)
    for i in range(n):
        against_mean[i] = _compare(A[i], B[i], mean, mean, b, out)
    order = np.empty(n, np.int64)
    argsort_descending(against_mean, order)
    order = merge_sort(order, np.empty(n, np.int64), _beats, (A, B, b, out))
    for p in range(n - 1, -1, -1):
        i = order[p]
        scores[i] = n - 1 - p
        if p + 1 < n:
            j = order[p + 1]
            if _compare(A[i], B[i], A[j], B[j], b, out) == 0.0:
                scores[i] = scores[j]
