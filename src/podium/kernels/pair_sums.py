"""Sums over all pairs of a smooth function of two numbers, in linear time.

    F = Σ_{e,e'} ω_e ω_e' f(−w₁r_e, −w₂r_e'),   f(u, v) = log(1 + e^u + e^v)

f has its nearest poles π away from the real plane, so on a panel of half-width h (in units of u) the polynomial
through p ≥ ln(1/ε)/asinh(π/h) Chebyshev nodes has error ε. The Chebyshev moments of the numbers give weights of the
nodes, the nodes are summed pair by pair, and a second polynomial carries the results back to the numbers. Wide ranges
are cut into panels; if u and v are far apart, f is log(1 + e^max) and only the total weight of a panel counts.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from podium.base.arrays import Array
from podium.jit.compiled import compiled, outlined
from podium.kernels.blocks import bounds, clear, take
from podium.kernels.exponentials import exponentials, logarithms
from podium.kernels.sums import add_up

_WIDTH = 10.0  # of a panel, in units of u: 45 nodes
_LARGE = 300.0  # numbers whose exponentials are scaled
_APART = 25.0  # if u and v are further apart, the smaller one is negligible: e^−25 = 1.4e−11
_DIGITS = 25.0  # ln(1/ε) of the polynomials


@compiled
def pair(u: float, v: float) -> Any:
    """f(u, v) = log(1 + e^u + e^v), ∂f/∂u and ∂f/∂v, without overflow, and accurate if both are very negative."""
    high = max(u, v, 0.0)
    a, b, c = math.exp(u - high), math.exp(v - high), math.exp(-high)
    total = a + b + c
    others = a + b if high == 0.0 else (b + c if high == u else a + c)
    return high + math.log1p(others), a / total, b / total


@outlined("float64(float64[::1], float64[::1], float64, float64, float64[::1], float64[::1])")
def sum_over_edge_pairs(r: Array, weight: Array, w1: float, w2: float, won: Array, lost: Array) -> float:
    """F; fills won[e] = Σ_e' ω_e' f_u(−w₁r_e, −w₂r_e') and lost[e'] = Σ_e ω_e f_v(−w₁r_e, −w₂r_e')."""
    low, high = bounds(r)
    panels, nodes = cut(max(w1, w2) * (high - low))
    if len(r) <= nodes * math.sqrt(8.0 * panels):  # a panel has about eight near ones
        return _one_by_one(r, weight, w1, w2, won, lost)
    width = (high - low) / panels if high > low else 1.0
    cheb = chebyshev(nodes)
    at_nodes = np.zeros((panels, nodes))
    add_moments(r, weight, low, width, at_nodes)
    to_nodes(cheb, at_nodes)
    won_there, lost_there = np.zeros((panels, nodes)), np.zeros((panels, nodes))
    value = _sum_over_nodes(cheb[1], at_nodes, low, width, w1, w2, won_there, lost_there)
    to_coefficients(cheb, won_there)
    to_coefficients(cheb, lost_there)
    evaluate(r, low, width, won_there, won)
    evaluate(r, low, width, lost_there, lost)
    return value


@compiled
def cut(wide: float) -> Any:
    """Number of panels for a range `wide` (in units of u), and of nodes per panel; the same for all beyond 1e10."""
    wide = wide if wide < 1e10 else 1e10
    panels = max(1, math.ceil(wide / _WIDTH))
    half = max(0.5 * wide / panels, 1e-9)
    return panels, math.ceil(_DIGITS / math.asinh(math.pi / half)) + 2


@outlined("float64(float64[::1], float64[::1], float64, float64, float64[::1], float64[::1])")
def _one_by_one(r: Array, weight: Array, w1: float, w2: float, won: Array, lost: Array) -> float:
    value = 0.0
    clear(won, lost)
    for e in range(len(r)):
        for other in range(len(r)):
            f, p, q = pair(-w1 * r[e], -w2 * r[other])
            value += weight[e] * weight[other] * f
            won[e] += weight[other] * p
            lost[other] += weight[e] * q
    return value


@compiled
def chebyshev(nodes: int) -> Any:
    """T_n(x_k) at [n, k], x_k = cos(π(k + ½)/p): row 1 holds the nodes themselves."""
    cheb = np.empty((nodes, nodes))
    for n in range(nodes):
        for k in range(nodes):
            cheb[n, k] = math.cos(math.pi * n * (k + 0.5) / nodes)
    return cheb


@compiled
def _place(r: float, low: float, width: float, panels: int) -> Any:
    """Panel of r, and its position in the panel, from −1 to 1."""
    at = (r - low) / width
    panel = int(min(max(at, 0.0), panels - 1.0)) if at == at else 0  # NaN must not index beyond the panels
    return panel, min(2.0 * (at - panel) - 1.0, 1.0)


@compiled
def _in_panels(r: Array, low: float, width: float, panels: int) -> Any:
    """Numbers in order of panels, the start of each panel, and the position of each number in it, from −1 to 1."""
    n = len(r)
    order, starts, panel, x = np.empty(n, np.int64), np.zeros(panels + 2, np.int64), np.empty(n, np.int64), np.empty(n)
    for e in range(n):
        panel[e] = _place(r[e], low, width, panels)[0]
        starts[panel[e] + 2] += 1
    for p in range(panels):
        starts[p + 2] += starts[p + 1]
    for e in range(n):
        at = starts[panel[e] + 1]
        order[at], x[at] = e, _place(r[e], low, width, panels)[1]
        starts[panel[e] + 1] = at + 1
    return order, starts, x


@outlined("void(float64[::1], float64[::1], float64, float64, float64[:, ::1])")
def add_moments(r: Array, weight: Array, low: float, width: float, moments: Array) -> None:
    """Add Σ ω T_n(x) of the numbers in each panel; vectorised over the numbers."""
    panels, nodes = moments.shape
    order, starts, places = _in_panels(r, low, width, panels)
    for panel in range(panels):
        a, b = starts[panel], starts[panel + 1]
        x, before = places[a:b], take(weight, order[a:b])
        now = np.empty(len(x))
        for e in range(len(x)):
            now[e] = before[e] * x[e]
        moments[panel, 0] += add_up(before)
        for n in range(1, nodes if a < b else 0):
            moments[panel, n] += add_up(now)
            for e in range(len(x)):
                before[e] = 2.0 * x[e] * now[e] - before[e]  # ωT_{n+1} from ωT_n and ωT_{n−1}
            now, before = before, now


@compiled
def to_nodes(cheb: Array, rows: Array) -> None:
    """Replace moments by weights of nodes, (2/p) Σ'_n T_n(x_k) M_n."""
    nodes, result = len(cheb), np.empty(len(cheb))
    for row in rows:
        for k in range(nodes):
            result[k] = 0.0
        for n in range(nodes):
            scale = (1.0 if n == 0 else 2.0) / nodes * row[n]
            for k in range(nodes):
                result[k] += scale * cheb[n, k]
        for k in range(nodes):
            row[k] = result[k]


@outlined("void(float64[:, ::1], float64[:, ::1])")
def to_coefficients(cheb: Array, rows: Array) -> None:
    """Replace values at nodes by the coefficients of the polynomials through them, (2/p) Σ'_k T_n(x_k) f_k."""
    nodes, result = len(cheb), np.empty(len(cheb))
    for row in rows:
        for n in range(nodes):
            result[n] = 0.0
            for k in range(nodes):
                result[n] += (1.0 if n == 0 else 2.0) / nodes * cheb[n, k] * row[k]
        for n in range(nodes):
            row[n] = result[n]


@outlined(
    "float64(float64[::1], float64[:, ::1], float64, float64, float64, float64, float64[:, ::1], float64[:, ::1])"
)
def _sum_over_nodes(
    nodes: Array, weights: Array, low: float, width: float, w1: float, w2: float, won: Array, lost: Array
) -> float:
    """Σ ω_k ω_l f over the nodes of near panels, and log(1 + e^max) times the weight of far ones."""
    panels = len(weights)
    total, behind = np.zeros(panels + 1), np.zeros(panels + 1)  # suffix sums of weights; v ≫ u, as differences
    for b in range(panels - 1, -1, -1):
        own = 0.0
        for k in range(len(nodes)):
            own += weights[b, k]
        total[b] = total[b + 1] + own
    value, step, gap = 0.0, w2 * width, (w1 - w2) * low
    for a in range(panels):
        weight_a = total[a] - total[a + 1]
        first = int(min(max(math.floor((gap + w1 * a * width - _APART) / step), 0.0), panels))
        end = int(min(max(math.ceil((gap + w1 * (a + 1) * width + _APART) / step), 0.0), panels))
        behind[0] += weight_a
        behind[first] -= weight_a
        for b in range(first, end):
            value += _two_panels(nodes, weights, a, b, low, width, w1, w2, won, lost)
        if total[end] != 0.0:
            value += _far(nodes, weights[a], low + a * width, width, w1, total[end], won[a])
    weight = 0.0
    for b in range(panels):
        weight += behind[b]
        if weight != 0.0:
            value += _far(nodes, weights[b], low + b * width, width, w2, weight, lost[b])
    return value


@compiled
def _two_panels(
    nodes: Array,
    weights: Array,
    a: int,
    b: int,
    low: float,
    width: float,
    w1: float,
    w2: float,
    won: Array,
    lost: Array,
) -> Any:
    """f = log(1 + e^u + e^v) over the nodes of two panels: e^u and e^v once per node, a logarithm per pair."""
    n, value = len(nodes), 0.0
    u, v, e, f, sums, logs = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    for k in range(n):
        u[k] = -w1 * (low + width * (a + 0.5 * (nodes[k] + 1.0)))
        v[k] = -w2 * (low + width * (b + 0.5 * (nodes[k] + 1.0)))
    top = max(bounds(u)[1], bounds(v)[1])
    less = top if top > _LARGE else 0.0  # avoids overflow
    unit, others = math.exp(-less), add_up(weights[b])
    exponentials(u, less, 1.0, e)
    exponentials(v, less, 1.0, f)
    for k in range(n):
        for l in range(n):
            sums[l] = unit + e[k] + f[l]
        logarithms(sums, logs)
        paid, inverse = _one_node(weights[a, k], f, sums, logs, weights[b], lost[b])
        value += weights[a, k] * (paid + less * others)
        won[a, k] += e[k] * inverse
    return value


@compiled
def _one_node(weight: float, e: Array, sums: Array, logs: Array, weights: Array, lost: Array) -> Any:
    """Σ ω_l log s_l and Σ ω_l/s_l over the nodes l of a panel, s = 1 + e^u + e^v; adds ω e^v/s to `lost`.

    `sums` is s; `sums` and `logs` become the terms.
    """
    for l in range(len(e)):
        r = 1.0 / sums[l]
        lost[l] += weight * e[l] * r
        sums[l] = weights[l] * r
    for l in range(len(e)):
        logs[l] *= weights[l]
    return add_up(logs), add_up(sums)


@outlined("float64(float64[::1], float64[::1], float64, float64, float64, float64, float64[::1])")
def _far(nodes: Array, weights: Array, low: float, width: float, w: float, others: float, slope: Array) -> float:
    """Terms with others of this weight, which are far below: f = log(1 + e^u)."""
    value = 0.0
    for k in range(len(nodes)):
        f, p, _ = pair(-w * (low + 0.5 * width * (nodes[k] + 1.0)), -np.inf)
        value += weights[k] * others * f
        slope[k] += others * p
    return value


@outlined("void(float64[::1], float64, float64, float64[:, ::1], float64[::1])")
def evaluate(r: Array, low: float, width: float, coefficients: Array, out: Array) -> None:
    """Evaluate the polynomial of its panel at each number (Clenshaw); vectorised over the numbers."""
    panels, nodes = coefficients.shape
    order, starts, places = _in_panels(r, low, width, panels)
    for panel in range(panels):
        a, b = starts[panel], starts[panel + 1]
        x, now, before = places[a:b], np.zeros(b - a), np.zeros(b - a)
        for n in range(nodes - 1, 0 if a < b else nodes - 1, -1):
            _clenshaw(coefficients[panel, n], x, now, before)
            now, before = before, now
        for e in range(b - a):
            out[order[a + e]] = coefficients[panel, 0] + x[e] * now[e] - before[e]


@compiled
def _clenshaw(c: float, x: Array, now: Array, before: Array) -> None:
    for e in range(len(x)):
        before[e] = c + 2.0 * x[e] * now[e] - before[e]
