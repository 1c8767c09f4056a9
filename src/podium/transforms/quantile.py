"""Quantile transform: the share of training values below a value, or its quantile of the normal distribution.

>>> from podium.data.dataset import Dataset
>>> data = Dataset.from_arrays([[1.0], [2.0], [2.0], [3.0], [1e30]], group=[5])
>>> transform = Quantile(to="uniform")
>>> transform.features(transform.fit(data), data).ravel().tolist()
[0.0, 0.375, 0.375, 0.75, 1.0]
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from podium.base.arrays import Array, Ints, Singles
from podium.base.errors import IncompatibleError
from podium.base.registry import param, register
from podium.base.threads import map_blocks
from podium.transforms.base import State, Transform, refuse_infinite, sampled_rows

if TYPE_CHECKING:
    from podium.data.dataset import Dataset

EDGE = 1e-7
"""Shares of the normal distribution are from EDGE to 1 − EDGE: quantiles are within ±5.2."""


@register
class Quantile(Transform):
    """u(x), the piecewise linear share of the training values up to x; with to=normal, Φ⁻¹(u(x)) (rank-Gauss).

    Formula: with the quantiles v_k of the shares r_k = k/(bins − 1), u(v_k) = r_k, linear in between, 0 below and 1
    above all; if several v_k are the same value, the mean of their first and last share. As scikit-learn's
    QuantileTransformer, to 10⁻⁶, but for that mean at both ends too, where scikit-learn takes 0 and 1: features that
    are 0 in most documents stay near the middle. A missing value and a constant feature become the middle, 1/2 or 0.
    Cost: O(N d log bins). Of more than 100,000 documents, that many evenly spaced ones give the quantiles.
    Use it for: linear models and networks on features of any scale, with any outliers.
    """

    name = "quantile"
    bins: int = param(default=1000, least=2)
    """Quantiles that are kept of each feature."""
    to: Literal["normal", "uniform"] = "normal"
    """Distribution of the result."""

    def fit(self, data: Dataset) -> State:
        refuse_infinite(data, self.name)
        X = sampled_rows(data)
        curves = [_curve(X[:, l][~np.isnan(X[:, l])].astype(np.float64), self.bins) for l in range(data.n_features)]
        knots = [np.concatenate([np.zeros(0), *parts]) for parts in zip(*curves, strict=True)] or [np.zeros(0)] * 3
        first = np.cumsum([0, *(len(curve[0]) for curve in curves)])
        return {"first": first, **dict(zip(("knot", "low", "high"), knots, strict=True))}

    def features(self, state: State, data: Dataset) -> Any:
        X = data.dense().features
        if len(state["first"]) != X.shape[1] + 1:
            raise IncompatibleError(
                f"quantile was fitted on {len(state['first']) - 1} features; the data has {X.shape[1]}."
            )
        _check_curves(state)
        out = np.empty(X.shape, np.float32)
        middle = np.float32(0.0 if self.to == "normal" else 0.5)

        def work(a: int, b: int) -> None:
            x = np.asarray(X[a:b])
            values = placed(x, *(state[key] for key in ("first", "knot", "low", "high")), normal=self.to == "normal")
            out[a:b] = np.where(np.isnan(x), middle, values)

        map_blocks(work, len(X))
        return out


def _check_curves(state: State) -> None:
    """Raise a clear error unless the curves of the features follow one another, as `fit` leaves them."""
    first, ends = state["first"], {state[key].shape for key in ("knot", "low", "high")}
    if first.dtype.kind != "i" or first[0] != 0 or (np.diff(first) < 0).any() or ends != {(first[-1],)}:
        raise IncompatibleError("the quantiles of the features do not fit together. Train the model again.")


def _curve(values: Array, bins: int) -> tuple[Array, Array, Array]:
    """Different quantiles of a feature's values, the first share of each, and the last; none if there is one."""
    if not len(values):
        return values, values, values
    shares = np.linspace(0.0, 1.0, min(bins, len(values)))
    quantiles = np.maximum.accumulate(np.quantile(values, shares))
    knots, first, count = np.unique(quantiles, return_index=True, return_counts=True)
    if len(knots) < 2:
        return values[:0], values[:0], values[:0]
    return knots, shares[first], shares[first + count - 1]


def placed(X: Singles, first: Ints, knot: Array, low: Array, high: Array, *, normal: bool) -> Array:
    """Shares of values, or their normal quantiles; the knots of feature l are first[l]:first[l + 1]."""  # (N, d)
    out = np.full(X.shape, 0.5)
    for l in range(X.shape[1]):
        a, b = first[l], first[l + 1]
        if b - a > 1:
            out[:, l] = _shares(X[:, l].astype(np.float64), knot[a:b], low[a:b], high[a:b])
    return normal_quantiles(out) if normal else out


def _shares(x: Array, knot: Array, low: Array, high: Array) -> Array:
    c = np.clip(np.searchsorted(knot, x, side="right") - 1, 0, len(knot) - 2)
    inside = np.clip(x, knot[0], knot[-1])
    u = between(inside, knot[c], knot[c + 1], high[c], low[c + 1])
    for k in (c, c + 1):
        u = np.where(x == knot[k], 0.5 * (low[k] + high[k]), u)
    return np.where(x < knot[0], 0.0, np.where(x > knot[-1], 1.0, u))


def between(x: Array, x0: Array, x1: Array, y0: Array, y1: Array) -> Array:
    """The line through (x0, y0) and (x1, y1), within y0 and y1.

    The product is the last operation, so that a program with fused multiplication and addition has the same bits.
    """
    slope = (y1 - y0) / (x1 - x0)
    return np.clip(((x - x0) + y0 / slope) * slope, y0, y1)


def normal_quantiles(u: Array) -> Array:
    """Φ⁻¹(u) by linear interpolation in a table, to 6·10⁻⁷; u is cut at EDGE and 1 − EDGE."""
    share, z = normal_table()
    v = np.maximum(np.where(u > 0.5, 1.0 - u, u), EDGE)
    c = np.clip(np.searchsorted(share, v, side="right") - 1, 0, len(share) - 2)
    half = between(v, share[c], share[c + 1], z[c], z[c + 1])
    return np.where(u > 0.5, -half, half)


@functools.cache
def normal_table() -> tuple[Array, Array]:
    """Shares from EDGE to 1/2 and their normal quantiles, in equal steps of |z|^(3/2), where lines are off alike."""
    from scipy.special import ndtr, ndtri

    end = float(ndtri(EDGE))
    z = -(np.linspace((-end) ** 1.5, 0.0, 4001) ** (2 / 3))
    share = ndtr(z)
    share[0], z[0], share[-1], z[-1] = EDGE, end, 0.5, 0.0
    return share, z
