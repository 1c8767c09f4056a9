"""Transforms as arithmetic that any program can do: z-scores, min–max scaling, products and kernels of features.

Each feature is clipped or replaced by its quantile, if the transform does so, and scaled alone, to a float32 number.
Then come the mixtures, each a `Products` or a `Kernel` of the features of the one before; values missing in between
count as 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from podium.base.arrays import Array, Int32s, Ints, Singles
from podium.base.float32 import LARGEST
from podium.transforms.nystrom import gaussian, squared_distances
from podium.transforms.quantile import placed

UNIT32, UNIT64 = 2.0**-24, 2.0**-53  # half the distance of neighbouring numbers, relative


@dataclass(frozen=True, eq=False)
class Products:
    """The features, and products of pairs: float32((x_first·x_second − mean)·scale).

    A product of two float32 numbers is exact in float64, so every program computes the same bits, with or without
    fused multiplication and addition.
    """

    first: Int32s  # (p,)
    second: Int32s  # (p,)
    mean: Array  # (p,)
    scale: Array  # (p,)

    def width(self, n: int) -> int:
        """Number of features made from n; raises an error if they do not fit."""
        lengths = {len(self.first), len(self.second), len(self.mean), len(self.scale)}
        pairs = np.concatenate([self.first, self.second])
        if len(lengths) > 1 or (len(pairs) and not 0 <= pairs.min() <= pairs.max() < n):
            raise ValueError("products of features that do not exist")
        return n + len(self.first)

    def apply(self, X: Array) -> Array:
        """Features of rows: float32 numbers as float64."""
        with np.errstate(over="ignore", invalid="ignore"):
            products = (X[:, self.first] * X[:, self.second] - self.mean) * self.scale
            return np.hstack([X, products.astype(np.float32)])

    def spread(self, X: Array, error: Array) -> tuple[Array, Array]:
        """The features, and a bound on the difference of another program's whose X is off by `error`; 0 for 0."""
        a, b, e, f = X[:, self.first], X[:, self.second], error[:, self.first], error[:, self.second]
        off = np.abs(a) * f + np.abs(b) * e + e * f
        off = (off + (off > 0) * 8 * UNIT64 * (np.abs(a * b) + off + np.abs(self.mean))) * np.abs(self.scale)
        products, off = _rounded((a * b - self.mean) * self.scale, off)
        return np.hstack([X, products]), np.hstack([error, off])


@dataclass(frozen=True, eq=False)
class Kernel:
    """float32(k·root), k_a = e^(−γ‖x − landmark_a‖²). The last bits of sums and exponentials differ by program."""

    gamma: float
    landmarks: Array  # (m, d)
    root: Array  # (m, r)

    def width(self, n: int) -> int:
        """Number of features made from n; raises an error if they do not fit."""
        if self.landmarks.shape[1] != n or len(self.landmarks) != len(self.root):
            raise ValueError("landmarks of other features")
        return int(self.root.shape[1])

    def apply(self, X: Array) -> Array:
        """Features of rows: float32 numbers as float64."""
        near = gaussian(X, self.landmarks, np.float64(self.gamma))
        return (near @ self.root).astype(np.float32).astype(np.float64)

    def spread(self, X: Array, error: Array) -> tuple[Array, Array]:
        """The features, and a bound on the difference of another program's whose X is off by `error`.

        ‖x − z‖² as a sum of products is off by γ_(d+4)·(‖x‖ + ‖z‖)², and moves by 2(‖x‖ + ‖z‖)ε + ε² with x by ε; two
        libraries' exponentials are each within 4 units of the last place; k·root has m roundings.
        """
        (m, d), gap = self.landmarks.shape, np.linalg.norm(error, axis=1)[:, None]
        far = np.linalg.norm(X, axis=1)[:, None] + gap + np.linalg.norm(self.landmarks, axis=1)
        squares = squared_distances(X, self.landmarks)
        near = np.exp(-self.gamma * squares)
        power = self.gamma * (2 * (rounding(d + 4) * far**2 + 2 * far * gap + gap**2) + 8 * UNIT64 * far**2)
        grown = np.exp(np.minimum(power - self.gamma * squares, 1.0)) - near  # capped at an exponent of 1
        off = np.where(power < 1.0, near * np.expm1(np.minimum(power, 1.0)), grown)
        off += 16 * UNIT64 * near + float(np.finfo(np.float64).tiny)
        size = np.abs(self.root)
        return _rounded(near @ self.root, off @ size + 2 * rounding(m + 2) * ((near + off) @ size))


