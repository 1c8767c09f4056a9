"""Sums of a smooth function of s_i − s_j over all documents of different grades, without listing the pairs.

Such a function is approximately a polynomial in both scores, given by its values at Chebyshev nodes. So the documents
of a grade become weights of nodes, and all edges become weights of the differences between two nodes. The same
polynomials carry the results back to the documents. Wide ranges are cut into panels, as in `pair_sums.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from podium.base.arrays import Array, Ints
from podium.jit.compiled import compiled, outlined
from podium.kernels.blocks import bounds, filled, take
from podium.kernels.pair_sums import add_moments, chebyshev, cut, evaluate, to_coefficients, to_nodes

_PER_EDGE = 100  # approximate cost of an edge in a listed sum, relative to a grade and point of a grid
FEW_EDGES = 2000
"""Edges below which a grid gains too little to be compiled for."""

Grid = tuple[Array, Array, float, float]


@outlined("boolean(float64[::1], int64[::1], int64, float64)")
def is_cheaper(scores: Array, ends: Ints, n_edges: int, w: float) -> bool:
    """Whether a grid for functions of w·(s_i − s_j) costs less than the list of edges."""
    low, high = bounds(scores)
    panels, nodes = cut(w * (high - low))
    points, grades, first = float(panels) * nodes, 0, 0
    while first < len(ends):
        grades, first = grades + 1, ends[first]
    return bool(points * points * (_PER_EDGE + grades) < float(n_edges) * _PER_EDGE)


@compiled
def lay_grid(scores: Array, order: Ints, ends: Ints, w: float) -> Any:
    """Weights of points per grade, best first (K, panels, nodes); their scores; the lowest score; the width of a panel.

    `order` and `ends` are those of `by_grade_and_score`.
    """
    low, high = bounds(scores)
    panels, nodes = cut(w * (high - low))
    width = (high - low) / panels if high > low else 1.0
    cheb, grades, first = chebyshev(nodes), 0, 0
    weights = np.zeros((len(ends), panels, nodes))
    while first < len(ends):
        s = take(scores, order[first : ends[first]])
        add_moments(s, filled(len(s), 1.0), low, width, weights[grades])
        to_nodes(cheb, weights[grades])
        grades, first = grades + 1, ends[first]
    points = np.empty(panels * nodes)
    for a in range(panels):
        for k in range(nodes):
            points[a * nodes + k] = low + width * (a + 0.5 * (cheb[1, k] + 1.0))
    return weights[:grades], points, low, width


@compiled
def differences(weights: Array, points: Array) -> Any:
    """r = s_a − s_b of all points a, b, and the weight of the edges there: of a over documents of lower grade at b."""
    n = len(points)
    r, edges, below = np.empty(n * n), np.zeros(n * n), np.zeros(n)
    for g in range(len(weights) - 1, -1, -1):
        here = weights[g].ravel()
        for a in range(n):
            row, scale = edges[a * n : (a + 1) * n], here[a]
            for b in range(n):
                row[b] += scale * below[b]
        for a in range(n):
            below[a] += here[a]
    for a in range(n):
        for b in range(n):
            r[a * n + b] = points[a] - points[b]
    return r, edges


@compiled
def to_documents(scores: Array, order: Ints, ends: Ints, grid: Grid, numbers: Array, sign: float, out: Array) -> None:
    """Per document, Σ of the numbers (at `differences`) over the edges it loses, plus sign·Σ over those it wins.

    `grid` is the result of `lay_grid`.
    """
    weights, points, low, width = grid
    grades, panels, nodes = weights.shape
    n, cheb, first = len(points), chebyshev(nodes), 0
    below, above = np.zeros(n), np.zeros(n)
    for g in range(1, grades):
        _add(1.0, weights[g].ravel(), below)
    for g in range(grades):
        at_points = np.empty((panels, nodes))
        flat = at_points.ravel()
        for a in range(n):
            wins, losses, row, column = 0.0, 0.0, numbers[a * n : (a + 1) * n], numbers[a::n]
            for b in range(n):
                wins += row[b] * below[b]
                losses += column[b] * above[b]
            flat[a] = losses + sign * wins
        to_coefficients(cheb, at_points)
        s = take(scores, order[first : ends[first]])
        values = np.empty(len(s))
        evaluate(s, low, width, at_points, values)
        for p in range(len(s)):
            out[order[first + p]] = values[p]
        first = ends[first]
        _add(1.0, weights[g].ravel(), above)
        if g + 1 < grades:
            _add(-1.0, weights[g + 1].ravel(), below)


@compiled
def _add(sign: float, numbers: Array, out: Array) -> None:
    for a in range(len(out)):
        out[a] += sign * numbers[a]
