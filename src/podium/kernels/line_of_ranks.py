"""An additive metric along a line of scores s + t·x: exact, from crossing to crossing of documents.

A metric Σ_i g_i·D(rank_i) changes only where two documents cross: there the upper one falls by a rank and the lower one
rises. Pairs without a gain do not matter. Two that have equal scores for all t count half a rank each.
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.jit.compiled import compiled


def best_step(scores: Array, x: Array, gains: Array, discounts: Array, offsets: Ints) -> float | None:
    """The middle of the interval of t with the largest metric; None if nothing crosses.

    `gains` are those of the documents; `discounts` those of the ranks of each query, from rank 1, at its rows.
    """
    n = np.diff(offsets)
    most, ranks = int(n @ (n - 1)) // 2, np.zeros(len(scores))
    at, riser, faller = np.empty(most), np.empty(most, np.int64), np.empty(most, np.int64)
    events = _crossings(scores, np.ascontiguousarray(x), gains, offsets, at, riser, faller, ranks)
    if events == 0:
        return None
    order = np.argsort(at[:events], kind="stable")
    at, value = at[order], np.empty(events)
    _follow(order, riser, faller, ranks, gains, discounts, np.repeat(offsets[:-1], n), value)
    ends = np.flatnonzero(np.append(np.diff(at) > 0, True))  # the value after the last of equal times
    before, after = np.append(-np.inf, at[ends]), np.append(at[ends], np.inf)
    heights = np.append(0.0, value[ends])  # relative to t = −∞
    best = int(np.argmax(heights))
    return _middle(float(before[best]), float(after[best]))


@compiled
def _crossings(
    scores: Array, x: Array, gains: Array, offsets: Ints, at: Array, riser: Ints, faller: Ints, ranks: Array
) -> int:
    """When two documents cross, which one rises and which one falls; returns the number of crossings.

    Fills the ranks at t = −∞, from 0: documents of smaller x are above, and of equal x those of larger score.
    """
    events = 0
    for q in range(len(offsets) - 1):
        for i in range(offsets[q], offsets[q + 1]):
            for j in range(offsets[q], i):
                if gains[i] == 0.0 and gains[j] == 0.0:
                    continue
                ds, dx = scores[j] - scores[i], x[j] - x[i]
                above = 0.5 if dx == 0.0 and ds == 0.0 else 1.0 if dx < 0.0 or (dx == 0.0 and ds > 0.0) else 0.0
                ranks[i] += above
                ranks[j] += 1.0 - above
                if dx != 0.0:
                    at[events] = -ds / dx
                    riser[events], faller[events] = (j, i) if dx > 0.0 else (i, j)
                    events += 1
    return events


@compiled
def _follow(
    order: Ints, riser: Ints, faller: Ints, ranks: Array, gains: Array, discounts: Array, starts: Ints, value: Array
) -> None:
    """What the metric gained since t = −∞ after each crossing, in order of time."""
    total = 0.0
    for e in range(len(order)):
        up, down = riser[order[e]], faller[order[e]]
        before = gains[up] * _discount(ranks[up], starts[up], discounts)
        before += gains[down] * _discount(ranks[down], starts[down], discounts)
        ranks[up] -= 1.0
        ranks[down] += 1.0
        after = gains[up] * _discount(ranks[up], starts[up], discounts)
        after += gains[down] * _discount(ranks[down], starts[down], discounts)
        total += after - before
        value[e] = total


@compiled
def _discount(rank: float, start: int, discounts: Array) -> float:
    """Discount of a rank from 0; of half a rank, the mean of both sides."""
    low = int(rank)
    return 0.5 * (discounts[start + low] + discounts[start + low + (rank > low)])  # type: ignore[no-any-return]


def _middle(low: float, high: float) -> float:
    """A point between two times, of which one may be infinite."""
    if np.isinf(low):
        return high - max(1.0, abs(high)) if np.isfinite(high) else 0.0
    return low + max(1.0, abs(low)) if np.isinf(high) else (low + high) / 2
