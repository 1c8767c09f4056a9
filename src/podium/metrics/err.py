"""ERR@k: expected reciprocal rank of the document at which a user who reads from the top stops (cascade model).

Formula: ERR = Σ_{r ≤ k} (1/r) R_r Π_{q < r} (1 − R_q), R = (2^y − 1)/2^{y_max}. y_max is `max_grade`: the scale's
largest grade. Without it, the largest label in the judgments is taken, so set it to compare data sets.
Ties: let q_j be the mean product of j distinct (1 − R) of a tie group's documents with R > 0; a user who meets the
(j+1)-th of them stops there with probability (q_j − q_{j+1})/q_j, and how many come before a place is hypergeometric.
Cost: O(n), in tie groups O(documents with R > 0 × places that matter). Use it for: graded labels when one good document
is enough. Empty: no judged label above 0. Perfect is less than 1 unless R = 1. Reference: Chapelle et al. (2009).

    >>> from podium.metrics import Metric
    >>> Metric.parse("err(max_grade=1)")([3, 2, 1], [0, 1, 1], [0, 3])  # 1/2·1/2 + 1/3·1/2·1/2
    array([0.33333333])
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.errors import DataError
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.metrics.base import Metric
from podium.metrics.conventions import LARGEST_EXPONENT
from podium.metrics.declaration import Conventions, Kernel, Names, stating
from podium.metrics.kernels import OWN, cut, gain, has_gain


@compiled
def measure(labels: Array, ends: Ints, ideal: Array, config: Array) -> float:
    """Σ_r P(stop at r)/r."""
    if not has_gain(ideal, config):
        return np.nan
    last, total, alive, start = cut(len(labels), config), 0.0, 1.0, 0
    while start < last and alive > _NOTHING:
        end = ends[start]
        if end - start == 1:
            stop = gain(labels[start], config) * config[OWN]
            total += alive * stop / (start + 1.0)
            alive *= 1.0 - stop
        else:
            passing = _passing(labels[start:end], config)
            if len(passing) > 0:
                total += alive * _tied(passing, start, end, last)
            for x in passing:
                alive *= x
        start = end
    return total


@compiled
def prepare(labels: Array, ideal: Array, config: Array, work: Array) -> None:
    """R; Π_{q < r} (1 − R_q); Σ_{q ≤ r} P(stop at q)/q, over ranks ≤ k; whether ERR is defined."""
    n, last, alive, total = len(labels), cut(len(labels), config), 1.0, 0.0
    for place in range(n):
        stop = gain(labels[place], config) * config[OWN]
        total += alive * stop / (place + 1.0) if place < last else 0.0
        work[place], work[n + place], work[2 * n + place] = stop, alive, total
        alive *= 1.0 - stop
    work[3 * n] = 1.0 if has_gain(ideal, config) else 0.0


@compiled
def swap(labels: Array, config: Array, work: Array, i: int, j: int) -> float:
    """|ΔERR|: other stops at i and j, and between them all chances change by (1 − R_j)/(1 − R_i)."""
    n, last = len(labels), cut(len(labels), config)
    if i >= last or work[i] == work[j]:
        return 0.0
    factor = (1.0 - work[j]) / (1.0 - work[i])
    upper = work[n + i] * (work[j] - work[i]) / (i + 1.0)
    between = (work[2 * n + j - 1] - work[2 * n + i]) * (factor - 1.0)
    lower = work[n + j] * (factor * work[i] - work[j]) / (j + 1.0) if j < last else 0.0
    return abs(upper + between + lower) * work[3 * n]  # type: ignore[no-any-return]


@register
class ERR(Metric):
    """ERR@k: expected reciprocal rank."""

    max_grade: int | None = param(default=None, least=1, most=LARGEST_EXPONENT)
    """The largest grade of the scale; None: the largest label in the judgments."""
    names = Names(stating("expected_reciprocal_rank"))
    conventions = Conventions(
        uses=("short", "ideal", "floor"),
        presets={"gdeval": {"max_grade": 4}, "ranklib": {"max_grade": 4, "cutoff": 10}},
        words={
            "max_grade": (
                "the largest grade is",
                lambda grade: "the largest label found" if grade is None else str(grade),
            )
        },
    )
    kernel = Kernel(measure, swaps=(prepare, swap))
    normalised = False

    def own_numbers(self, largest_label: float) -> tuple[float, ...]:
        """2^−y_max; raises a clear error if a label is larger than that."""
        if self.max_grade is not None and largest_label > self.max_grade:
            raise DataError(f"{self}: a label is {largest_label:g}, above max_grade={self.max_grade}. Raise max_grade.")
        return (2.0 ** -(largest_label if self.max_grade is None else self.max_grade),)


_NOTHING = 1e-18  # a chance too small to change a sum of order 1


@compiled
def _passing(labels: Array, config: Array) -> Array:
    """1 − R of the documents with R > 0."""
    passing, n = np.empty(len(labels)), 0
    for label in labels:
        stop = gain(label, config) * config[OWN]
        if stop > 0.0:
            passing[n] = 1.0 - stop
            n += 1
    return passing[:n]


@compiled
def _mean_products(passing: Array) -> Array:
    """q_0…q_J: the mean product of j distinct numbers; J where it vanishes, or all of them.

    Adding the m-th number x: q_j ← (1 − j/m) q_j + (j/m) x q_{j−1}, a mean of positive numbers.
    """
    size = len(passing)
    limit = size
    largest = passing.max()
    if largest < 1.0:
        limit = min(size, int(np.log(_NOTHING) / np.log(largest)) + 1)
    q = np.zeros(limit + 1)
    q[0] = 1.0
    for m in range(1, size + 1):
        x = passing[m - 1]
        for j in range(min(m, limit), 0, -1):
            q[j] = (1.0 - j / m) * q[j] + (j / m) * x * q[j - 1]
    return q


@compiled
def _tied(passing: Array, start: int, end: int, last: int) -> float:
    """Σ P(stop at r)/r over the places of a tie group, for a user who reaches it."""
    q, size = _mean_products(passing), len(passing)
    met = np.zeros(len(q))  # met[j]: the chance that j documents with R > 0 come before the place
    met[0] = 1.0
    total, most = 0.0, 0
    for place in range(start, min(end, last)):
        left = end - place
        stop, alive = 0.0, 0.0
        for j in range(min(most, len(q) - 2), -1, -1):
            next_is = met[j] * (size - j) / left
            stop += next_is * (q[j] - q[j + 1])
            alive += met[j] * q[j]
            met[j + 1] += next_is
            met[j] -= next_is
        total += stop / (place + 1.0)
        most = min(most + 1, size)
        if alive < _NOTHING:
            break
    return total
