"""Pairs of LambdaRank, each divided by how its positions bring about clicks (Unbiased LambdaMART).

The kernel sees a table of the documents of a query, in the columns below, and writes the last two.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from podium.base.arrays import Array, Ints
from podium.jit import sorting as ranking
from podium.jit.compiled import compiled, inlined, outlined
from podium.kernels.blocks import take
from podium.losses.lambdarank import (
    BY_GRADE,
    CONFIG,
    CUTOFF,
    DISTANCE,
    FIXED,
    PER_DOCUMENT,
    SIGMA,
    LambdaRank,
    count_pairs,
    damp,
    divide_by_distances,
    equal_from,
    mix_weights,
    row_for,
    weight_per_grade,
)
from podium.losses.order_of_ties import order_of_ties
from podium.losses.pair_comparison import PAID, ROWS, SCORES, STEP, WEIGHTS, compare, hand_out, lay_out
from podium.losses.pairs import scale

LABEL, KEY, PLUS, MINUS, WON, LOST = range(6)
"""Columns: the label; a number that is equal if label and position are; t⁺ and t⁻ of the position; and, over the
pairs in which the document has the higher and the lower label, Σ |ΔM_ij| log(1 + e^(σ(s_i − s_j)))/(t⁺_i t⁻_j)."""
COLUMNS = 6


@functools.cache
def kernel_for(prepare: Callable[..., None], swap: Callable[..., float]) -> Callable[..., float]:
    """Kernel for the swap functions of a metric."""
    weigh = row_for(swap)

    def over_tables(scores: Array, table: Array, gradient: Array, curvature: Array, params: Array) -> Any:
        return lambdas(prepare, weigh, scores, table, gradient, curvature, params)

    return compiled(over_tables)


@inlined
def lambdas(
    prepare: Callable[..., None], weigh: Callable[..., None],
    scores: Array, table: Array, gradient: Array, curvature: Array, params: Array,
) -> float:  # fmt: skip
    """Σ |ΔM_ij|/(t⁺_i t⁻_j) log(1 + e^(−σ(s_i − s_j))) over y_i > y_j, as in `lambdarank`."""
    n, value, keys, labels = len(scores), 0.0, column(table, KEY), column(table, LABEL)
    order, by_score = order_of_ties(scores, keys)
    y, ideal, rows = take(labels, order), np.empty(n), np.zeros((ROWS, n + STEP))
    config, work = params[0, CONFIG:], np.empty(int(params[0, FIXED] + n * params[0, PER_DOCUMENT]))
    ranking.sort_descending(labels, ideal)
    prepare(y, ideal, config, work)
    near, end = lay_out(scores, order, params[0, SIGMA], rows), min(equal_from(y), int(params[0, CUTOFF]))
    share = params[0, BY_GRADE]
    per_grade = share * weight_per_grade(weigh, y, ideal, config, work, end, rows) if share > 0.0 else 0.0
    for p in range(end):
        weigh(y, config, work, p, rows[WEIGHTS, p + 1 : n])
        if share > 0.0:
            mix_weights(p, y, share, per_grade, rows)
        if params[0, DISTANCE] != 0.0:
            divide_by_distances(p, params[0, SIGMA], rows)
        divide_by_ratios(p, order, table, rows)
        value += compare(p, near, rows)
        add_pairs(p, order, rows, table)
    hand_out(scores, keys, order, by_score, params[0, SIGMA], rows, gradient, curvature)
    if params[0, 1] != 0.0:
        value *= damp(gradient, curvature)
    return scale(value, count_pairs(ideal), gradient, curvature, params)


@outlined("float64[::1](float64[:, ::1], int64)")
def column(table: Array, k: int) -> Any:
    """A copy of a column."""
    out = np.empty(len(table))
    for i in range(len(table)):
        out[i] = table[i, k]
    return out


@outlined("void(int64, int64[::1], float64[:, ::1], float64[:, ::1])")
def divide_by_ratios(p: int, order: Ints, table: Array, rows: Array) -> None:
    """Divide the weights of the document at place p and all below it by t⁺ of the winner times t⁻ of the loser."""
    i, weights = order[p], rows[WEIGHTS]
    for q in range(p + 1, len(order)):
        j = order[q]
        weights[q] /= table[i, PLUS] * table[j, MINUS] if weights[q] > 0.0 else table[j, PLUS] * table[i, MINUS]


@outlined("void(int64, int64[::1], float64[:, ::1], float64[:, ::1])")
def add_pairs(p: int, order: Ints, rows: Array, table: Array) -> None:
    """Add the pairs of the document at place p and all below it to the sums of winners and losers.

    The loss of a pair is w·log(1 + e^(−δ)), so w·log(1 + e^δ) is wδ more.
    """
    for q in range(p + 1, len(order)):
        won, pair = rows[WEIGHTS, q] > 0.0, rows[PAID, q] + rows[WEIGHTS, q] * (rows[SCORES, p] - rows[SCORES, q])
        table[order[p] if won else order[q], WON] += pair
        table[order[q] if won else order[p], LOST] += pair


def kernel_of(loss: LambdaRank) -> Any:
    """Kernel on tables for a loss with its metric."""
    return kernel_for(*loss.metric.swap_functions())
