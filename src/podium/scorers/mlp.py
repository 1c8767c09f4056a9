"""Multi-layer perceptron: hidden layers with an activation, and one linear output."""

from __future__ import annotations

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
from podium.kernels.exponentials import tanh
from podium.scorers.base import Params, RowScorer
from podium.scorers.forms import NetForm

if TYPE_CHECKING:
    from podium.scorers.base import Features

_KEEP = 2**24
"""Most values of layers that are kept from scores to their pullback: 128 MB."""


@register
class MLP(RowScorer):
    """Neural network f(x; θ) = w·a(W₂·a(W₁x + b₁) + b₂) + b; `hidden` has the sizes of the hidden layers.

    Weights are initialised uniformly in ±√(6/(in + out)) (Glorot), offsets with 0.
    Cost: O(parameters) per document; products by BLAS, in float32 in training by adam and sgd (`precision`).
    Use it for: interactions between features, on some thousands of queries or more.
    """

    hidden: tuple[int, ...] = param(default=(10,), search=[(8,), (16,), (32,), (64,), (32, 16)])
    activation: Literal["tanh", "relu"] = param(default="tanh", search=["tanh", "relu"])
    precision: Literal["float32", "float64"] = "float32"
    """Of the layers in steps of adam and sgd; models score, and other solvers and clusters learn, in float64."""
    name = "mlp"
    solver = "adam"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.hidden or any(not isinstance(n, int) or n < 1 for n in self.hidden):
            raise ParameterError(
                f"mlp: hidden must list the sizes of at least one hidden layer, e.g. [64,32]; got {list(self.hidden)}."
                " For no hidden layer use scorer=linear."
            )

    def init(self, n_features: int, rng: np.random.Generator) -> Array:
        parts = []
        for n_in, n_out in self._shapes(n_features):
            bound = np.sqrt(6.0 / (n_in + n_out))
            parts += [rng.uniform(-bound, bound, n_in * n_out), np.zeros(n_out)]
        return np.concatenate(parts)

    def score_rows(self, theta: Array, X: Features) -> Array:
        layers = list(self.layers(theta, X.shape[1]))
        with one_blas_thread():
            parts = map_blocks(lambda a, b: self._forward(layers, _doubles(X[a:b]))[-1][:, 0], X.shape[0])
        return parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else np.empty(0)

    def pullback_rows(self, theta: Array, X: Features, gradient: Array) -> Array:
        layers = list(self.layers(theta, X.shape[1]))
        with one_blas_thread():
            parts = map_blocks(
                lambda a, b: self._backward(layers, self._forward(layers, _doubles(X[a:b])), gradient[a:b]), X.shape[0]
            )
        return _sum(parts, theta)

    def score_with_pullback(self, params: Params, data: Dataset) -> tuple[Array, Callable[[Array], Array]]:
        """Both from one forward pass, if the values of its layers fit in memory."""
        theta, X = self.theta(params, data.n_features), data.features
        if on_disk(X) or X.shape[0] * (X.shape[1] + sum(self.hidden)) > _KEEP:
            return super().score_with_pullback(params, data)
        layers = list(self.layers(theta, X.shape[1]))
        with one_blas_thread():
            values = map_blocks(lambda a, b: self._forward(layers, _doubles(X[a:b])), X.shape[0])

        def pullback(gradient: Array) -> Array:
            with one_blas_thread():
                parts = map_blocks(lambda a, b: self._backward(layers, values[a // BLOCK], gradient[a:b]), X.shape[0])
            return _sum(parts, theta)

        return np.concatenate([value[-1][:, 0] for value in values]) if values else np.empty(0), pullback

    def form(self, params: Params, n_features: int) -> NetForm:
        return NetForm(tuple(self.layers(self.theta(params, n_features), n_features)), self.activation)

    def n_params(self, n_features: int) -> int:
        return sum(n_in * n_out + n_out for n_in, n_out in self._shapes(n_features))

    def penalised(self, n_features: int) -> Array:
        shapes = self._shapes(n_features)
        return np.concatenate([np.repeat([1.0, 0.0], [n_in * n_out, n_out]) for n_in, n_out in shapes])

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

    def _forward(self, layers: list[tuple[Array, Array]], X: Array) -> list[Array]:
        """Values of every layer, from the features to the scores."""
        values = [X]
        for weights, offset in layers:
            z = values[-1] @ weights
            z += offset
            if len(values) < len(layers):
                tanh(z.reshape(-1)) if self.activation == "tanh" else np.maximum(z, 0.0, out=z)
            values.append(z)
        return values

    def _backward(self, layers: list[tuple[Array, Array]], values: list[Array], gradient: Array) -> Array:
        """Jᵀg, from the values of `_forward`."""
        flow, parts = gradient[:, None], []
        for depth in range(len(layers) - 1, -1, -1):
            parts += [flow.sum(axis=0), (values[depth].T @ flow).ravel()]
            if depth:
                flow = flow @ layers[depth][0].T
                flow *= self._slope(values[depth])
        return np.concatenate(parts[::-1])

    def forward_in(self, hidden: list[Singles], layers: list[tuple[Any, Any]], X: Singles, scores: Array) -> None:
        """Fill the hidden layers of rows X, in float32, and their scores."""
        below, n = X, len(X)
        for (weights, offset), buffer in zip(layers, hidden, strict=False):
            z = buffer[:n]
            np.matmul(below, weights, out=z)
            z += offset
            np.tanh(z, out=z) if self.activation == "tanh" else np.maximum(z, np.float32(0), out=z)
            below = z
        weights, offset = layers[-1]
        scores[:] = below @ weights[:, 0]
        scores += offset[0]

    def backward_in(
        self, hidden: list[Singles], flows: list[Singles], layers: list[tuple[Any, Any]], X: Singles,
        gradient: Array, out: list[tuple[Any, Any]],
    ) -> None:  # fmt: skip
        """Fill `out` with Jᵀg of each layer, in float32; the hidden layers of `forward_in` are used up."""
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
                if self.activation == "tanh":
                    np.multiply(below, below, out=below)
                    np.subtract(np.float32(1), below, out=below)
                    flow *= below
                else:
                    flow *= below > 0.0

    def _slope(self, h: Array) -> Any:
        """Derivative of the activation, in terms of its value."""
        if self.activation != "tanh":
            return h > 0.0
        slope = h * h
        return np.subtract(1.0, slope, out=slope)


def _sum(parts: list[Array], theta: Array) -> Array:
    return np.sum(parts, axis=0) if parts else np.zeros_like(theta)


def _doubles(X: Features) -> Array:
    return dense(X).astype(np.float64)