Mixture = Products | Kernel


@dataclass(frozen=True, eq=False)
class Clipped:
    """min(max(x, low), high) of each feature."""

    low: Array  # (d,) float32 numbers
    high: Array  # (d,)

    @property
    def size(self) -> int:
        """Number of features; raises an error if the parts do not fit."""
        if self.low.shape != self.high.shape or not (self.low <= self.high).all():
            raise ValueError("bounds that do not fit together")
        return len(self.low)

    def apply(self, X: Singles) -> Array:
        """Values of rows; missing ones stay missing."""
        return np.clip(X.astype(np.float64), self.low, self.high)

    def typical(self, rng: np.random.Generator, n: int) -> Array:
        """Ordinary rows: values around the bounds."""
        wide = np.minimum(self.high - self.low, LARGEST / 4)
        return np.clip(self.low + (1.2 * rng.random((n, self.size)) - 0.1) * wide, -LARGEST, LARGEST)


@dataclass(frozen=True, eq=False)
class Quantiles:
    """Share of training values of each feature, or its normal quantile: tables of knots, as `transforms.Quantile`."""

    first: Ints  # (d + 1,) the knots of feature l are first[l]:first[l + 1]; none if it is constant
    knot: Array  # (K,)
    low: Array  # (K,) first share of a knot
    high: Array  # (K,) last share of a knot
    normal: bool

    @property
    def size(self) -> int:
        """Number of features; raises an error if the parts do not fit."""
        steps, lengths = np.diff(self.first), {len(self.knot), len(self.low), len(self.high), int(self.first[-1])}
        if len(lengths) > 1 or self.first[0] != 0 or (steps < 0).any() or (steps == 1).any():
            raise ValueError("knots of other lengths")
        feature = np.repeat(np.arange(len(steps)), steps)
        apart = (self.knot[1:] > self.knot[:-1]) & (self.low[1:] > self.high[:-1])
        if not (apart | (np.diff(feature) > 0)).all() or not (self.low <= self.high).all():
            raise ValueError("knots that do not rise")
        return len(steps)

    def apply(self, X: Singles) -> Array:
        """Values of rows; missing ones stay missing."""
        values = placed(X, self.first, self.knot, self.low, self.high, normal=self.normal)
        return np.where(np.isnan(X), np.nan, values)

    def typical(self, rng: np.random.Generator, n: int) -> Array:
        """Ordinary rows: knots, and values near them."""
        X = rng.standard_normal((n, self.size))
        for l in range(self.size):
            knots = self.knot[self.first[l] : self.first[l + 1]]
            if len(knots):
                X[:, l] = rng.choice(knots, n) + np.where(rng.random(n) < 0.5, 0.0, X[:, l] * np.diff(knots).mean())
        return np.clip(X, -LARGEST, LARGEST)


Curve = Clipped | Quantiles


