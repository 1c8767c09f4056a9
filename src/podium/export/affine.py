"""Affine: weights on raw features and an offset, the form in which linear models are exported."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from podium.arrays import Array
from podium.float32 import Singles
from podium.forms import LinearForm
from podium.transforms.base import Affine as Map

UNIT32, UNIT64 = 2.0**-24, 2.0**-53  # half the distance of neighbouring numbers, relative


@dataclass(frozen=True, eq=False)
class Affine:
    """f(x) = ⟨w, x⟩ + b; a missing x_l counts as `missing`_l, and NaN there means that it is refused."""

    weights: Array  # (d,)
    offset: float
    missing: Array  # (d,)

    def scores(self, X: Singles, *, single: bool) -> Array:
        """The scores of rows, added from the first feature to the last, in float32 if `single`, else in float64."""
        kind = np.float32 if single else np.float64
        rows = np.where(np.isnan(X), self.missing, X).astype(kind)
        out = np.full(len(X), self.offset, kind)
        for l, weight in enumerate(self.weights.astype(kind)):
            out = out + rows[:, l] * weight
        return out.astype(np.float64)


def fold(form: LinearForm, found: Map) -> Affine:
    """The linear scores of x' = (x − centre)·scale as those of x."""
    weights = form.weights * found.scale
    shift = [form.offset, *(-form.weights * found.scale * found.centre)]
    with np.errstate(divide="ignore", invalid="ignore"):
        back = np.where(found.scale > 0, found.centre + found.missing / found.scale, 0.0)
    return Affine(weights, math.fsum(shift), np.where(np.isnan(found.missing), np.nan, back))


def bound(form: LinearForm, found: Map, handed: Affine, X: Singles, *, single: bool) -> float:
    """The most that scores of the rows X can differ, in any order of summation.

    podium rounds x' to float32 and adds d terms in float64; the target rounds weights and products, and adds d + 1.
    """
    x = np.where(np.isnan(X), handed.missing, X).astype(np.float64)
    scaled = np.abs((x - found.centre) * found.scale)
    d, unit = X.shape[1], UNIT32 if single else UNIT64
    own = scaled @ np.abs(form.weights) * (UNIT32 + (d + 2) * UNIT64) + abs(form.offset) * UNIT64
    tiny = np.abs(form.weights).sum() * float(np.finfo(np.float32).smallest_subnormal)
    theirs = (np.abs(x) @ np.abs(handed.weights) + abs(handed.offset)) * ((d + 3) * unit / (1 - (d + 3) * unit))
    return float(np.max(own + theirs, initial=0.0) + tiny)
