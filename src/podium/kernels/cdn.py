"""Cumulative distribution networks (Huang & Frey, 2008): products of CDFs of one or two numbers, as sums of logarithms.

    L = Σ_k Σ_{e,e'} −log φ_k(r_e, r_e'),   φ_k = 1/(1 + e^{−w₁r} + e^{−w₂r'}), or Φ₂(w₁r, w₂r'; ρ)

over k = 1…K functions, each with its own weights (w₁, w₂). A product of CDFs is a CDF, so K of them need no normaliser.
The topology of the network says which pairs e, e' of numbers are summed; the numbers are score differences.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from podium.base.arrays import Array, Ints
from podium.jit.compiled import compiled, outlined
from podium.kernels.bivariate_normal import minus_log_cdf_of_two
from podium.kernels.draws import advance, below, start
from podium.kernels.normal import minus_log_cdf
from podium.kernels.pair_sums import pair, sum_over_edge_pairs

FULL, DISCONNECTED, RANDOM, PLACKETT_LUCE = 0.0, 1.0, 2.0, 3.0
LISTED, ON_GRID = 0.0, 1.0  # numbers, since a function of True and of False is compiled twice
LOGISTIC, GAUSSIAN = 0.0, 1.0
TOPOLOGY, LOG_W1, PARTNERS, SEED = 1, 2, 4, 5  # indices in params[0]; log w₂ follows log w₁
FUNCTIONS, FUNCTION, RHO, MORE = 7, 8, 9, 10


@outlined(
    "UniTuple(float64, 2)"
    "(float64[::1], float64[::1], int64, int64[::1], float64, float64[:, ::1], float64[::1], float64[::1])"
)
def network(r: Array, weight: Array, m: int, ends: Ints, grid: float, params: Array, force: Array, bend: Array) -> Any:
    """L over m edges, and its number of functions; adds −∂L/∂r and a bound of ∂²L/∂r², each over the weight.

    Numbers r beyond the m-th are those of the edges reversed. On a `grid`, r represents the edges near it, with their
    total `weight`; else the weight of an edge is its probability.
    """
    topology = params[0, TOPOLOGY] if m > 1 else DISCONNECTED  # a pair needs two edges
    each = m - 1 if topology == FULL else 1
    partner = np.empty((0, 0), np.int64)
    if topology == RANDOM:
        partner = draw_partners(m, int(params[0, PARTNERS]), params[0, SEED], ends)
        each = partner.shape[1]
    value, n_functions = 0.0, int(params[0, FUNCTIONS])
    for k in range(n_functions):
        at = place_of(k)
        if topology == DISCONNECTED:
            value += _apart(r, weight, at, params, force, bend)
        else:
            value += _joined(r, weight, m, at, partner, grid, params, force, bend)
    return value, float(n_functions) * m * each


@compiled
def place_of(k: int) -> int:
    """Index of log w₁ of the k-th function in params."""
    return LOG_W1 if k == 0 else MORE + 2 * (k - 1)


@outlined("int64[:, ::1](int64, int64, float64, int64[::1])")
def draw_partners(m: int, partners: int, seed: float, ends: Ints) -> Any:
    """For each of m edges, `partners` others drawn uniformly."""
    state, drawn = start(seed, ends), np.empty((m, partners), np.int64)
    for e in range(m):
        for k in range(partners):
            state = advance(state)
            other = below(state, m - 1)
            drawn[e, k] = other + 1 if other >= e else other
    return drawn


@compiled
def margin(z: float, function: float) -> Any:
    """−log φ at (z, ∞), minus its slope, and its second derivative."""
    if function == GAUSSIAN:
        return minus_log_cdf(z)
    f, p, _ = pair(-z, -np.inf)
    return f, p, p * (1.0 - p)


@outlined("float64(float64[::1], float64[::1], int64, float64[:, ::1], float64[::1], float64[::1])")
def _apart(r: Array, weight: Array, at: int, params: Array, force: Array, bend: Array) -> float:
    """Sum of a sigmoid of each edge alone."""
    value, w = 0.0, math.exp(params[0, at])
    for h in range(len(r)):
        f, p, bent = margin(w * r[h], params[0, FUNCTION])
        value += weight[h] * f
        force[h] += w * p
        bend[h] += w * w * bent
        params[1, at] -= weight[h] * w * r[h] * p
    return value


@compiled
def _joined(
    r: Array, weight: Array, m: int, at: int, partner: Ints, grid: float, params: Array, force: Array, bend: Array
) -> float:
    """Sum of a sigmoid of two edges, over all pairs or drawn ones. Σ p(du)² + q(dv)² bounds its curvature."""
    w1, w2 = math.exp(params[0, at]), math.exp(params[0, at + 1])
    won, lost = np.zeros(len(r)), np.zeros(len(r))
    gaussian = params[0, FUNCTION] == GAUSSIAN
    if gaussian:
        value = _gaussian_pairs(r, weight, m, partner, w1, w2, params[0, RHO], won, lost, bend)
    elif partner.size > 0:
        value = _drawn_pairs(r, weight, partner, w1, w2, won, lost)
    else:
        value = sum_over_edge_pairs(r, weight, w1, w2, won, lost)
        if grid == ON_GRID:
            value -= _points_with_themselves(r, weight, w1, w2, won, lost)
        else:
            value -= _edges_with_themselves(r, weight, m, w1, w2, won, lost)
    for h in range(len(r)):
        force[h] += w1 * won[h] + w2 * lost[h]
        if not gaussian:
            bend[h] += w1 * w1 * won[h] + w2 * w2 * lost[h]
        params[1, at] -= weight[h] * w1 * r[h] * won[h]
        params[1, at + 1] -= weight[h] * w2 * r[h] * lost[h]
    return value


@outlined("float64(float64[::1], float64[::1], int64[:, ::1], float64, float64, float64[::1], float64[::1])")
def _drawn_pairs(r: Array, weight: Array, partner: Ints, w1: float, w2: float, won: Array, lost: Array) -> float:
    m, value = len(partner), 0.0
    for h in range(len(r)):
        for k in range(partner.shape[1]):
            for other in range(partner[h % m, k], len(r), m):
                f, p, q = pair(-w1 * r[h], -w2 * r[other])
                value += weight[h] * weight[other] * f
                won[h] += weight[other] * p
                lost[other] += weight[h] * q
    return value


@outlined(
    "float64(float64[::1], float64[::1], int64, int64[:, ::1],"
    "float64, float64, float64, float64[::1], float64[::1], float64[::1])"
)
def _gaussian_pairs(
    r: Array, weight: Array, m: int, partner: Ints, w1: float, w2: float, rho: float, won: Array, lost: Array,
    bend: Array,
) -> float:  # fmt: skip
    """Terms of Φ₂ one by one. No eigenvalue of the Hessian of −log Φ₂ is above 1/(1 − ρ), that of its covariance⁻¹."""
    value, most = 0.0, 1.0 / (1.0 - rho)
    each = partner.shape[1] if partner.size > 0 else m - 1
    for h in range(len(r)):
        for k in range(each):
            other = partner[h % m, k] if partner.size > 0 else (h % m + 1 + k) % m
            for g in range(other, len(r), m):
                f, p, q = minus_log_cdf_of_two(w1 * r[h], w2 * r[g], rho)
                value += weight[h] * weight[g] * f
                won[h] += weight[g] * p
                lost[g] += weight[h] * q
                bend[h] += w1 * w1 * weight[g] * most
                bend[g] += w2 * w2 * weight[h] * most
    return value


@outlined("float64(float64[::1], float64[::1], int64, float64, float64, float64[::1], float64[::1])")
def _edges_with_themselves(r: Array, weight: Array, m: int, w1: float, w2: float, won: Array, lost: Array) -> float:
    """Terms of each edge with itself or its reverse in the sum over all pairs; subtracted from `won` and `lost`."""
    value = 0.0
    for h in range(len(r)):
        for other in range(h % m, len(r), m):
            f, p, q = pair(-w1 * r[h], -w2 * r[other])
            value += weight[h] * weight[other] * f
            won[h] -= weight[other] * p
            lost[other] -= weight[h] * q
    for h in range(len(r)):  # rounding may leave small negative numbers
        won[h], lost[h] = max(won[h], 0.0), max(lost[h], 0.0)
    return value


@outlined("float64(float64[::1], float64[::1], float64, float64, float64[::1], float64[::1])")
def _points_with_themselves(r: Array, weight: Array, w1: float, w2: float, won: Array, lost: Array) -> float:
    """The same on a grid, in which each edge that a point represents meets itself once."""
    value = 0.0
    for h in range(len(r)):
        f, p, q = pair(-w1 * r[h], -w2 * r[h])
        value += weight[h] * f
        won[h] -= p
        lost[h] -= q
    return value