@dataclass(frozen=True, eq=False)
class Front:
    """Transform in front of trees or layers: the curve, x' = float32((x − centre)·scale), then the mixtures."""

    centre: Array  # (d,)
    scale: Array  # (d,)
    filling: Array  # (d,) value of a missing x; NaN if it stays missing: trees have a side for it, others refuse it
    within_query: bool = False  # x' = (x − least)/(largest − least) over the query instead; 0 if missing or constant
    added: Int32s = field(default_factory=lambda: np.zeros(0, np.int32))  # the x' that are added to the raw features
    mixtures: tuple[Mixture, ...] = ()
    curve: Curve | None = None  # of each feature, before anything else

    @property
    def widths(self) -> list[int]:
        """Numbers of features before the mixtures and after each of them; raises an error if they do not fit."""
        n = len(self.centre)
        if {len(self.scale), len(self.filling)} != {n}:
            raise ValueError("centre, scale and filling of other lengths")
        if self.curve is not None and (self.curve.size != n or self.within_query):
            raise ValueError("curves of other features")
        exist = self.added.ndim == 1 and bool(((self.added >= 0) & (self.added < n)).all())
        if not exist or (len(self.added) and not self.within_query):
            raise ValueError("scaled features that do not exist")
        widths = [n + len(self.added)]
        for mixture in self.mixtures:
            widths.append(mixture.width(widths[-1]))
        return widths

    @property
    def shape(self) -> list[tuple[Any, ...]]:
        """The features, raw and before the mixtures; each mixture's kind, pairs or landmarks, and features after it."""
        sizes = [len(m.first) if isinstance(m, Products) else len(m.landmarks) for m in self.mixtures]
        mixed = zip(self.mixtures, sizes, self.widths[1:], strict=True)
        curve = [] if self.curve is None else [(type(self.curve), *map(np.size, vars(self.curve).values()))]
        return [(Front, len(self.centre), self.widths[0]), *((type(m), size, n) for m, size, n in mixed), *curve]

    @property
    def _parts(self) -> tuple[Front | Mixture | Curve, ...]:
        return (self, *(() if self.curve is None else (self.curve,)), *self.mixtures)

    @property
    def exact(self) -> bool:
        """Whether every program computes the same bits."""
        return not any(isinstance(mixture, Kernel) for mixture in self.mixtures)

    def scaled(self, X: Singles) -> Array:
        """Features before the mixtures, float32 numbers as float64; if scaled within the query, X is one query."""
        filled = np.where(np.isnan(X), self.filling, X if self.curve is None else self.curve.apply(X))
        if self.within_query:
            scaled = _within(X)
            return np.hstack([filled, scaled[:, self.added]]) if len(self.added) else scaled
        with np.errstate(over="ignore", invalid="ignore"):
            return ((filled - self.centre) * self.scale).astype(np.float32).astype(np.float64)

    def transformed(self, X: Singles) -> Array:
        """Inputs of the trees or the first layer, float32 numbers as float64."""
        values = self.scaled(X)
        for mixture in self.mixtures:
            values = mixture.apply(_zero_missing(values))
        return values

    def spread(self, scaled: Array) -> tuple[Array, Array]:
        """Transformed features of scaled ones, and a bound on the difference of another program's."""
        values, error = scaled, np.zeros(scaled.shape)
        for mixture in self.mixtures:
            values, error = mixture.spread(_zero_missing(values), error)
        return values, error

    def names(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Names of the transformed features; products are a·b. Features of kernels have no names."""
        names += tuple(f"scaled {names[l]}" for l in self.added)
        for mixture in self.mixtures:
            assert isinstance(mixture, Products), "others have no names"
            names += tuple(f"{names[a]}·{names[b]}" for a, b in zip(mixture.first, mixture.second, strict=True))
        return names

    def same(self, other: Front) -> bool:
        """Whether two fronts of one shape have equal numbers."""
        return self.within_query == other.within_query and all(
            np.array_equal(value, getattr(theirs, key), equal_nan=True)
            for ours, theirs in zip(self._parts, other._parts, strict=True)
            for key, value in vars(ours).items()
            if key not in ("mixtures", "curve")
        )


def _zero_missing(values: Array) -> Array:
    return np.where(np.isnan(values), 0.0, values)


def rounding(n: int) -> float:
    """γ_n, the relative error of n roundings in float64."""
    return n * UNIT64 / (1 - n * UNIT64)


def _rounded(values: Array, off: Array) -> tuple[Array, Array]:
    """Values rounded to float32, and a bound on the difference of another program's, off by `off` before rounding."""
    with np.errstate(over="ignore", invalid="ignore"):
        low, rounded, high = (x.astype(np.float32).astype(np.float64) for x in (values - off, values, values + off))
        return rounded, np.maximum(high - rounded, rounded - low)


def _within(X: Singles) -> Array:
    """min–max scaling of the documents of one query, as `transforms.MinMax` rounds it."""
    x = X.astype(np.float64)
    low = np.min(np.where(np.isnan(x), np.inf, x), axis=0, initial=np.inf)
    width = np.max(np.where(np.isnan(x), -np.inf, x), axis=0, initial=-np.inf) - low
    scale = np.divide(1.0, width, out=np.zeros_like(width), where=width > 0)
    shifted = np.where(np.isnan(x), 0.0, x - np.where(np.isinf(low), 0.0, low))
    return (shifted * np.where(np.isnan(x), 0.0, scale)).astype(np.float32).astype(np.float64)
