"""A network on the documents of one query: scores, and the pullback of their slopes, in compiled loops.

`sizes` holds how many numbers each layer has, from the features to the output's one. θ holds each layer's weights
(in, out), row after row, and its offsets. `work`, of at least documents × the sum of the sizes, keeps the values of all
layers from the scores to the pullback.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from podium.compiled import compiled
from podium.kernels.exponentials import tanh
from podium.kernels.matrix_product import add_product


@compiled
def network_scores(X: Any, theta: Any, sizes: Any, is_tanh: Any, work: Any, out: Any) -> None:
    """Fill `out` with the scores of the rows of X."""
    n, m = X.shape
    for i in range(n):
        for l in range(m):
            work[i * m + l] = X[i, l]
    one = sizes[-1]  # the number 1 itself would be compiled for apart
    at, value = 0, 0  # where the weights of a layer begin in θ, and the values before it in `work`
    for depth in range(1, len(sizes)):
        m, w = sizes[depth - 1], sizes[depth]
        z, offsets = work[value + n * m : value + n * (m + w)], theta[at + m * w : at + m * w + w]
        for i in range(n):
            for j in range(w):
                z[i * w + j] = offsets[j]
        add_product(work[value : value + n * m], m, one, theta[at : at + m * w], z, n, m, w)
        if depth < len(sizes) - 1:
            _activate(z, is_tanh)
        at += m * w + w
        value += n * m
    for i in range(n):
        out[i] = work[value + i]


@compiled
def network_pullback(X: Any, theta: Any, sizes: Any, is_tanh: Any, work: Any, slopes: Any, gradient: Any) -> None:
    """Add Jᵀ·slopes to the gradient; after `network_scores`."""
    n, one, at, value, flow = len(slopes), sizes[-1], len(theta), 0, slopes
    for depth in range(len(sizes) - 1):
        value += n * sizes[depth]
    for depth in range(len(sizes) - 1, 0, -1):
        m, w = sizes[depth - 1], sizes[depth]
        at -= m * w + w
        value -= n * m
        offsets = gradient[at + m * w : at + m * w + w]
        for i in range(n):
            for j in range(w):
                offsets[j] += flow[i * w + j]
        add_product(work[value : value + n * m], one, m, flow, gradient[at : at + m * w], m, n, w)
        if depth > 1:
            flow = _before(flow, theta[at : at + m * w], n, m, w, one)
            _bend(flow, work[value : value + n * m], is_tanh)


@compiled
def _activate(z: Any, is_tanh: Any) -> None:
    if is_tanh:
        tanh(z)
    else:
        for k in range(len(z)):
            z[k] = 0.0 if z[k] < 0.0 else z[k]  # NaN stays NaN


@compiled
def _bend(flow: Any, values: Any, is_tanh: Any) -> None:
    """Multiply by the activation's derivative, in terms of its value."""
    for k in range(len(values)):
        flow[k] *= 1.0 - values[k] * values[k] if is_tanh else 1.0 if values[k] > 0.0 else 0.0


@compiled
def _before(flow: Any, weights: Any, n: Any, m: Any, w: Any, one: Any) -> Any:
    """The flow (n, w) times the transpose of the weights (m, w)."""
    turned, out = np.empty(w * m), np.empty(n * m)
    for l in range(m):
        for j in range(w):
            turned[j * m + l] = weights[l * w + j]
    for k in range(n * m):
        out[k] = 0.0
    add_product(flow, w, one, turned, out, n, w, m)
    return out
