"""Self-attention: a network over all documents of a query, whose score may depend on the other documents."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Array, Ints, dense
from podium.base.errors import ParameterError
from podium.base.matrix_on_disk import on_disk
from podium.base.registry import param, register
from podium.base.threads import BLOCK, map_ranges, one_blas_thread
from podium.data.dataset import Dataset
from podium.scorers.attention_layers import Views, attend, attend_back, dense_back, normal, normal_back
from podium.scorers.base import Params, SmoothScorer

if TYPE_CHECKING:
    from podium.scorers.base import Features

_KEEP = 2**24
"""Most values of layers that are kept from scores to their pullback: 128 MB."""


@register
class Attention(SmoothScorer):
    """Self-attention over the documents of a query, in blocks with layer norm first; each block adds to h:

        h ← Wx + b;  h ← h + MHA(LN(h));  h ← h + W₂·max(0, W₁·LN(h) + b₁) + b₂;  score = w·LN(h) + c

    Formula: LN(h) = γ⊙(h − mean)/√(variance + 10⁻⁵) + β over the `width` numbers of a document. MHA: each head has
    queries, keys and values of width/heads numbers, and gives Σ_j softmax_j(q_i·k_j/√(width/heads))·v_j; W_o mixes the
    heads. The order of the documents does not matter, unless `places` > 0: then a learned vector of the place of the
    document in the incoming list (the order of the rows) is added to Wx + b; places after the last share its vector.
    With blocks=0 it is a linear scorer: no LN.
    Weights are initialised uniformly in ±√(6/(in + out)) (Glorot), offsets with 0, γ with 1.
    Cost: per document O(width·(features + blocks·(width + hidden + documents of the query))), in float64.
    Use it for: relevance that depends on what else is there, such as price among the query's offers, on thousands of
    queries.
    Reference: Pobrotyn et al., Context-aware learning to rank with self-attention, 2020.
    """

    width: int = param(default=32, least=1, search=[16, 32, 64])
    """Numbers that represent a document."""
    heads: int = param(default=2, least=1, search=[1, 2, 4])
    """Heads of attention; they divide the width."""
    blocks: int = param(default=1, least=0, most=32, search=[1, 2])
    """Blocks of attention, one after the other."""
    hidden: int = param(default=64, least=1, search=[32, 64, 128])
    """Hidden units of a block."""
    places: int = param(default=0, least=0, most=100_000)
    """Places of the first stage with a vector each, e.g. 100; the rows must be in its order, not in that of labels."""
    name = "attention"
    solver = "adam"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.width % self.heads:
            raise ParameterError(
                f"attention: heads must divide width; got heads={self.heads}, width={self.width}. Use e.g. width="
                f"{-(-self.width // self.heads) * self.heads}."
            )

    @property
    def sees_order(self) -> bool:
        return self.places > 0

    def init(self, n_features: int, rng: np.random.Generator) -> Array:
        theta = np.zeros(self.n_params(n_features))
        for name, part in self.views(theta, n_features).items():
            if part.ndim == 2 and name != "places":
                bound = np.sqrt(6.0 / (len(part) + (self.width if name.endswith("qkv") else part.shape[1])))
                part[:] = rng.uniform(-bound, bound, part.shape)
            elif name.endswith("gain"):
                part[:] = 1.0
        return theta

    def score(self, params: Params, data: Dataset) -> Array:
        views = self.views(self.theta(params, data.n_features), data.n_features)
        with one_blas_thread():
            parts = map_ranges(lambda a, b: self._forward(views, data, a, b)[0], _query_blocks(data.offsets))
        return np.concatenate([np.empty(0), *parts])

    def pullback(self, params: Params, data: Dataset, gradient: Array) -> Array:
        return self.score_with_pullback(params, data)[1](gradient)

    def score_with_pullback(self, params: Params, data: Dataset) -> tuple[Array, Callable[[Array], Array]]:
        """Both from one forward pass, if the values of its layers fit in memory."""
        per_row = data.n_features + self.blocks * (9 * self.width + 2 * self.hidden)
        values = data.n_documents * per_row + self.blocks * self.heads * int((data.sizes**2).sum())
        return self._with_pullback(params, data, keep=values <= _KEEP and not on_disk(data.features))

    def _with_pullback(self, params: Params, data: Dataset, *, keep: bool) -> tuple[Array, Callable[[Array], Array]]:
        theta = self.theta(params, data.n_features)
        views, blocks = self.views(theta, data.n_features), _query_blocks(data.offsets)
        kept: dict[int, Any] = {}

        def forward(first: int, last: int) -> tuple[Array, list[Any]]:
            return self._forward(views, data, first, last)

        def backward(gradient: Array, first: int, last: int) -> Array:
            values = kept[first] if keep else forward(first, last)
            return self._backward(views, values[1], gradient[data.offsets[first] : data.offsets[last]])

        def pullback(gradient: Array) -> Array:
            with one_blas_thread():
                parts = map_ranges(functools.partial(backward, gradient), blocks)
            return np.sum(parts, axis=0) if parts else np.zeros_like(theta)

        if not keep:
            return self.score(params, data), pullback
        with one_blas_thread():
            kept = dict(zip((first for first, _ in blocks), map_ranges(forward, blocks), strict=True))
        return np.concatenate([np.empty(0), *(scores for scores, _ in kept.values())]), pullback

    def n_params(self, n_features: int) -> int:
        return sum(int(np.prod(shape)) for shape in self._shapes(n_features).values())

    def penalised(self, n_features: int) -> Array:
        shapes = self._shapes(n_features).values()
        return np.concatenate([np.full(int(np.prod(shape)), float(len(shape) == 2)) for shape in shapes])

    def views(self, theta: Array, n_features: int) -> Views:
        """The parts of θ by name."""
        parts, at = {}, 0
        for name, shape in self._shapes(n_features).items():
            parts[name] = theta[at : at + int(np.prod(shape))].reshape(shape)
            at += parts[name].size
        return parts

    def _shapes(self, n_features: int) -> dict[str, tuple[int, ...]]:
        k, f = self.width, self.hidden
        shapes: dict[str, tuple[int, ...]] = {"in": (n_features, k), "in offset": (k,)}
        shapes |= {"places": (self.places, k)} if self.places else {}
        for b in range(self.blocks):
            of_block = {
                "norm gain": (k,), "norm offset": (k,), "qkv": (k, 3 * k), "qkv offset": (3 * k,),
                "mix": (k, k), "mix offset": (k,), "norm2 gain": (k,), "norm2 offset": (k,),
                "up": (k, f), "up offset": (f,), "down": (f, k), "down offset": (k,),
            }  # fmt: skip
            shapes |= {f"{b} {name}": shape for name, shape in of_block.items()}
        last = {"last gain": (k,), "last offset": (k,)} if self.blocks else {}
        return shapes | last | {"out": (k, 1), "out offset": (1,)}

    def _forward(self, p: Views, data: Dataset, first: int, last: int) -> tuple[Array, list[Any]]:
        """Scores of the queries first:last, and the values of the layers."""
        offsets = data.offsets[first : last + 1]
        X: Features = data.features[int(offsets[0]) : int(offsets[-1])]
        x = dense(X).astype(np.float64)
        groups, h, layers = _by_size(offsets - offsets[0]), x @ p["in"] + p["in offset"], list[Any]()
        places = self._places(offsets)
        h = h + p["places"][places] if self.places else h
        for b in range(self.blocks):
            a, norm = normal(h, p, f"{b} norm")
            heads, weights = attend(a @ p[f"{b} qkv"] + p[f"{b} qkv offset"], groups, self.heads)
            h = h + heads @ p[f"{b} mix"] + p[f"{b} mix offset"]
            c, norm2 = normal(h, p, f"{b} norm2")
            up = np.maximum(c @ p[f"{b} up"] + p[f"{b} up offset"], 0.0)
            h = h + up @ p[f"{b} down"] + p[f"{b} down offset"]
            layers.append((a, norm, heads, weights, c, norm2, up))
        top, last_norm = normal(h, p, "last") if self.blocks else (h, None)
        return (top @ p["out"] + p["out offset"])[:, 0], [x, places, groups, layers, top, last_norm]

    def _backward(self, p: Views, values: list[Any], gradient: Array) -> Array:
        """Jᵀg, from the values of `_forward`."""
        x, places, groups, layers, top, norm = values
        down = np.zeros(sum(part.size for part in p.values()))
        g = self.views(down, x.shape[1])
        flow = dense_back(g, p, "out", top, gradient[:, None])
        if self.blocks:
            flow = normal_back(g, p, "last", norm, flow)
        for b in range(self.blocks - 1, -1, -1):
            a, norm, heads, weights, c, norm2, up = layers[b]
            above = dense_back(g, p, f"{b} down", up, flow) * (up > 0.0)
            flow = flow + normal_back(g, p, f"{b} norm2", norm2, dense_back(g, p, f"{b} up", c, above))
            above = attend_back(weights, dense_back(g, p, f"{b} mix", heads, flow), groups, self.heads)
            flow = flow + normal_back(g, p, f"{b} norm", norm, dense_back(g, p, f"{b} qkv", a, above))
        if self.places:
            np.add.at(g["places"], places, flow)
        dense_back(g, p, "in", x, flow)
        return down

    def _places(self, offsets: Ints) -> Ints:
        """Place of each document in its query, from 0; the last vector is that of all places after it."""
        place = np.arange(offsets[-1] - offsets[0]) - np.repeat(offsets[:-1] - offsets[0], np.diff(offsets))
        return np.asarray(np.minimum(place, max(self.places - 1, 0)))


def _by_size(offsets: Ints) -> list[Ints]:
    """Rows of the queries of each size; queries of one size are computed together."""  # (m, n) each
    sizes = np.diff(offsets)
    return [offsets[:-1][sizes == n][:, None] + np.arange(n) for n in np.unique(sizes) if n]


def _query_blocks(offsets: Ints) -> list[tuple[int, int]]:
    """Ranges of whole queries of about BLOCK documents."""
    n = len(offsets) - 1
    firsts = np.unique(offsets[:-1] // BLOCK, return_index=True)[1].tolist() if n else []
    return list(itertools.pairwise([*firsts, n])) if n else []
