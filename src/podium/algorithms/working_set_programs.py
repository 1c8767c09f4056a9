"""Programs over a working set of pairs of rankings: min ½‖w‖² + Σ_q c_q · (sum or max over p ∈ q) g_p·ℓ(⟨a_p, w⟩).

ℓ bounds the 0–1 function [[δ ≤ 0]]: hinge [1 − δ]_+, exponential e^{−δ}, logistic log2(1 + e^{−δ}).

>>> import numpy as np
>>> pairs = Pairs(np.array([[2.0]]), np.array([1.0]), np.array([0]), np.array([5.0]))
>>> float(minimise(pairs, "hinge", "sum", who="doc").round(4)[0])  # the margin is 1 at w = ½
0.5
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from podium.base.arrays import Array, Ints
from podium.solvers.quadratic_program import minimise_hinge, solve

Surrogate = Literal["hinge", "exponential", "logistic"]
Over = Literal["sum", "max"]
_LARGE = 500.0
"""Largest exponent; beyond it e^x goes on as its tangent."""
_ROUNDS, _GAP = 200, 1e-6


class Pairs(NamedTuple):
    """Pairs of rankings: a perfect minus an imperfect one, the gap of their metric, their query; costs of queries."""

    rows: Array  # (P, d)
    gaps: Array  # (P,)
    query: Ints  # (P,)
    cost: Array  # (Q,)


def losses(pairs: Pairs, w: Array, surrogate: Surrogate) -> tuple[Array, Array]:
    """g·ℓ(δ) of each pair, and its derivative in δ."""
    delta = pairs.rows @ w
    if surrogate == "hinge":
        return pairs.gaps * np.maximum(1.0 - delta, 0.0), np.where(delta < 1.0, -pairs.gaps, 0.0)
    if surrogate == "logistic":
        value, slope = np.logaddexp(0.0, -delta) / np.log(2.0), -1.0 / (1.0 + np.exp(np.minimum(delta, _LARGE)))
        return pairs.gaps * value, pairs.gaps * slope / np.log(2.0)
    power = np.exp(np.minimum(-delta, _LARGE))
    return pairs.gaps * power * (1.0 + np.maximum(-delta - _LARGE, 0.0)), -pairs.gaps * power


def objective(pairs: Pairs, w: Array, surrogate: Surrogate, over: Over) -> float:
    """½‖w‖² + the cost of all queries."""
    values, each = losses(pairs, w, surrogate)[0], np.zeros(len(pairs.cost))
    if over == "sum":
        np.add.at(each, pairs.query, values)
    else:
        np.maximum.at(each, pairs.query, values)
    return 0.5 * float(w @ w) + float(pairs.cost @ each)


def minimise(pairs: Pairs, surrogate: Surrogate, over: Over, *, who: str) -> Array:
    """w at the minimum: a quadratic program for the hinge, L-BFGS for smooth sums, tangent planes for smooth maxima."""
    import scipy.sparse as sp

    d = pairs.rows.shape[1]
    if over == "sum" and surrogate == "hinge":
        weights = pairs.cost[pairs.query] * pairs.gaps
        return minimise_hinge(sp.csr_array(pairs.rows), weights, np.ones(d), who=who)
    if over == "sum":
        return _smooth(pairs, surrogate)
    if surrogate == "hinge":
        return _below_planes(-pairs.gaps[:, None] * pairs.rows, pairs.gaps, pairs.query, pairs.cost, who=who)[0]
    return _by_tangents(pairs, surrogate, who=who)


def _smooth(pairs: Pairs, surrogate: Surrogate) -> Array:
    from scipy.optimize import minimize

    weights = pairs.cost[pairs.query]

    def both(w: Array) -> tuple[float, Array]:
        value, slope = losses(pairs, w, surrogate)
        return 0.5 * float(w @ w) + float(weights @ value), w + pairs.rows.T @ (weights * slope)

    options: Any = {"maxiter": 1000, "ftol": 1e-12, "gtol": 1e-8}
    start: Any = np.zeros(pairs.rows.shape[1])
    objective_and_slope: Any = both
    return np.asarray(minimize(objective_and_slope, start, jac=True, method="L-BFGS-B", options=options).x)


def _by_tangents(pairs: Pairs, surrogate: Surrogate, *, who: str) -> Array:
    """Minimum of smooth maxima: their tangents bound them from below; those at the minimum of the bound are added."""
    slopes, levels, query = np.empty((0, pairs.rows.shape[1])), np.empty(0), np.empty(0, np.int64)
    w = best = np.zeros(pairs.rows.shape[1])
    least = objective(pairs, best, surrogate, "max")
    for _ in range(_ROUNDS):
        value, slope = losses(pairs, w, surrogate)
        tops = _tops(value, pairs.query, len(pairs.cost))
        tangents = slope[tops, None] * pairs.rows[tops]
        slopes, query = np.vstack([slopes, tangents]), np.append(query, pairs.query[tops])
        levels = np.append(levels, value[tops] - tangents @ w)
        w, bound = _below_planes(slopes, levels, query, pairs.cost, who=who)
        now = objective(pairs, w, surrogate, "max")
        if now < least:
            best, least = w, now
        if least - bound <= _GAP * max(least, 1.0):
            break
    return best


def _tops(values: Array, query: Ints, n_queries: int) -> Ints:
    """The pair with the largest value of each query that has pairs."""
    order = np.lexsort((-values, query))
    first = np.searchsorted(query[order], np.arange(n_queries))
    present = np.isin(np.arange(n_queries), query)
    return np.asarray(order[first[present]])


def _below_planes(slopes: Array, levels: Array, query: Ints, cost: Array, *, who: str) -> tuple[Array, float]:
    """w and the minimum of ½‖w‖² + Σ_q c_q ξ_q with ξ_q ≥ level_p + ⟨slope_p, w⟩ for p ∈ q and ξ ≥ 0."""
    import scipy.sparse as sp

    (k, d), n = slopes.shape, len(cost)
    belongs: Any = sp.csr_array((np.ones(k), (np.arange(k), query)), shape=(k, n))
    identity: Any = sp.eye_array(n)
    A: Any = sp.block_array([[sp.csr_array(slopes), -belongs], [None, -identity]])
    x = solve(
        sp.diags_array(np.append(np.ones(d), np.zeros(n))),
        np.append(np.zeros(d), cost),
        A,
        np.append(-levels, np.zeros(n)),
        nonnegative=k + n,
        who=who,
    )
    w = x[:d]
    slack = np.zeros(n)
    np.maximum.at(slack, query, levels + slopes @ w)
    return w, 0.5 * float(w @ w) + float(cost @ slack)
