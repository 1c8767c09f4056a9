"""Comparison of a document with all that are ranked below it: loss and derivatives of weighted pairs, by vector code.

The loss of a pair is w·log(1 + e^(−σ(s_i − s_j))), i having the higher grade. `LambdaRank` gives the weights.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from podium.base.arrays import Array, Ints
from podium.jit.compiled import compiled, outlined
from podium.jit.views import view
from podium.kernels.exponentials import exponentials
from podium.kernels.sums import add_up
from podium.losses.order_of_ties import share

STEP = 16
"""Loops run over multiples of this many documents, because vector code is slow for a remainder."""
FAR = 600.0
"""If scores are further apart, there is an exponential per pair instead of one per document."""
SCORES, ODDS, WEIGHTS, SLOPE, BEND, PAID, FORCES, BENDS = range(8)
"""Rows of the workspace of `compare`; its columns are documents in rank order, then STEP zeros."""
ROWS = 8


@outlined("boolean(float64[::1], int64[::1], float64, float64[:, ::1])")
def lay_out(scores: Array, order: Ints, sigma: float, rows: Array) -> bool:
    """Fill the rows of σs and, unless scores are far apart, of e^(σs), relative to the first; returns which."""
    n, s = len(scores), rows[SCORES]
    for p in range(n):
        s[p] = sigma * scores[order[p]]
    near = n > 0 and s[0] - s[n - 1] < FAR
    if near:
        exponentials(s[:n], s[0], 1.0, rows[ODDS, :n])
    return bool(near)


@outlined("float64(int64, boolean, float64[:, ::1])")
def compare(p: int, near: bool, rows: Array) -> float:
    """Compare the document at place p with all below it, by their weights: adds the derivatives, returns the loss."""
    n, s = rows.shape[1] - STEP, rows[SCORES]
    end = p + 1 + (n - 1 - p + STEP - 1) // STEP * STEP  # whole steps, possibly beyond the last document
    odds = rows[ODDS] if near else _odds(s, p, n)
    inverse, t, w = 1.0 / odds[p] if near else 1.0, odds[p + 1 : end], view(rows[WEIGHTS], p + 1, end)
    forces, bends = view(rows[FORCES], p + 1, end), view(rows[BENDS], p + 1, end)
    _forces(inverse, t, w, forces, bends)
    _add(forces, bends, view(rows[SLOPE], p + 1, end), view(rows[BEND], p + 1, end))
    rows[SLOPE, p] -= add_up(forces)
    rows[BEND, p] += add_up(bends)
    return _paid(inverse, s[p], t, view(s, p + 1, end), w, view(rows[PAID], p + 1, end))


@outlined(
    "void(float64[::1], float64[::1], int64[::1], int64[::1], float64, float64[:, ::1], float64[::1], float64[::1])"
)
def hand_out(
    scores: Array, labels: Array, order: Ints, by_score: Ints, sigma: float, rows: Array,
    gradient: Array, curvature: Array,
) -> None:  # fmt: skip
    """Derivatives of places as those of documents, equal for documents of equal score and grade."""
    for p in range(len(order)):
        gradient[order[p]], curvature[order[p]] = sigma * rows[SLOPE, p], sigma * sigma * rows[BEND, p]
    share(scores, labels, by_score, gradient)
    share(scores, labels, by_score, curvature)


@outlined("float64[::1](float64[::1], int64, int64)")
def _odds(s: Array, p: int, n: int) -> Any:
    """e^(s_q − s_p) at each q from p + 1 to n − 1; else 0."""
    t = np.zeros(len(s))
    for q in range(p + 1, n):
        t[q] = math.exp(s[q] - s[p])
    return t


@compiled
def _paid(inverse: float, s_p: float, e: Array, s: Array, weights: Array, paid: Array) -> float:
    """Compare a document p with all q below it, t = e_q/e_p ≤ 1: Σ |ΔM| times the loss.

    `weights` are |ΔM|, negative if p should be below q: then the loss is log(1 + 1/t) = log(1 + t) + s_p − s_q.
    log(1 + t) = 2 artanh(z), z = t/(2 + t) ≤ ⅓, is a polynomial in z² (interpolated at Chebyshev's points, relative
    error 2e-16): unlike the library's logarithm it is vectorised. Its parts are computed side by side (Estrin's
    scheme), for with few documents it is the longest chain of operations.
    """
    for q in range(len(e)):
        t, weight = e[q] * inverse, weights[q]
        z = t / (2.0 + t)
        x = z * z
        x2 = x * x
        x4 = x2 * x2
        low = (0.6666666666668257 + x * 0.399999999952876) + x2 * (0.2857142911165716 + x * 0.22222190861346283)
        high = (0.1818285980047391 + x * 0.15363676248891633) + x2 * (0.13591305485579894 + x * 0.09880789048764786)
        log = z * (2.0 + x * (low + x4 * (high + x4 * 0.17780763826113302)))
        paid[q] = abs(weight) * log - min(weight, 0.0) * (s_p - s[q])
    return add_up(paid)


@compiled
def _forces(inverse: float, e: Array, weights: Array, forces: Array, bends: Array) -> None:
    """First and second derivative of each of those losses."""
    for q in range(len(e)):
        t, weight = e[q] * inverse, weights[q]
        p = 1.0 / (1.0 + t)
        forces[q] = p * (t * max(weight, 0.0) + min(weight, 0.0))
        bends[q] = abs(weight) * p * p * t


@compiled
def _add(forces: Array, bends: Array, slope: Array, bend: Array) -> None:
    """Add them to those of the documents q. (A loop of its own: with more arrays it is not vectorised.)"""
    for q in range(len(forces)):
        slope[q] += forces[q]
        bend[q] += bends[q]
