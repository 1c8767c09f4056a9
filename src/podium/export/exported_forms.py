"""Forms of exported models, over raw features: `Affine` and `Net` here, `Trees` in exported_trees."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from podium.base.arrays import Array, Flags, Ints, Singles
from podium.base.errors import counted
from podium.base.float32 import next_down
from podium.export.transforms import UNIT32, UNIT64, Front, rounding
from podium.scorers.activations import SELU_BELOW, Activation, activate
from podium.scorers.forms import LinearForm
from podium.scorers.trees.forest import TINY, Forest
from podium.transforms.base import Affine as Map

_LEAST_ZERO, _LEAST_NORMAL = float(next_down(-TINY)), float(np.finfo(np.float32).tiny)
_ROWS = 4096


@dataclass(frozen=True)
class Difference:
    """A split that a target decides differently: for x in (low, high], for a missing x, or for every x."""

    kind: Literal["threshold", "missing", "feature", "shape", "value"]
    tree: int  # from 0
    feature: int = -1
    low: float = -np.inf
    high: float = np.inf

    @property
    def is_tiny(self) -> bool:
        """Whether it concerns only values that are 0 up to rounding: LightGBM's zeros, or a subnormal interval."""
        if self.kind != "threshold":
            return False
        return (self.low >= _LEAST_ZERO and self.high <= TINY) or self.high - self.low < _LEAST_NORMAL

    def rows(self, X: Singles) -> Flags:
        """Rows that it may concern: those with such a value, whichever splits they reach."""
        if self.kind == "threshold":
            x = X[:, self.feature]
            return (x > self.low) & (x <= self.high)
        return np.isnan(X[:, self.feature]) if self.kind == "missing" else np.ones(len(X), bool)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, without infinite bounds."""
        return {key: value for key, value in asdict(self).items() if value == value and value not in (np.inf, -np.inf)}


class Summation(NamedTuple):
    """Arithmetic of a target's sums."""

    single: bool = False  # in float32
    rounds_score: bool = False  # in float64, and the sum is rounded to float32
    constant: float = 0.0  # added to podium's scores


IN_DOUBLE = Summation()


class ExportedForm:
    """A function of raw features, as a target's file expresses it."""

    kind: ClassVar[str]
    """Name of the form in messages."""
    front: Front | None
    """The transform before trees or layers, as arithmetic; None if they are on raw features."""
    forest: Forest | None
    missing_words: ClassVar[str] = ""
    """What becomes of a missing value, if that is a matter of the form."""

    @property
    def filling(self) -> Array | None:
        """Value of a missing feature, NaN if it is refused; None if each split has a side for it."""
        raise NotImplementedError

    @property
    def within_query(self) -> bool:
        """Whether a document's score depends on the other documents of its query."""
        return self.front is not None and self.front.within_query

    @property
    def shape(self) -> list[Any]:
        """Sizes of the arrays of the front and the layers."""
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

    def refused(self, X: Singles) -> Flags:
        """Rows with missing values that podium itself refuses."""
        filling = self.filling
        return np.any(np.isnan(X) & np.isnan(filling), axis=1) if filling is not None else np.zeros(len(X), bool)

    def seen(self, X: Singles, offsets: Sequence[int] | Ints) -> Singles:
        """The features that splits compare, for documents grouped by query."""
        return X

    def scores(self, X: Singles, *, single: bool = False) -> Array:
        """Scores of rows as a target computes them, in float32 if `single`; if the query matters, X is one query."""
        raise NotImplementedError

    def bound(self, X: Singles, summation: Summation = IN_DOUBLE) -> float:
        """Bound on the change of scores by rounding: for all finite rows (trees), or for the rows X (others)."""
        raise NotImplementedError

    def differences(self, theirs: ExportedForm, *, single: bool, infinite: bool) -> list[Difference]:
        """All differences from `theirs`, the form that a target reads; without `infinite`, for finite x only."""
        if type(theirs) is not type(self) or self.shape != theirs.shape:
            return [Difference("shape", 0)]  # running it might read beyond the program's arrays
        if self.front is not None and theirs.front is not None and not self.front.same(theirs.front):
            return [Difference("value", 0)]
        return [*self._differences(theirs, single=single, infinite=infinite)]

    def _differences(self, theirs: Self, *, single: bool, infinite: bool) -> Iterator[Difference]:
        """Differences from a form of the same class, shape and front."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Affine(ExportedForm):
    """Linear scores f(x) = ⟨w, x⟩ + b; a missing x_l counts as `missing`_l, or is refused if that is NaN."""

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
        """Scores of rows, added from the first feature to the last, in float32 if `single`, else in float64."""
        kind = np.float32 if single else np.float64
        rows = np.where(np.isnan(X), self.missing, X).astype(kind)
        out = np.full(len(X), self.offset, kind)
        for l, weight in enumerate(self.weights.astype(kind)):
            out = out + rows[:, l] * weight
        return out.astype(np.float64)

    def bound(self, X: Singles, summation: Summation = IN_DOUBLE) -> float:
        """Bound on the difference of scores of the rows X, for any order of summation.

        podium rounds x' to float32 and adds d terms in float64; the target rounds weights and products, and adds d + 1.
        """
        assert self.origin is not None, "of a model"
        (own_form, scaling), X = self.origin, X[~self.refused(X)]
        x = np.where(np.isnan(X), self.missing, X).astype(np.float64)
        scaled = np.abs((x - scaling.centre) * scaling.scale)
        d, unit = X.shape[1], UNIT32 if summation.single else UNIT64
        own = scaled @ np.abs(own_form.weights) * (UNIT32 + (d + 2) * UNIT64) + abs(own_form.offset) * UNIT64
        tiny = np.abs(own_form.weights).sum() * float(np.finfo(np.float32).smallest_subnormal)
        theirs = (np.abs(x) @ np.abs(self.weights) + abs(self.offset)) * ((d + 3) * unit / (1 - (d + 3) * unit))
        return float(np.max(own + theirs, initial=0.0) + tiny)

    def _differences(self, theirs: Self, *, single: bool, infinite: bool) -> Iterator[Difference]:
        kind = np.float32 if single else np.float64
        if not np.array_equal(self.weights.astype(kind), theirs.weights.astype(kind)):
            yield Difference("value", 0)


def fold(form: LinearForm, scaling: Map) -> Affine:
    """Linear scores of x' = (x − centre)·scale as linear scores of x."""
    weights = form.weights * scaling.scale
    shift = [form.offset, *(-form.weights * scaling.scale * scaling.centre)]
    with np.errstate(divide="ignore", invalid="ignore"):
        back = np.where(scaling.scale > 0, scaling.centre + scaling.missing / scaling.scale, 0.0)
    missing = np.where(np.isnan(scaling.missing), np.nan, back)
    return Affine(weights, math.fsum(shift), missing, (form, scaling))


