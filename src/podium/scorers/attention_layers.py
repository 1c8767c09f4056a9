"""Layers of networks over queries, forward and backward: layer norm, dense layers, and attention among documents.

A backward function adds to the gradients of its parameters, views of one array by name, and returns that of its input.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from podium.base.arrays import Array, Ints

Views = dict[str, Array]
"""Parameters, or their gradients, by name: views of one flat array."""
_EPSILON = 1e-5


def normal(h: Array, p: Views, name: str) -> tuple[Array, tuple[Array, Array]]:
    """γ⊙n + β, n = (h − mean)/√(variance + ε) of each row; and n with its scale, for `normal_back`."""
    centred = h - h.mean(axis=1, keepdims=True)
    scale = 1.0 / np.sqrt((centred * centred).mean(axis=1, keepdims=True) + _EPSILON)
    centred *= scale
    return centred * p[f"{name} gain"] + p[f"{name} offset"], (centred, scale)


def normal_back(g: Views, p: Views, name: str, values: tuple[Array, Array], flow: Array) -> Array:
    """Adds to the gradients of γ and β; returns `norm_back`."""
    g[f"{name} gain"] += (flow * values[0]).sum(axis=0)
    g[f"{name} offset"] += flow.sum(axis=0)
    return norm_back(p[f"{name} gain"], values, flow)


def norm_back(gain: Array, values: tuple[Array, Array], flow: Array) -> Array:
    """scale·(dn − mean(dn) − n·mean(dn⊙n)), dn = γ⊙flow."""
    n, scale = values
    above = flow * gain
    inner = (above * n).mean(axis=1, keepdims=True)
    return np.asarray(scale * (above - above.mean(axis=1, keepdims=True) - n * inner))


def dense_back(g: Views, p: Views, name: str, below: Array, flow: Array) -> Array:
    """Of x·W + b: flow·Wᵀ."""
    g[name] += below.T @ flow
    g[f"{name} offset"] += flow.sum(axis=0)
    return np.asarray(flow @ p[name].T)


def attend(qkv: Array, groups: list[Ints], heads: int) -> tuple[Array, list[Any]]:
    """Σ_j softmax_j(q_i·k_j/√e)·v_j of each head, in queries of one size each; and what `attend_back` needs."""
    out, kept = np.empty((len(qkv), qkv.shape[1] // 3)), []
    for rows in groups:
        q, k, v = _split(qkv, rows, heads)
        weights = q @ k.swapaxes(-1, -2) * _scale(q)
        weights -= weights.max(axis=-1, keepdims=True)
        np.exp(weights, out=weights)
        weights /= weights.sum(axis=-1, keepdims=True)
        out[rows] = (weights @ v).swapaxes(1, 2).reshape(*rows.shape, -1)
        kept.append((q, k, v, weights))
    return out, kept


def attend_back(kept: list[Any], flow: Array, groups: list[Ints], heads: int) -> Array:
    """Gradient of queries, keys and values: ds = w⊙(dw − Σ_j w_j·dw_j), dw = flow·vᵀ."""
    out = np.empty((len(flow), 3 * flow.shape[1]))
    for rows, (q, k, v, weights) in zip(groups, kept, strict=True):
        above = flow[rows].reshape(*rows.shape, heads, -1).swapaxes(1, 2)
        inner = above @ v.swapaxes(-1, -2)
        slope = weights * (inner - (weights * inner).sum(axis=-1, keepdims=True)) * _scale(q)
        parts = (slope @ k, slope.swapaxes(-1, -2) @ q, weights.swapaxes(-1, -2) @ above)
        out[rows] = np.concatenate([part.swapaxes(1, 2).reshape(*rows.shape, -1) for part in parts], axis=-1)
    return out


def _split(qkv: Array, rows: Ints, heads: int) -> tuple[Array, Array, Array]:
    """Queries, keys and values of each head."""  # (m, heads, n, e) each
    parts = qkv[rows].reshape(*rows.shape, 3, heads, -1)
    q, k, v = (np.ascontiguousarray(parts[:, :, i].swapaxes(1, 2)) for i in range(3))
    return q, k, v


def _scale(q: Array) -> float:
    return float(1.0 / np.sqrt(q.shape[-1]))
