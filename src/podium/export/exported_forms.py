"""The forms in which models are exported, over raw features: `Affine` and `Net` here, `Trees` in exported_trees."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Array, Singles
from podium.base.errors import counted
from podium.base.float32 import next_down
from podium.export.transform_arithmetic import UNIT32, UNIT64, Front, rounding
from podium.scorers.forms import LinearForm
from podium.scorers.trees.forest import TINY, Forest
from podium.transforms.base import Affine as Map

_LEAST_ZERO, _LEAST_NORMAL = float(next_down(-TINY)), float(np.finfo(np.float32).tiny)
_ROWS = 4096


@dataclass(frozen=True)
class Difference:
    """Where a target decides otherwise: for x in (low, high], for a missing x, or for every x that gets there."""

    kind: Literal["threshold", "missing", "feature", "shape", "value"]
    tree: int  # from 0
    feature: int = -1
    low: float = -np.inf
    high: float = np.inf

    @property
    def is_tiny(self) -> bool:
        """Whether it is for values alone that are 0 but for rounding: LightGBM's zeros, or next to no values at all."""
        if self.kind != "threshold":
            return False
        return (self.low >= _LEAST_ZERO and self.high <= TINY) or self.high - self.low < _LEAST_NORMAL

    def rows(self, X: Singles) -> NDArray[np.bool_]:
        """The rows that it may concern: those with such a value, wherever they go."""
        if self.kind == "threshold":
            x = X[:, self.feature]
            return (x > self.low) & (x <= self.high)
        return np.isnan(X[:, self.feature]) if self.kind == "missing" else np.ones(len(X), bool)

    def to_dict(self) -> dict[str, Any]:
        """Plain values; infinite bounds are left out."""
        return {key: value for key, value in asdict(self).items() if value == value and value not in (np.inf, -np.inf)}


class Adding(NamedTuple):
    """How a target adds up scores."""

    single: bool = False  # in float32
    rounds_score: bool = False  # in float64, and the sum is given as float32
    constant: float = 0.0  # on top of podium's scores


IN_DOUBLE = Adding()


class ExportedForm:
    """A function of raw features that a target's file expresses."""

    kind: ClassVar[str]
    """The form in words."""
    front: Front | None
    """The arithmetic before trees or layers; None if they are on raw features."""
    forest: Forest | None

    @property
    def filling(self) -> Array | None:
        """The value that a missing feature counts as, NaN if it is refused; None if each split has a side for it."""
        raise NotImplementedError

    @property
    def within_query(self) -> bool:
        """Whether a document's score depends on the other documents of its query."""
        return self.front is not None and self.front.within_query

    @property
    def shape(self) -> list[Any]:
        """The sizes of the front's and the layers' arrays."""
        return [] if self.front is None else [*self.front.shape]

    @property
    def words(self) -> str:
        """Kind and size in words."""
        return f"{self.kind}{self._on_features}"

    @property
    def _on_features(self) -> str:
        front = self.front
        if front is None or not (front.mixtures or len(front.added)):
            return ""
        return f" on {counted(front.widths[-1], 'transformed feature')}"

    def refused(self, X: Singles) -> NDArray[np.bool_]:
        """The rows whose missing values podium itself refuses."""
        filling = self.filling
        return np.any(np.isnan(X) & np.isnan(filling), axis=1) if filling is not None else np.zeros(len(X), bool)

    def seen(self, X: Singles, offsets: Any) -> Singles:
        """The features that splits see, of documents of queries."""
        return X

    def scores(self, X: Singles, *, single: bool = False) -> Array:
        """The scores of rows as a target computes them, in float32 if `single`; X is a query if that matters."""
        raise NotImplementedError

    def bound(self, X: Singles, adding: Adding = IN_DOUBLE) -> float:
        """The most that rounding can change scores: of any finite rows for trees, of the rows X for others."""
        raise NotImplementedError

    def differences(self, theirs: ExportedForm, *, single: bool, infinite: bool) -> list[Difference]:
        """Every difference of a form that a target read from this one; without `infinite`, for finite x alone."""
        if type(theirs) is not type(self) or self.shape != theirs.shape:
            return [Difference("shape", 0)]  # the program's arrays may be too short for it
        if self.front is not None and theirs.front is not None and not self.front.same(theirs.front):
            return [Difference("value", 0)]
        return [*self._differences(theirs, single=single, infinite=infinite)]

    def _differences(self, theirs: Self, *, single: bool, infinite: bool) -> Iterator[Difference]:
        """The differences of a form of the same class, shape and front."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Affine(ExportedForm):
    """f(x) = ⟨w, x⟩ + b; a missing x_l counts as `missing`_l, and NaN there means that it is refused."""

    weights: Array  # (d,)
    offset: float
    missing: Array  # (d,)
    origin: tuple[LinearForm, Map] | None = None  # the model's own weights, and its scaling of the features
    kind = "a linear model"
    front = None
    forest = None

    @property
    def filling(self) -> Array:
        return self.missing

    def scores(self, X: Singles, *, single: bool = False) -> Array:
        """The scores of rows, added from the first feature to the last, in float32 if `single`, else in float64."""
        kind = np.float32 if single else np.float64
        rows = np.where(np.isnan(X), self.missing, X).astype(kind)
        out = np.full(len(X), self.offset, kind)
        for l, weight in enumerate(self.weights.astype(kind)):
            out = out + rows[:, l] * weight
        return out.astype(np.float64)

    def bound(self, X: Singles, adding: Adding = IN_DOUBLE) -> float:
        """The most that scores of the rows X can differ, in any order of summation.

        podium rounds x' to float32 and adds d terms in float64; the target rounds weights and products, and adds d + 1.
        """
        assert self.origin is not None, "of a model"
        (own_form, scaling), X = self.origin, X[~self.refused(X)]
        x = np.where(np.isnan(X), self.missing, X).astype(np.float64)
        scaled = np.abs((x - scaling.centre) * scaling.scale)
        d, unit = X.shape[1], UNIT32 if adding.single else UNIT64
        own = scaled @ np.abs(own_form.weights) * (UNIT32 + (d + 2) * UNIT64) + abs(own_form.offset) * UNIT64
        tiny = np.abs(own_form.weights).sum() * float(np.finfo(np.float32).smallest_subnormal)
        theirs = (np.abs(x) @ np.abs(self.weights) + abs(self.offset)) * ((d + 3) * unit / (1 - (d + 3) * unit))
        return float(np.max(own + theirs, initial=0.0) + tiny)

    def _differences(self, theirs: Self, *, single: bool, infinite: bool) -> Iterator[Difference]:
        kind = np.float32 if single else np.float64
        if not np.array_equal(self.weights.astype(kind), theirs.weights.astype(kind)):
            yield Difference("value", 0)


def fold(form: LinearForm, scaling: Map) -> Affine:
    """The linear scores of x' = (x − centre)·scale as those of x."""
    weights = form.weights * scaling.scale
    shift = [form.offset, *(-form.weights * scaling.scale * scaling.centre)]
    with np.errstate(divide="ignore", invalid="ignore"):
        back = np.where(scaling.scale > 0, scaling.centre + scaling.missing / scaling.scale, 0.0)
    missing = np.where(np.isnan(scaling.missing), np.nan, back)
    return Affine(weights, math.fsum(shift), missing, (form, scaling))


