"""The probability under Plackett–Luce that documents come in the order of their grades, whatever the order within one.

Arrival times are exponential, so that with Φ = Σ φ over the documents of lower grades the first of them arrives at
Exp(Φ), and a grade X comes before them with

    P(X before all lower grades) = ∫ Φ e^{−Φt} Π_{i∈X} (1 − e^{−φ_i t}) dt;

races have no memory, so the grades' probabilities multiply. The integral over u = log Φt has one peak, between 0 and
log(|X| + 1), and the trapezoid rule around it is right to 1e−13. The aggregator `plackett-luce` takes moments of the
same integrand.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from podium.compiled import compiled
from podium.kernels.blocks import by_grade, take

FADED = 40.0
"""The integral leaves out where its integrand is below e^−40 of the peak's."""


@compiled
def log_prob_of_grades(scores: Any, labels: Any) -> float:
    """log P(every document comes before all of lower grade); 0 where all grades are equal."""
    n, total = len(scores), 0.0
    order, ends = by_grade(labels)
    s = take(scores, order)
    rest = np.empty(n + 1)  # log Σ φ from each place on
    rest[n] = -np.inf
    for p in range(n - 1, -1, -1):
        high = max(rest[p + 1], s[p])
        rest[p] = high + math.log(math.exp(rest[p + 1] - high) + math.exp(s[p] - high))
    first = 0
    while first < n and ends[first] < n:
        end = ends[first]
        total += _log_before(s[first:end], rest[end])
        first = end
    return total


@compiled
def _log_before(s: Any, others: Any) -> Any:
    """log ∫ e^{u − e^u} Π (1 − e^{−x_i}) du, x_i = e^{u + s_i − log Φ}."""
    peak, step, top = trapezoid(s, others)
    total = 1.0
    for side in (-1.0, 1.0):
        k = 0
        while True:
            k += 1
            term = log_integrand(s, others, peak + side * k * step) - top
            total += math.exp(term)
            if term < -FADED:
                break
    return top + math.log(step * total)


@compiled
def trapezoid(s: Any, others: Any) -> Any:
    """Where the trapezoid rule starts, near the peak; its step; and the logarithm of the integrand there."""
    low, high = 0.0, math.log(len(s) + 1.0)
    while high - low > 0.05:
        middle = 0.5 * (low + high)
        if _slope(s, others, middle) > 0.0:
            low = middle
        else:
            high = middle
    peak = 0.5 * (low + high)
    bend = (_slope(s, others, peak - 0.05) - _slope(s, others, peak + 0.05)) / 0.1
    return peak, min(0.25, 0.6 / math.sqrt(bend)), log_integrand(s, others, peak)


@compiled
def log_integrand(s: Any, others: Any, u: Any) -> Any:
    """u − e^u + Σ log(1 − e^{−x}), with one logarithm for many factors."""
    total, product = u - math.exp(u), 1.0
    for one in s:
        a = u + one - others
        if a < -30.0:
            total += a  # 1 − e^{−x} = x
        elif a < 4.0:
            product *= -math.expm1(-math.exp(a))
            if product < 1e-200:
                total += math.log(product)
                product = 1.0
    return total + math.log(product)


@compiled
def _slope(s: Any, others: Any, u: Any) -> Any:
    """1 − e^u + Σ x/(e^x − 1)."""
    total = 1.0 - math.exp(u)
    for one in s:
        a = u + one - others
        if a < 5.0:
            x = math.exp(a)
            total += x / math.expm1(x) if x > 0.0 else 1.0
    return total
