"""A network on the documents of one query: scores, and the pullback of their slopes, in compiled loops.

`sizes` holds how many numbers each layer has, the features first; the output, one number, is not listed. θ holds each
layer's weights (in, out), row after row, and its offsets. `work` keeps the values of all layers from the scores to the
pullback: see `work_size`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from podium.compiled import compiled
from podium.kernels.exponentials import tanh
from podium.kernels.matrix_product import add_product


def work_size(sizes: Any, n: int) -> int:
    """Numbers of `work` for n documents: the values of each layer, two flows and the weights between two layers."""
    between = max((a * b for a, b in zip(sizes[1:-1], sizes[2:], strict=True)), default=0)
    return int(n * (sum(sizes) + 2 * max(sizes[1:])) + between)


@compiled
def network_scores(X: Any, theta: Any, sizes: Any, is_tanh: Any, work: Any, out: Any) -> None:
    """Fill `out` with the scores of the rows of X."""
    n, m = X.shape
    for i in range(n):
        for l in range(m):
            work[i * m + l] = X[i, l]
    at, value = 0, 0
    for depth in range(1, len(sizes)):
        m, w = sizes[depth - 1], sizes[depth]
        before, z = work[value : value + n * m], work[value + n * m : value + n * (m + w)]
        weights, offsets = theta[at : at + m * w], theta[at + m * w : at + m * w + w]
        for i in range(n):
            for j in range(w):
                z[i * w + j] = offsets[j]
        add_product(before, m, 1, weights, z, n, m, w)
        if is_tanh:
            tanh(z)
        else:
            for k in range(len(z)):
                z[k] = 0.0 if z[k] < 0.0 else z[k]  # NaN stays NaN
        at += m * w + w
        value += n * m
    w = sizes[-1]
    z, weights = work[value : value + n * w], theta[at : at + w]
    out[:] = theta[-1]
    add_product(z, w, 1, weights, out, n, w, 1)


@compiled
def network_pullback(X: Any, theta: Any, sizes: Any, is_tanh: Any, work: Any, slopes: Any, gradient: Any) -> None:
    """Add Jᵀ·slopes to the gradient, but for the last parameter, the offset of the scores; after `network_scores`."""
    n, widest, deepest = X.shape[0], 0, len(sizes) - 1
    value = 0
    for depth in range(deepest):
        value += n * sizes[depth]
        widest = max(widest, sizes[depth + 1])
    w = sizes[deepest]
    at = len(theta) - 1 - w
    first = value + n * w
    flow, spare = work[first : first + n * widest], work[first + n * widest : first + 2 * n * widest]
    turned = work[first + 2 * n * widest :]
    add_product(work[value : value + n * w], 1, w, slopes, gradient[at : at + w], w, n, 1)
    for i in range(n):
        for j in range(w):
            flow[i * w + j] = slopes[i] * theta[at + j]
    for depth in range(deepest, 0, -1):
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
            for l in range(m):
                for j in range(w):
                    turned[j * m + l] = theta[at + l * w + j]
            spare[: n * m] = 0.0
            add_product(flow, w, 1, turned, spare, n, w, m)
            flow, spare = spare, flow


@compiled
def _bend(flow: Any, values: Any, is_tanh: Any) -> None:
    """Multiply by the activation's derivative, in terms of its value."""
    for k in range(len(values)):
        flow[k] *= 1.0 - values[k] * values[k] if is_tanh else 1.0 if values[k] > 0.0 else 0.0