@dataclass(frozen=True, eq=False)
class Net(ExportedForm):
    """The features of a front; then layers x → a(x·W + b), the last without a. A linear model is one layer.

    The order of sums differs between programs; the features are podium's own to the bit, but for a kernel's.
    """

    front: Front
    layers: tuple[tuple[Array, Array], ...]
    activation: Literal["tanh", "relu"]
    kind = "a network"
    forest = None

    @property
    def filling(self) -> Array:
        return self.front.filling

    @property
    def words(self) -> str:
        n = len(self.layers)
        return ("a linear model" if n == 1 else f"a network of {counted(n, 'layer')}") + self._on_features

    @property
    def widths(self) -> list[int]:
        """The number of features or units, from the raw features to the score."""
        return [*self.front.widths, *(len(offset) for _, offset in self.layers)]

    @property
    def shape(self) -> list[Any]:
        return [*self.front.shape, *self.widths]

    def scores(self, X: Singles, *, single: bool = False) -> Array:
        """The scores of rows, always in float64."""
        values = self.front.transformed(X)
        for depth, (weights, offset) in enumerate(self.layers):
            z = values @ weights + offset
            values = z if depth == len(self.layers) - 1 else self._activated(z)
        return np.asarray(values[:, 0])

    def bound(self, X: Singles, adding: Adding = IN_DOUBLE) -> float:
        """The most that the scores of the rows X can differ between two programs that compute in float64."""
        scaled = self.front.scaled(X[~self.refused(X)])
        blocks = [scaled[a : a + _ROWS] for a in range(0, len(scaled), _ROWS)]
        return max((self._bound(*self.front.spread(block)) for block in blocks), default=0.0)

    def _bound(self, values: Array, error: Array) -> float:
        """e ← |W|ᵀe + γ(|W|ᵀ|h| + |b|) per layer, γ of n + 2 roundings.

        tanh and max(0, ·) do not widen a gap, and podium's tanh and any library's are within 5 units of the last place.
        """
        for depth, (weights, offset) in enumerate(self.layers):
            size = np.abs(weights)
            error = error @ size + rounding(len(weights) + 2) * ((np.abs(values) + error) @ size + np.abs(offset))
            values = values @ weights + offset
            if depth < len(self.layers) - 1:
                values = self._activated(values)
                error = error + 10 * UNIT64 * np.abs(values) if self.activation == "tanh" else error
        return 2.0 * float(np.max(error, initial=0.0))

    def _activated(self, values: Array) -> Array:
        return np.tanh(values) if self.activation == "tanh" else np.maximum(values, 0.0)

    def _differences(self, theirs: Self, *, single: bool, infinite: bool) -> Iterator[Difference]:
        layers = zip(self.layers, theirs.layers, strict=True)
        arrays = [both for ours, other in layers for both in zip(ours, other, strict=True)]
        if self.activation != theirs.activation or not all(np.array_equal(*both, equal_nan=True) for both in arrays):
            yield Difference("value", 0)
