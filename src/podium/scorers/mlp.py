"""Multi-layer perceptron: hidden layers with an activation, and one linear output."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from podium.base.arrays import Array, Singles, dense
from podium.base.errors import ParameterError
from podium.base.matrix_on_disk import on_disk
from podium.base.registry import param, register
from podium.base.threads import BLOCK, map_blocks, one_blas_thread
from podium.data.dataset import Dataset
from podium.scorers.activations import Activation, activate
from podium.scorers.attention_layers import Views, normal, normal_back
from podium.scorers.base import Params, RowScorer
from podium.scorers.forms import NetForm

if TYPE_CHECKING:
    from podium.scorers.base import Features

_KEEP = 2**24
"""Most values of layers that are kept from scores to their pullback: 128 MB."""
_Kept = list[tuple[Any, Any, Any]]
"""Input, slopes and layer norm of each layer, from the features on, for the way back."""


@register
class MLP(RowScorer):
    """Neural network f(x; θ) = w·a(W₂·a(W₁x + b₁) + b₂) + b; `hidden` has the sizes of the hidden layers.

    With `layer_norm`, a layer is a(γ⊙n + β), n = (z − mean)/√(variance + 10⁻⁵) over the units of z = Wx + b.
    In training alone: each hidden value is 0 with probability `dropout`, others are divided by 1 − dropout; and `noise`
    times a standard normal number is added to each feature. Both are drawn anew in each step, from `seed`.
    Weights are initialised uniformly in ±√(6/(in + out)) (Glorot), offsets with 0, γ with 1.
    Cost: O(parameters) per document; products by BLAS, in float32 in training by adam and sgd (`precision`).
    Use it for: interactions between features, on some thousands of queries or more.
    Reference: Ba et al., Layer normalization, 2016; Srivastava et al., Dropout, 2014.
    """

    hidden: tuple[int, ...] = param(default=(10,), search=[(8,), (16,), (32,), (64,), (32, 16)])
    """Sizes of the hidden layers."""
    activation: Activation = param(default="tanh", search=["tanh", "relu"])
    """a; elu, selu, gelu and silu are smooth, or almost, and rise above every bound as relu does."""
    precision: Literal["float32", "float64"] = "float32"
    """Of the layers in steps of adam and sgd, without layer norm; models score, and all others learn, in float64."""
    layer_norm: bool = False
    """Whether hidden layers are normalised before the activation."""
    dropout: float = param(default=0.0, least=0, below=1)
    """Share of hidden values that are left out in each step of training."""
    noise: float = param(default=0.0, least=0)
    """Standard deviation of what is added to each (transformed) feature in each step of training."""
    seed: int = param(default=0, least=0)
    """Of dropout and noise."""
    name = "mlp"
    solver = "adam"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.hidden or any(not isinstance(n, int) or n < 1 for n in self.hidden):
            raise ParameterError(
                f"mlp: hidden must list the sizes of at least one hidden layer, e.g. [64,32]; got {list(self.hidden)}."
                " For no hidden layer use scorer=linear."
            )

    @property
    def draws(self) -> bool:
        return self.dropout > 0 or self.noise > 0

    def resampled(self, step: int) -> MLP:
        return dataclasses.replace(self, seed=self.seed + step) if self.draws else self

    def init(self, n_features: int, rng: np.random.Generator) -> Array:
        theta = np.zeros(self.n_params(n_features))
        for weights, _ in self.layers(theta, n_features):
            bound = np.sqrt(6.0 / sum(weights.shape))
            weights[:] = rng.uniform(-bound, bound, weights.size).reshape(weights.shape)
        for name, part in self.norms(theta).items():
            part[:] = float(name.endswith("gain"))
        return theta

    def score_rows(self, theta: Array, X: Features) -> Array:
        layers, norms = list(self.layers(theta, X.shape[1])), self.norms(theta)
        with one_blas_thread():
            parts = map_blocks(lambda a, b: self._forward(layers, norms, _doubles(X[a:b])), X.shape[0])
        return parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else np.empty(0)

    def pullback_rows(self, theta: Array, X: Features, gradient: Array) -> Array:
        forward, backward = self._passes(theta, X, draws=False)
        with one_blas_thread():
            parts = map_blocks(lambda a, b: backward(forward(a, b)[1], gradient[a:b]), X.shape[0])
        return _sum(parts, theta)

    def score_with_pullback(self, params: Params, data: Dataset) -> tuple[Array, Callable[[Array], Array]]:
        """Both from one forward pass, if the values of its layers fit in memory; with dropout and noise."""
        theta, X = self.theta(params, data.n_features), data.features
        keep = not on_disk(X) and X.shape[0] * (X.shape[1] + 2 * sum(self.hidden)) <= _KEEP
        forward, backward = self._passes(theta, X, draws=self.draws)

        def first(a: int, b: int) -> tuple[Array, _Kept]:
            scores, values = forward(a, b)
            return scores, values if keep else []

        def second(gradient: Array, a: int, b: int) -> Array:
            return backward(parts[a // BLOCK][1] or forward(a, b)[1], gradient[a:b])

        def pullback(gradient: Array) -> Array:
            with one_blas_thread():
                return _sum(map_blocks(functools.partial(second, gradient), X.shape[0]), theta)

        with one_blas_thread():
            parts = map_blocks(first, X.shape[0])
        return np.concatenate([np.empty(0), *(scores for scores, _ in parts)]), pullback

    def _passes(
        self, theta: Array, X: Features, *, draws: bool
    ) -> tuple[Callable[[int, int], tuple[Array, _Kept]], Callable[[_Kept, Array], Array]]:
        """From a block of rows to its scores and what the way back needs; from that and a gradient to Jᵀg."""
        layers, norms = list(self.layers(theta, X.shape[1])), self.norms(theta)

        def forward(a: int, b: int) -> tuple[Array, _Kept]:
            values: _Kept = []
            return self._forward(layers, norms, _doubles(X[a:b]), values, self.rng(a) if draws else None), values

        return forward, functools.partial(self._backward, theta, layers, norms)

    def form(self, params: Params, n_features: int) -> NetForm:
        theta = self.theta(params, n_features)
        norms, hidden = self.norms(theta), range(len(self.hidden) if self.layer_norm else 0)
        pairs = tuple((norms[f"{k} gain"], norms[f"{k} offset"]) for k in hidden)
        return NetForm(tuple(self.layers(theta, n_features)), self.activation, pairs)

    def n_params(self, n_features: int) -> int:
        of_layers = sum(n_in * n_out + n_out for n_in, n_out in self._shapes(n_features))
        return of_layers + 2 * sum(self.hidden) * self.layer_norm

    def penalised(self, n_features: int) -> Array:
        penalised = np.zeros(self.n_params(n_features))
        for weights, _ in self.layers(penalised, n_features):
            weights[:] = 1.0
        return penalised

    def _shapes(self, n_features: int) -> list[tuple[int, int]]:
        sizes = [n_features, *self.hidden, 1]
        return list(itertools.pairwise(sizes))

    def layers(self, params: Any, n_features: int) -> Iterator[tuple[Any, Any]]:
        """Weights and offset of each layer: views of the parameters."""
        at = 0
        for n_in, n_out in self._shapes(n_features):
            weights = params[at : at + n_in * n_out].reshape(n_in, n_out)
            at += n_in * n_out
            yield weights, params[at : at + n_out]
            at += n_out

    def norms(self, params: Any) -> Views:
        """γ ("0 gain") and β ("0 offset") of hidden layers, views of the last parameters; none without layer norm."""
        views, at = Views(), len(params) - 2 * sum(self.hidden)
        for k, n in enumerate(self.hidden if self.layer_norm else ()):
            views |= {f"{k} gain": params[at : at + n], f"{k} offset": params[at + n : at + 2 * n]}
            at += 2 * n
        return views

    def rng(self, first: int) -> np.random.Generator | None:
        """Source of dropout and noise of the block of documents that begins at `first`; None if nothing is drawn."""
        return np.random.default_rng([self.seed, first]) if self.draws else None

    def noisy(self, X: Any, rng: np.random.Generator | None) -> Any:
        """The features with noise, if there is any."""
        if rng is None or self.noise == 0:
            return X
        return X + X.dtype.type(self.noise) * rng.standard_normal(X.shape, np.float32)

    def _drop(self, rng: np.random.Generator | None, h: Any, slope: Any) -> None:
        """Leave out hidden values, and the slopes that they have."""
        if rng is not None and self.dropout > 0:
            mask = (rng.random(h.shape, np.float32) >= self.dropout) * h.dtype.type(1 / (1 - self.dropout))
            h *= mask
            slope *= mask

    def _forward(
        self, layers: list[tuple[Array, Array]], norms: Views, X: Array, kept: _Kept | None = None,
        rng: np.random.Generator | None = None,
    ) -> Array:  # fmt: skip
        """Scores; `kept` gets what the way back needs."""
        h = self.noisy(X, rng)
        for k, (weights, offset) in enumerate(layers[:-1]):
            z = h @ weights
            z += offset
            z, norm = normal(z, norms, str(k)) if norms else (z, None)
            slope = None if kept is None else np.empty_like(z)
            activate(self.activation, z, slope)
            self._drop(rng, z, slope)
            if kept is not None:
                kept.append((h, slope, norm))
            h = z
        if kept is not None:
            kept.append((h, None, None))
        scores = h @ layers[-1][0]
        scores += layers[-1][1]
        return np.asarray(scores[:, 0])

    def _backward(
        self, theta: Array, layers: list[tuple[Array, Array]], norms: Views, kept: _Kept, gradient: Array
    ) -> Array:
        """Jᵀg, from what `_forward` kept."""
        down = np.zeros_like(theta)
        out, out_norms = list(self.layers(down, len(layers[0][0]))), self.norms(down)
        flow = gradient[:, None]
        for depth in range(len(layers) - 1, -1, -1):
            below, slope, norm = kept[depth]
            if slope is not None:
                flow *= slope
            if norm is not None:
                flow = normal_back(out_norms, norms, str(depth), norm, flow)
            out[depth][0][:], out[depth][1][:] = below.T @ flow, flow.sum(axis=0)
            flow = flow @ layers[depth][0].T if depth else flow
        return down

    def forward_in(
        self, hidden: list[Singles], slopes: list[Singles], layers: list[tuple[Any, Any]], X: Singles, scores: Array,
        rng: np.random.Generator | None,
    ) -> None:  # fmt: skip
        """Fill the hidden layers of rows X and their slopes, in float32, and the scores."""
        below, n = X, len(X)
        for (weights, offset), buffer, room in zip(layers, hidden, slopes, strict=False):
            z, slope = buffer[:n], room[:n]
            np.matmul(below, weights, out=z)
            z += offset
            activate(self.activation, z, slope)
            self._drop(rng, z, slope)
            below = z
        weights, offset = layers[-1]
        scores[:] = below @ weights[:, 0]
        scores += offset[0]

    def backward_in(
        self, hidden: list[Singles], slopes: list[Singles], flows: list[Singles], layers: list[tuple[Any, Any]],
        X: Singles, gradient: Array, out: list[tuple[Any, Any]],
    ) -> None:  # fmt: skip
        """Fill `out` with Jᵀg of each layer, in float32, from what `forward_in` filled."""
        n, flow = len(X), gradient.astype(np.float32)[:, None]
        ones = np.ones(n, np.float32)
        for depth in range(len(layers) - 1, -1, -1):
            below = hidden[depth - 1][:n] if depth else X
            np.matmul(below.T, flow, out=out[depth][0])
            np.matmul(ones, flow, out=out[depth][1])
            if depth == len(layers) - 1:  # 0 for most losses: Adam would make steps of what rounding leaves
                out[depth][1][0] = gradient.sum()
            if depth:
                above, flow = flow, flows[depth - 1][:n]
                weights = layers[depth][0].T
                np.multiply(above, weights, out=flow) if depth == len(layers) - 1 else np.matmul(
                    above, weights, out=flow
                )
                flow *= slopes[depth - 1][:n]


def _sum(parts: list[Array], theta: Array) -> Array:
    return np.sum(parts, axis=0) if parts else np.zeros_like(theta)


def _doubles(X: Features) -> Array:
    return dense(X).astype(np.float64)
