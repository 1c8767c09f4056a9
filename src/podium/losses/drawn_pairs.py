"""Pairs drawn at random for LambdaRank: for each document, partners of other grades."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from podium.base.arrays import Array, Ints
from podium.jit.compiled import compiled, inlined
from podium.kernels.blocks import by_grade_and_score, clear, take
from podium.kernels.draws import advance, below, share, start
from podium.losses.yeti_rank import add_pair


@compiled
def partners(ends: Ints, pairs: int, state: np.uint64) -> Any:
    """For each document by grade, `pairs` places of documents of other grades, drawn uniformly with replacement."""
    n, first = len(ends), 0
    rows = np.empty((n, pairs), np.int64)
    for p in range(n):
        first = p if p > 0 and ends[p] != ends[p - 1] else first
        for c in range(pairs):
            state = advance(state)
            q = below(state, n - (ends[p] - first))
            rows[p, c] = q if q < first else q + ends[p] - first
    return rows


@inlined
def over_drawn_pairs(
    prepare: Callable[..., None], swap: Callable[..., float], order_of_ties: Callable[..., Any], scores: Array,
    labels: Array, gradient: Array, curvature: Array, config: Array, work: Array, pairs: int, seed: float,
    sigma: float, nearest: float, share_by_grade: float, cutoff: float,
) -> Any:  # fmt: skip
    """Σ_i mean over the drawn j of |ΔM_ij| log(1 + e^(−σ|s_i − s_j|)), signed by grades; 0 for equal grades.

    With `nearest` > 0, |ΔM| is divided by nearest + |s_i − s_j|, unless all scores are equal. A share of all |ΔM| goes
    by the differences of grades, of pairs of which one is within the cut-off.
    """
    clear(gradient, curvature)
    order, ends = by_grade_and_score(scores, labels)
    n, value = len(scores), 0.0
    if n < 2 or ends[0] == n:
        return 0.0
    ranked, places, stretched = order_of_ties(scores, labels)[0], np.empty(n, np.int64), sigma * scores
    for p in range(n):
        places[ranked[p]] = p
    y = take(labels, ranked)
    prepare(y, take(labels, order), config, work)
    rows, apart = partners(ends, pairs, start(seed, ends)), scores[ranked[0]] > scores[ranked[n - 1]]
    weights, changes, differences = np.empty((n, pairs)), 0.0, 0.0
    for p in range(n):
        for c in range(pairs):
            a, b = places[order[p]], places[order[rows[p, c]]]
            weights[p, c] = swap(y, config, work, min(a, b), max(a, b)) / pairs
            changes += weights[p, c]
            differences += abs(y[a] - y[b]) if min(a, b) < cutoff else 0.0
    per_grade = share_by_grade * changes / differences if 0.0 < differences < np.inf else 0.0
    for p in range(n):
        for c in range(pairs):
            q = rows[p, c]
            i, j = (order[p], order[q]) if p < q else (order[q], order[p])
            w = (1.0 - share_by_grade) * weights[p, c]
            if per_grade > 0.0 and min(places[i], places[j]) < cutoff:
                w += per_grade * (labels[i] - labels[j])
            if nearest > 0.0 and apart:
                w /= nearest + abs(scores[i] - scores[j])
            value += w * add_pair(i, j, w, stretched, gradient, curvature)
    for i in range(n):
        gradient[i] *= sigma
        curvature[i] *= sigma * sigma
    share(scores, order, ends, gradient)
    share(scores, order, ends, curvature)
    return value


def counts(scores: Array, labels: Array, pairs: int, seed: int) -> Array:
    """How often each pair (better, worse) was drawn, from either side, over `pairs`."""  # (n, n)
    order, ends = by_grade_and_score(scores, labels)
    times = np.zeros((len(scores), len(scores)))
    if len(scores) > 1 and ends[0] != len(scores):
        rows = partners(ends, pairs, np.uint64(start(float(seed), ends)))
        for p, row in enumerate(rows):
            for q in row:
                times[order[min(p, q)], order[max(p, q)]] += 1.0 / pairs
    return times
