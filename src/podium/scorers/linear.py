"""Linear scorer: f(x; w, b) = ⟨w, x⟩ + b."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Array, Singles, is_sparse
from podium.base.registry import register
from podium.base.threads import map_blocks
from podium.jit.compiled import compiled
from podium.jit.tiers import CELLS_PER_STEP, is_small
from podium.kernels.sums import add_up, dot
from podium.scorers.base import Params, RowScorer
from podium.scorers.forms import LinearForm

if TYPE_CHECKING:
    from podium.scorers.base import Features


@register
class Linear(RowScorer):
    """Linear function: one weight per feature, and an offset (which only pointwise losses use).

    Cost: one pass over the features per evaluation, in float64 arithmetic on the float32 features.
    Use it for: the safe default on engineered features; easy to explain; can be exported anywhere.
    """

    solver = "lbfgs"

    def init(self, n_features: int, rng: np.random.Generator) -> Array:
        return np.zeros(n_features + 1)

    def score_rows(self, theta: Array, X: Features) -> Array:
        weights, offset = np.ascontiguousarray(theta[:-1]), theta[-1]
        if is_sparse(X):
            return np.asarray(X @ weights + offset)
        if is_small(X.size // CELLS_PER_STEP):
            rows = X[0 : len(X)].astype(np.float64)
            return np.asarray(np.einsum("ij,j->i", rows, weights) + offset)  # equal rows tie, unlike in a BLAS product
        out = np.empty(len(X))
        map_blocks(lambda a, b: times(X[a:b], weights, offset, out[a:b]), len(X))
        return out

    def pullback_rows(self, theta: Array, X: Features, gradient: Array) -> Array:
        if is_sparse(X):
            return np.append(X.T @ gradient, gradient.sum())

        def block(a: int, b: int) -> Array:
            part = np.zeros(X.shape[1] + 1)
            add_rows(X[a:b], gradient[a:b], part[:-1])
            return part

        parts = map_blocks(block, len(X))
        down = parts[0] if len(parts) == 1 else np.sum(parts, axis=0) if parts else np.zeros(X.shape[1] + 1)
        down[-1] = add_up(gradient)
        return down

    def form(self, params: Params, n_features: int) -> LinearForm:
        theta = self.theta(params, n_features)
        return LinearForm(theta[:-1], float(theta[-1]))

    def n_params(self, n_features: int) -> int:
        return n_features + 1

    def penalised(self, n_features: int) -> Array:
        return np.append(np.ones(n_features), 0.0)


@compiled
def times(X: Singles, weights: Array, offset: float, out: Array) -> None:
    for i in range(X.shape[0]):
        out[i] = dot(X[i], weights) + offset


@compiled
def add_rows(X: Singles, gradient: Array, out: Array) -> None:
    for i in range(X.shape[0]):
        g = gradient[i]
        if g != 0.0:
            row = X[i]
            for l in range(len(out)):
                out[l] += g * row[l]