@dataclass(frozen=True, eq=False)
class Net(ExportedForm):
    """Network on the features of a front: layers x → a(x·W + b), the last without a. A linear model is one layer.

    The order of summation differs between programs; the features are podium's to the bit, except those of a kernel.
    """

    front: Front
    layers: tuple[tuple[Array, Array], ...]
    activation: Activation
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
        """Numbers of features or units, from the raw features to the score."""
        return [*self.front.widths, *(len(offset) for _, offset in self.layers)]

    @property
    def shape(self) -> list[Any]:
        return [*self.front.shape, *self.widths]

    def scores(self, X: Singles, *, single: bool = False) -> Array:
        """Scores of rows, always in float64."""
        values = self.front.transformed(X)
        for depth, (weights, offset) in enumerate(self.layers):
            values = values @ weights + offset
            if depth < len(self.layers) - 1:
                activate(self.activation, values)
        return np.asarray(values[:, 0])

    def bound(self, X: Singles, summation: Summation = IN_DOUBLE) -> float:
        """Bound on the difference of scores of the rows X between two programs that compute in float64."""
        scaled = self.front.scaled(X[~self.refused(X)])
        blocks = [scaled[a : a + _ROWS] for a in range(0, len(scaled), _ROWS)]
        return max((self._bound(*self.front.spread(block)) for block in blocks), default=0.0)

    def _bound(self, values: Array, error: Array) -> float:
        """e ← |W|ᵀe + γ(|W|ᵀ|h| + |b|) per layer, γ of n + 2 roundings.

        An activation multiplies errors by its largest slope at most: 1 of tanh, relu and elu, λα of selu, 1.13 of gelu,
        1.1 of silu. It adds its own rounding: 10 units of the last place for tanh, 40 of 1 + |argument| for the others.
        """
        steep = {"selu": SELU_BELOW, "gelu": 1.13, "silu": 1.1}.get(self.activation, 1.0)
        for depth, (weights, offset) in enumerate(self.layers):
            size = np.abs(weights)
            error = error @ size + rounding(len(weights) + 2) * ((np.abs(values) + error) @ size + np.abs(offset))
            values = values @ weights + offset
            if depth < len(self.layers) - 1:
                argument = np.abs(values)
                activate(self.activation, values)
                sizes = {"relu": 0.0 * argument, "tanh": 10.0 * np.abs(values)}
                error = steep * error + UNIT64 * sizes.get(self.activation, 40.0 * (1.0 + argument))
        return 2.0 * float(np.max(error, initial=0.0))

    def _differences(self, theirs: Self, *, single: bool, infinite: bool) -> Iterator[Difference]:
        layers = zip(self.layers, theirs.layers, strict=True)
        arrays = [both for ours, other in layers for both in zip(ours, other, strict=True)]
        if self.activation != theirs.activation or not all(np.array_equal(*both, equal_nan=True) for both in arrays):
            yield Difference("value", 0)
