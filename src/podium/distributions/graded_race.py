"""Probability under Plackett–Luce that documents come in the order of their grades, in any order within a grade.

Arrival times are exponential, so that with Φ = Σ φ over the documents of lower grades the first of them arrives at
Exp(Φ), and a grade X comes before them with

    P(X before all lower grades) = ∫ Φ e^{−Φt} Π_{i∈X} (1 − e^{−φ_i t}) dt;

races have no memory, so the grades' probabilities multiply. The integral over u = log Φt has one peak, between 0 and
log(|X| + 1), and the trapezoid rule around it is accurate to 1e−13. The aggregator `plackett-luce` takes moments of the
same integrand.

All groups of all queries are computed at once, by numpy: every training ends with a few of these calls, and compiling
a kernel would take longer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from podium.base.arrays import Array, Ints
from podium.kernels.race_integral import FADED

_NODES = 16  # of the trapezoid rule that are computed together
_FACTORS = 8  # that share a logarithm; each is at least e^−80
_LOW, _HIGH = -40.0, 44.0  # of log φ/Φ: below, 1 − e^{−x} = x, and above it is 1


class Grades(NamedTuple):
    """Documents of all queries in groups of equal grade, query by query, the best first."""

    rows: Ints  # (N,)
    sizes: Ints  # of groups
    query: Ints  # of each group
    lower: Ints  # number of worse groups in its query


def group_by_grade(labels: Array, offsets: Ints) -> Grades:
    """Group documents of equal label within each query."""
    query = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    rows = np.lexsort((-labels, query))
    starts = np.flatnonzero((np.diff(query, prepend=-1) != 0) | (np.diff(labels[rows], prepend=np.nan) != 0))
    of = query[starts]
    lower = np.searchsorted(of, of, side="right") - 1 - np.arange(len(starts))
    return Grades(rows, np.diff(starts, append=len(rows)), of, lower)


def log_prob_of_grades(scores: Array, grades: Grades, queries: int) -> Array:
    """log P(every document comes before all of lower grade) of each query (Q,); 0 if all grades are equal."""
    s, sizes, above = scores[grades.rows], grades.sizes, grades.lower > 0
    if not above.any():
        return np.zeros(queries)
    worths = np.full((queries, grades.lower.max() + 2), -np.inf)  # log Σ φ of groups, from the worst of each query
    worths[grades.query, grades.lower + 1] = np.logaddexp.reduceat(s, np.cumsum(sizes) - sizes)
    others = np.logaddexp.accumulate(worths, axis=1)[grades.query, grades.lower]
    apart = s - np.repeat(others, sizes)
    logs = np.zeros(queries)
    np.add.at(logs, grades.query[above], _log_before(apart[np.repeat(above, sizes)], sizes[above]))
    return logs


def _log_before(apart: Array, sizes: Ints) -> Array:
    """log ∫ e^{u − e^u} Π (1 − e^{−x_i}) du of each group, x_i = e^{u + a_i}, a = s − log Φ."""
    beyond = _sums(np.minimum(apart - _LOW, 0.0), sizes)
    x = np.exp(np.clip(apart, _LOW, _HIGH))
    peak, step = _trapezoid(x, sizes)
    x *= np.repeat(np.exp(peak), sizes)
    top, total = _log_integrand(peak, x, sizes), np.ones(len(sizes))
    for side in (-1, 1):
        left, k = np.arange(len(sizes)), side * np.arange(1, _NODES + 1)[:, None]
        x_left, size = x, sizes
        while len(left):  # the groups whose integrand has not faded yet
            u = k * step[left]
            terms = _log_integrand(peak[left] + u, x_left * np.repeat(np.exp(u), size, axis=1), size) - top[left]
            total[left] += np.exp(terms).sum(axis=0)
            on = terms[-1] > -FADED
            x_left, left, size, k = x_left[np.repeat(on, size)], left[on], size[on], k + side * _NODES
    return beyond + top + np.log(step * total)


def _trapezoid(x: Array, sizes: Ints) -> tuple[Array, Array]:
    """Start of the trapezoid rule, near the peak, and its step, by Newton's method between bounds; x at u = 0.

    The slope of the integrand's logarithm is 1 − e^u + Σ q, q = x/(e^x − 1), and falls by e^u + Σ q(q + x − 1).
    """
    low, high = np.zeros(len(sizes)), np.log(sizes + 1.0)
    u, moved = 0.5 * (low + high), np.inf
    while moved > 0.05:
        here = np.minimum(x * np.repeat(np.exp(u), sizes), 148.0)
        q = here / np.expm1(here)
        slope, bend = 1.0 - np.exp(u) + _sums(q, sizes), np.exp(u) + _sums(q * (q + here - 1.0), sizes)
        low, high = np.where(slope > 0.0, u, low), np.where(slope > 0.0, high, u)
        step = u + slope / bend
        step = np.where((low <= step) & (step <= high), step, 0.5 * (low + high))
        u, moved = step, np.abs(step - u).max()
    return u, np.minimum(0.25, 0.6 / np.sqrt(bend))


def _log_integrand(u: Array, x: Array, sizes: Ints) -> Array:
    """u − e^u + Σ log(1 − e^{−x}), with one logarithm for many factors."""
    parts = -(-sizes // _FACTORS)
    before = np.cumsum(sizes) - sizes - _FACTORS * (np.cumsum(parts) - parts)
    starts = np.repeat(before, parts) + _FACTORS * np.arange(parts.sum())
    factors = np.expm1(-x)
    return u - np.exp(u) + _sums(np.log(np.abs(np.multiply.reduceat(factors, starts, axis=-1))), parts)


def _sums(values: Array, sizes: Ints) -> Array:
    """Sum of each group."""
    return np.add.reduceat(values, np.cumsum(sizes) - sizes, axis=-1)
