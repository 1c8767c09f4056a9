"""Torch modules as scorers, specified by a factory: `torch(module=package.file:factory)`.

A factory takes the number of features and returns a module that maps rows (n, d) to scores (n,) or (n, 1): any rows, or
with `lists=true` the rows of one query, so that a score may depend on the other documents. It is code, and a
specification may come from an untrusted model file. So a factory runs only if this process trusts it:

    from podium.scorers import torch
    torch.trust("package.file:factory")

or, on the command line, by the environment variable PODIUM_TORCH=package.file:factory, several separated by commas.
"""

from __future__ import annotations

import copy
import functools
import importlib
import itertools
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Array, dense
from podium.base.errors import IncompatibleError, MissingPackageError, ParameterError
from podium.base.registry import register
from podium.base.threads import BLOCK
from podium.data.dataset import Dataset
from podium.scorers.base import Params, Prepared, SmoothScorer

if TYPE_CHECKING:
    import torch

    from podium.scorers.base import Features

_OWN = "podium.scorers.torch:mlp"
_trusted = {_OWN}


def trust(module: str) -> None:
    """Allow this process to import and run a factory, `package.file:factory`."""
    _trusted.add(module)


def mlp(n_features: int) -> Any:
    """Two hidden layers of 32 tanh units."""
    nn = _torch().nn
    layers = [nn.Linear(n_features, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1)]
    return nn.Sequential(*layers)


@register
class Torch(SmoothScorer):
    """A torch module, in float64 and in evaluation mode: a score does not depend on chance or on other queries.

    Its parameters are those of the module, so a model file has numbers and the factory's name, no code. Modules with
    buffers, such as running means, are refused.
    Cost: one forward and one backward pass of the module per step.
    Use it for: custom architectures, with every loss and solver here.
    """

    module: str = _OWN
    """Factory of the module: package.module:function, or file.py:function."""
    lists: bool = False
    """Whether the module sees the rows of one query at a time; else any rows, and a row's score depends on it alone."""
    solver = "adam"

    @property
    def per_query(self) -> bool:  # type: ignore[override]
        """Whether a document's score depends on the other documents of its query."""
        return self.lists

    def init(self, n_features: int, rng: np.random.Generator) -> Array:
        torch = _torch()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(rng.integers(2**31)))
            net = _make(self.module, n_features)
        return np.concatenate([p.detach().numpy().ravel() for p in net.parameters()]).astype(np.float64)

    def score(self, params: Params, data: Dataset) -> Array:
        return self.prepare(params, data.n_features)(data)

    def prepare(self, params: Params, n_features: int) -> Prepared:
        net = _Net(self, self.theta(params, n_features), n_features)

        def scores(data: Dataset) -> Array:
            if data.n_features != n_features:
                self.theta(params, data.n_features)  # raises a clear error
            return net.score(data.features, self._blocks(data))

        return scores

    def pullback(self, params: Params, data: Dataset, gradient: Array) -> Array:
        return self.score_with_pullback(params, data)[1](gradient)

    def n_params(self, n_features: int) -> int:
        return sum(p.numel() for p in _template(self.module, n_features).parameters())

    def penalised(self, n_features: int) -> Array:
        sizes = [(p.numel(), p.ndim > 1) for p in _template(self.module, n_features).parameters()]
        return np.concatenate([np.full(n, float(weights)) for n, weights in sizes])

    def score_with_pullback(self, params: Params, data: Dataset) -> tuple[Array, Callable[[Array], Array]]:
        theta, X = self.theta(params, data.n_features), data.features
        net = _Net(self, theta, X.shape[1])
        outs = [(a, b, net.forward(X[a:b])) for a, b in self._blocks(data)]

        def pullback(gradient: Array) -> Array:
            parts = [net.backward(out, gradient[a:b]) for a, b, out in outs]
            return np.sum(parts, axis=0) if parts else np.zeros_like(theta)

        return _joined([out.detach().numpy() for _, _, out in outs]), pullback

    def _blocks(self, data: Dataset) -> list[tuple[int, int]]:
        """Queries, or blocks of rows, for a plain loop: torch has its own threads."""
        if self.lists:
            return [(a, b) for a, b in itertools.pairwise(data.offsets.tolist()) if a < b]
        return [(a, min(a + BLOCK, data.n_documents)) for a in range(0, data.n_documents, BLOCK)]


class _Net:
    """A module with the parameters θ, copied so that threads do not share it."""

    def __init__(self, scorer: Torch, theta: Array, n_features: int) -> None:
        self.torch, self.net = _torch(), copy.deepcopy(_template(scorer.module, n_features))
        self.torch.nn.utils.vector_to_parameters(self.torch.from_numpy(theta.copy()), self.net.parameters())

    def score(self, X: Features, blocks: list[tuple[int, int]]) -> Array:
        with self.torch.no_grad():
            return _joined([self.forward(X[a:b]).numpy() for a, b in blocks])

    def forward(self, X: Features) -> Any:
        rows = dense(X).astype(np.float64)
        out = self.net(self.torch.from_numpy(rows))
        if out.numel() != len(rows):
            raise IncompatibleError(f"torch: the module gave shape {tuple(out.shape)} for {len(rows)} rows.")
        return out.reshape(-1)

    def backward(self, out: torch.Tensor, gradient: Array) -> Array:
        above, theta = self.torch.from_numpy(np.array(gradient)), list(self.net.parameters())
        gradients = self.torch.autograd.grad(out, theta, above, retain_graph=True, materialize_grads=True)
        return np.concatenate([g.numpy().ravel() for g in gradients])


def _joined(parts: list[Array]) -> Array:
    return np.concatenate(parts) if parts else np.empty(0)


@functools.lru_cache(maxsize=8)
def _template(module: str, n_features: int) -> Any:
    """A module of which only the shapes of its parameters are used."""
    torch = _torch()
    with torch.random.fork_rng(devices=[]):
        return _make(module, n_features)


def _make(module: str, n_features: int) -> Any:
    if module not in _trusted | set(os.environ.get("PODIUM_TORCH", "").split(",")):
        raise ParameterError(
            f"torch: {module} is code, and this process was not told to run it. "
            f"If you trust it, set PODIUM_TORCH={module} or call podium.scorers.torch.trust({module!r})."
        )
    file, _, factory = module.partition(":")
    try:
        net = getattr(importlib.import_module(file), factory)(n_features).double().eval()
    except (ImportError, AttributeError, ValueError) as error:
        raise ParameterError(
            f"torch: module must be package.file:factory; {module} cannot be made: {error}."
        ) from error
    if next(net.buffers(), None) is not None:
        raise ParameterError(
            f"torch: {module} has buffers beside its parameters, which no solver moves. Leave them out."
        )
    return net


def require_torch(purpose: str) -> Any:
    """Import torch, or say what needs it."""
    try:
        import torch
    except ImportError:
        raise MissingPackageError("torch", purpose, "torch") from None
    return torch


def _torch() -> Any:
    return require_torch("scorer=torch")
