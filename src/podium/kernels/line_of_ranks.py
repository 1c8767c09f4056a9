"""An additive metric along a line of scores s + t·x: exact, from crossing to crossing of documents.

A metric Σ_i g_i·D(rank_i) changes only where two documents cross: there the upper one falls by a rank and the lower one
rises. Only documents with a gain matter, so each of them is followed through its crossings with all others of its
query. Two that have equal scores for all t count half a rank each.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from podium.base.arrays import Array, Ints


def best_step(scores: Array, x: Array, parts: Sequence[tuple[Ints, Array, Array]], offsets: Ints) -> float | None:
    """The middle of the interval of t with the largest metric; None if nothing crosses.

    `parts` has, for each query, the documents with a gain, their gains, and the discount of each rank from 1.
    """
    times: list[Array] = []
    changes: list[Array] = []
    for (relevant, gains, discounts), (a, b) in zip(parts, itertools.pairwise(offsets), strict=True):
        if len(relevant):
            at, change = _events(scores[a:b], x[a:b], relevant, gains, discounts)
            times.append(at)
            changes.append(change)
    at = np.concatenate(times) if times else np.empty(0)
    if not len(at):
        return None
    order = np.argsort(at, kind="stable")
    at, value = at[order], np.cumsum(np.concatenate(changes)[order])
    ends = np.flatnonzero(np.append(np.diff(at) > 0, True))  # the value after the last of equal times
    before, after = np.append(-np.inf, at[ends]), np.append(at[ends], np.inf)
    heights = np.append(0.0, value[ends])  # relative to t = −∞
    best = int(np.argmax(heights))
    return _middle(float(before[best]), float(after[best]))


def _events(s: Array, x: Array, relevant: Ints, gains: Array, discounts: Array) -> tuple[Array, Array]:
    """Times at which documents with a gain change their rank, and what the metric gains then."""
    ds, dx = s - s[relevant][:, None], x - x[relevant][:, None]  # (R, n): others minus the document
    crosses = dx != 0
    time = np.where(crosses, -ds / np.where(crosses, dx, 1.0), np.inf)
    # at t = −∞ the other is above if its x is smaller
    above = np.where(crosses, dx < 0, ds > 0).astype(np.float64)
    above += np.where(~crosses & (ds == 0), 0.5, 0.0)
    above[np.arange(len(relevant)), relevant] = 0.0
    order = np.argsort(time, axis=1, kind="stable")
    moves = np.take_along_axis(np.where(crosses, np.sign(dx), 0.0), order, axis=1)  # +1: the other passes upwards
    ranks = np.cumsum(np.column_stack([above.sum(axis=1), moves]), axis=1)
    worth = _discount(ranks, discounts)
    change = gains[:, None] * np.diff(worth, axis=1)
    kept = np.take_along_axis(crosses, order, axis=1)
    return np.take_along_axis(time, order, axis=1)[kept], change[kept]


def _discount(ranks: Array, discounts: Array) -> Any:
    """Discounts of ranks from 0; of half ranks, the mean of both sides."""
    low, high = np.floor(ranks).astype(np.int64), np.ceil(ranks).astype(np.int64)
    return (discounts[low] + discounts[np.minimum(high, len(discounts) - 1)]) / 2


def _middle(low: float, high: float) -> float:
    """A point between two times, of which one may be infinite."""
    if np.isinf(low):
        return high - max(1.0, abs(high)) if np.isfinite(high) else 0.0
    return low + max(1.0, abs(low)) if np.isinf(high) else (low + high) / 2
