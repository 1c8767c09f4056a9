"""A network on the documents of one query: scores, and the pullback of their slopes, in compiled loops.

`sizes` holds how many numbers each layer has, the features first; the output, one number, is not listed. θ holds each
layer's weights (in, out), row after row, and its offsets. `work`, of at least documents × the sum of the sizes, keeps
the values of all layers from the scores to the pullback.
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
    at, value = 0, 0  # where the weights of a layer begin in θ, and the values before it in `work`
    for depth in range(1, len(sizes)):
        m, w = sizes[depth - 1], sizes[depth]
        z, offsets = work[value + n * m : value + n * (m + w)], theta[at + m * w : at + m * w + w]
        for i in range(n):
            for j in range(w):
                z[i * w + j] = offsets[j]
        add_product(work[value : value + n * m], m, 1, theta[at : at + m * w], z, n, m, w)
        if is_tanh:
            tanh(z)
        else:
            for k in range(len(z)):
                z[k] = 0.0 if z[k] < 0.0 else z[k]  # NaN stays NaN
        at += m * w + w
        value += n * m
    w = sizes[-1]
    for i in range(n):
        out[i] = theta[-1]
    add_product(work[value : value + n * w], w, 1, theta[at : at + w], out, n, w, 1)


@compiled
def network_pullback(X: Any, theta: Any, sizes: Any, is_tanh: Any, work: Any, slopes: Any, gradient: Any) -> None:
    """Add Jᵀ·slopes to the gradient, but for the last parameter, the offset of the scores; after `network_scores`."""
    n, w, value = len(slopes), sizes[-1], 0
    for size in sizes[:-1]:
        value += n * size
    at = len(theta) - 1 - w
    add_product(work[value : value + n * w], 1, w, slopes, gradient[at : at + w], w, n, 1)
    flow = np.empty(n * w)
    for i in range(n):
        for j in range(w):
            flow[i * w + j] = slopes[i] * theta[at + j]
    for depth in range(len(sizes) - 1, 0, -1):
        m, w = sizes[depth - 1], sizes[depth]
        _bend(flow, work[value : value + n * w], is_tanh)
        at -= m * w + w
        value -= n * m
        offsets = gradient[at + m * w : at + m * w + w]
        for i in range(n):
            for j in range(w):
                offsets[j] += flow[i * w + j]
        add_product(work[value : value + n * m], 1, m, flow, gradient[at : at + m * w], m, n, w)
        if depth > 1:
            flow = _before(flow, theta[at : at + m * w], n, m, w)


@compiled
def _bend(flow: Any, values: Any, is_tanh: Any) -> None:
    """Multiply by the activation's derivative, in terms of its value."""
    for k in range(len(values)):
        flow[k] *= 1.0 - values[k] * values[k] if is_tanh else 1.0 if values[k] > 0.0 else 0.0


@compiled
def _before(flow: Any, weights: Any, n: Any, m: Any, w: Any) -> Any:
    """The flow (n, w) times the transpose of the weights (m, w)."""
    turned, out = np.empty(w * m), np.zeros(n * m)
    for l in range(m):
        for j in range(w):
            turned[j * m + l] = weights[l * w + j]
    add_product(flow, w, 1, turned, out, n, w, m)
    return out
