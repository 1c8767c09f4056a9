"""Random orders of tied documents: random cyclic orders, each with several evenly spaced starts (rotations).

Any rotation of a random cyclic order is a random order. Over its rotations, each document has each rank about equally
often, so a mean over them has far less variance than one over as many independent orders. For up to three documents
they are as good as all orders, for a sum over the sets of remaining documents.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from podium.base.arrays import Array
from podium.jit.compiled import compiled, outlined
from podium.jit.views import view


@compiled
def rotations(m: int, samples: float) -> Any:
    """Number of cyclic orders of m documents to draw, and of rotations of each: their product is ≤ samples."""
    turns = min(m, int(samples))
    return 1 if m <= 3 else max(int(samples) // m, 1), turns


@compiled
def begin(turn: int, m: int, turns: int) -> int:
    """Start of a rotation."""
    return int(turn * (m / turns))


@outlined("UniTuple(float64, 3)(float64[::1], int64, float64, int64, float64, float64[::1], float64[:, ::1])")
def sum_over_rotations(
    x: Array, turns: int, below: float, places: int, largest_log: float, work: Array, sums: Array
) -> Any:
    """Σ log R_r over the rotations and ranks r of a cyclic order; R_r = below + Σ x of the documents from rank r on.

    `x` are the numbers of m documents, twice over. `sums`[0, 1, 2][: m] become, per document, Σ 1/R_q and Σ 1/R_q² over
    the ranks q up to its own, and how often it is among the first `places`. Later ranks do not count.
    Returns Σ log R, and Σ 1/R and Σ 1/R² over all ranks. `work` has room for 8m numbers; |log R| ≤ `largest_log`.
    """
    m, value, inverse, inverse_2 = len(x) // 2, 0.0, 0.0, 0.0
    for row in range(3 if places < m else 2):
        for d in range(2 * m):
            sums[row, d] = 0.0
    stages, squares, steps = view(work, 0, 4 * m), view(work, 4 * m, 8 * m), max(int(160.0 / largest_log), 1)
    for turn in range(0, turns, 4):
        lanes = min(4, turns - turn)
        value += _four_turns(x, turn, turns, lanes, below, places, steps, stages)
        _invert(stages)
        _accumulate(stages, squares)
        for lane in range(lanes):
            at, a, b = begin(turn + lane, m, turns), lane * m, (lane + 1) * m
            _add(view(stages, a, b), sums[0, at : at + m])
            _add(view(squares, a, b), sums[1, at : at + m])
            inverse, inverse_2 = inverse + stages[b - 1], inverse_2 + squares[b - 1]
            for q in range(at, at + places if places < m else at):
                sums[2, q] += 1.0
    for d in range(m):
        sums[0, d] += sums[0, m + d]
        sums[1, d] += sums[1, m + d]
        sums[2, d] = sums[2, d] + sums[2, m + d] if places < m else turns
    return value, inverse, inverse_2


@compiled
def _four_turns(
    x: Array, turn: int, turns: int, lanes: int, below: float, places: int, steps: int, rest: Array
) -> float:  # fmt: skip
    """R of four rotations at a time, because one sum would wait for each addition; Σ log R of the first `lanes`."""
    m, value, left = len(x) // 2, 0.0, steps  # factors until the next logarithm
    at_b, at_c, at_d = begin(turn + 1, m, turns), begin(turn + 2, m, turns), begin(turn + 3, m, turns)
    xa, xb = view(x, begin(turn, m, turns), 2 * m), view(x, at_b if lanes > 1 else 0, 2 * m)
    xc, xd = view(x, at_c if lanes > 2 else 0, 2 * m), view(x, at_d if lanes > 3 else 0, 2 * m)
    ra, rb, rc, rd = view(rest, 0, m), view(rest, m, 2 * m), view(rest, 2 * m, 3 * m), view(rest, 3 * m, 4 * m)
    a, b, c, d = below, below, below, below
    p_a, p_b, p_c, p_d = 1.0, 1.0, 1.0, 1.0
    for place in range(m - 1, -1, -1):
        q = np.uint64(place)  # numba skips the negative-index check if unsigned
        a, b, c, d = a + xa[q], b + xb[q], c + xc[q], d + xd[q]
        if place >= places:
            ra[q], rb[q], rc[q], rd[q] = np.inf, np.inf, np.inf, np.inf
            continue
        ra[q], rb[q], rc[q], rd[q] = a, b, c, d
        p_a, p_b, p_c, p_d = p_a * a, p_b * b, p_c * c, p_d * d
        left -= 1
        if left == 0 or place == 0:
            p_b, p_c, p_d = p_b if lanes > 1 else 1.0, p_c if lanes > 2 else 1.0, p_d if lanes > 3 else 1.0
            value += math.log(p_a * p_b * (p_c * p_d))
            p_a, p_b, p_c, p_d, left = 1.0, 1.0, 1.0, 1.0, steps
    return value


@compiled
def _invert(values: Array) -> None:
    for q in range(len(values)):
        values[q] = 1.0 / values[q]


@compiled
def _accumulate(stages: Array, squares: Array) -> None:
    """Running sums of each of four rows, and of its squares."""
    m = len(stages) // 4
    ra, rb, sa, sb = view(stages, 0, m), view(stages, m, 2 * m), view(squares, 0, m), view(squares, m, 2 * m)
    rc, rd = view(stages, 2 * m, 3 * m), view(stages, 3 * m, 4 * m)
    sc, sd = view(squares, 2 * m, 3 * m), view(squares, 3 * m, 4 * m)
    a, b, c, d, a2, b2, c2, d2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for q in range(m):
        ia, ib, ic, id_ = ra[q], rb[q], rc[q], rd[q]
        a, b, c, d = a + ia, b + ib, c + ic, d + id_
        a2, b2, c2, d2 = a2 + ia * ia, b2 + ib * ib, c2 + ic * ic, d2 + id_ * id_
        ra[q], rb[q], rc[q], rd[q] = a, b, c, d
        sa[q], sb[q], sc[q], sd[q] = a2, b2, c2, d2


@compiled
def _add(values: Array, out: Array) -> None:
    for q in range(len(values)):
        out[q] += values[q]
