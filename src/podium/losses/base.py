"""Losses: value, gradient and curvature of one query's scores; and the sweep over all queries.

A loss is a frozen value that names a compiled kernel. A kernel sees ONE query, as contiguous float64 arrays:

    kernel(scores, labels, gradient, curvature, params) -> value

It fills `gradient` with ∂L/∂s and `curvature` with a diagonal second derivative, and returns L. `params[0]` holds
the loss's numeric parameters in the order of its fields; a loss that lists some as `learned` writes their
derivatives to `params[1]`, at the same places. Losses never see features.

What is known of a query's order comes as grades, `labels[i]` per document, or as edges, rows (winner, loser,
probability). A loss that understands edges names a second kernel for them, of the same shape.
"""

from __future__ import annotations

import dataclasses
import functools
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numba import types
from numpy.typing import ArrayLike, NDArray

from podium.arrays import Array
from podium.compiled import compiled
from podium.data.dataset import Dataset
from podium.data.preferences import from_rows
from podium.errors import DataError, IncompatibleError
from podium.registry import Named, field_types
from podium.threads import default_threads, pool

_f8, _i8 = types.float64, types.int64
GRADES = _f8(_f8[::1], _f8[::1], _f8[::1], _f8[::1], _f8[:, ::1])
"""The kernel of a loss on grades: (scores, labels, gradient, curvature, params) → value."""
EDGES = _f8(_f8[::1], _f8[:, ::1], _f8[::1], _f8[::1], _f8[:, ::1])
"""The kernel of a loss on edges: (scores, edges, gradient, curvature, params) → value."""


@dataclass(frozen=True)
class Derivatives:
    """A loss's value with its derivatives."""

    value: float
    gradient: Array  # (N,) ∂L/∂s
    curvature: Array  # (N,) ∂²L/∂s², or an upper bound of it
    params: Array  # ∂L/∂ the learned parameters, in their order
    per_query: Array  # (Q,) the value of each query


class Loss(Named):
    """A function of the scores and labels of a query; smaller is better. Its fields are its parameters."""

    kind: ClassVar[str] = "loss"
    home: ClassVar[str] = "podium.losses"
    grades: ClassVar[Any] = None
    """Its kernel on grades, or None."""
    edges: ClassVar[Any] = None
    """Its kernel on edges, or None."""
    grades_product: ClassVar[Any] = None
    """Its Hessian times a direction v, on grades: (scores, labels, v, out, params) → 0; or None. See `product`."""
    edges_product: ClassVar[Any] = None
    """The same on edges, or None."""
    learned: ClassVar[tuple[str, ...]] = ()
    """The parameters that are trained along with the scorer, from their given values."""
    shift_invariant: ClassVar[bool] = True
    """Whether adding a number to all of a query's scores changes nothing."""
    convex: ClassVar[bool] = False
    """Whether it is a convex function of the scores, at least 0: then any tangent bounds it from below."""
    curvature_is: ClassVar[Literal["exact", "bound"]] = "exact"
    """Whether `curvature` is ∂²L/∂s² or something at least as large that boosting can divide by."""
    surrogate: ClassVar[str | None] = None
    """What the gradient is the exact derivative of, where that is not the value itself."""

    def __call__(self, scores: ArrayLike, labels: ArrayLike) -> Derivatives:
        """The loss of one query; `labels` are grades (n,), or edges (m, 2 or 3): winner, loser[, probability]."""
        s, y = np.array(scores, np.float64), np.array(labels, np.float64)
        if (self.grades if y.ndim == 1 else self.edges) is None:
            raise IncompatibleError(f"{self.name} does not learn from {'grades' if y.ndim == 1 else 'preferences'}.")
        one_query = np.array([0, len(s)])
        if y.ndim == 1:
            if len(y) != len(s):
                raise DataError(f"{len(y)} labels for {len(s)} scores.")
            return _run(self, s, y, one_query)
        edges = from_rows(y[:, 0], y[:, 1], y[:, 2] if y.shape[1] > 2 else None, offsets=one_query)
        return _run(self, s, edges.edges, one_query, edge_offsets=edges.offsets)

    @property
    def compares_ties(self) -> bool:
        """Whether it compares documents of equal grade, which then ask for equal scores."""
        return False

    def objective(self, scores: ArrayLike, labels: ArrayLike) -> Callable[[Array], float]:
        """The function of scores whose derivative at `scores` is the gradient: the value, unless a surrogate."""
        return lambda moved: self(moved, labels).value

    def check(self, data: Dataset) -> None:
        """Refuse, in words, data that this loss cannot learn from."""
        if self.uses_edges(data):
            return
        if data.labels is None:
            has = "only preferences" if data.preferences is not None else "neither labels nor preferences"
            raise IncompatibleError(
                f"{self.name} learns from grades, but the data has {has}. "
                "Use data with labels" + (", or a pairwise loss such as ranknet." if data.preferences else ".")
            )
        if self.grades is None:
            raise IncompatibleError(f"{self.name} learns from preferences (edges), but the data has only grades.")

    def uses_edges(self, data: Dataset) -> bool:
        """Explicit preferences come before grades wherever the loss understands them."""
        return self.edges is not None and data.preferences is not None

    def numeric_fields(self) -> dict[str, float]:
        """Its numeric fields; a choice counts as its place in the list, None as −1."""
        found: dict[str, float] = {}
        for field, hint in field_types(type(self)).items():
            value = getattr(self, field)
            if typing.get_origin(hint) is Literal:
                found[field] = float(typing.get_args(hint).index(value))
            elif value is None or isinstance(value, (bool, int, float)):
                found[field] = -1.0 if value is None else float(value)
        return found

    def kernel_constants(self, labels: Array) -> Array:
        """What the kernel finds in `params[0]`: its numeric fields, and what else it needs, after them.

        `labels` are the grades of all documents (N,), or all edges (M, 3).
        """
        return np.array(list(self.numeric_fields().values()), np.float64)

    def resampled(self, step: int) -> Loss:
        """The same loss with other draws, for a step of a stochastic solver; itself where it draws nothing.

        A loss that draws at random has a field `seed`, and the same seed gives the same bits.
        """
        if "seed" not in field_types(type(self)):
            return self
        return dataclasses.replace(self, seed=self.seed + step)  # type: ignore[type-var,attr-defined]

    def learned_values(self) -> Array:
        """The present values of the learned parameters."""
        return np.array([getattr(self, name) for name in self.learned], np.float64)

    def rank_distribution(self) -> tuple[Any, float] | None:
        """The `RankingDistribution` that training makes likely, and what scores are divided by in it; or None."""
        return None

    def with_learned(self, values: ArrayLike) -> Loss:
        """The same loss with other values of its learned parameters."""
        if not self.learned:
            return self
        return dataclasses.replace(self, **dict(zip(self.learned, map(float, np.asarray(values)), strict=True)))  # type: ignore[type-var]


def sweep(loss: Loss, scores: ArrayLike, data: Dataset, *, threads: int | None = None) -> Derivatives:
    """A loss over all queries of a dataset: the only loop over queries. Threads do not change a bit of it."""
    s = np.ascontiguousarray(scores, np.float64)
    if len(s) != data.n_documents:
        raise DataError(f"{len(s)} scores for {data.n_documents} documents.", where=data.source)
    loss.check(data)
    if loss.uses_edges(data):
        known, edge_offsets = data.preferences.edges, data.preferences.offsets  # type: ignore[union-attr]
    else:
        known, edge_offsets = data.labels, None
    return _run(loss, s, known, data.offsets, edge_offsets=edge_offsets, weights=data.query_weights, threads=threads)


def product(loss: Loss, scores: Array, data: Dataset, *, direction: Array, threads: int | None = None) -> Array:
    """The Hessian of a loss over all queries times a direction: H is block diagonal, and is never written down."""
    out, v, none = np.zeros(len(scores)), np.ascontiguousarray(direction, np.float64), np.zeros(data.n_queries)
    edges = data.preferences if loss.uses_edges(data) else None
    known: Any = data.labels if edges is None else edges.edges
    numbers = loss.kernel_constants(known)
    unlearned = np.zeros((data.n_queries, len(numbers)))

    def run(first: int, last: int) -> None:
        rest = (data.offsets, first, last, v, out, none, np.vstack([numbers, np.zeros(len(numbers))]), unlearned)
        if edges is None:
            _compiled_grades()(loss.grades_product, scores, known, *rest)
        else:
            _compiled_edges()(loss.edges_product, scores, known, edges.offsets, *rest)

    _over_queries(run, data.offsets, threads)
    return out if data.query_weights is None else out * np.repeat(data.query_weights, data.sizes)


_SMALL = 4096  # documents below which starting threads costs more than it saves


def _run(
    loss: Loss,
    scores: Array,
    known: Any,
    offsets: NDArray[np.int64],
    *,
    edge_offsets: NDArray[np.int64] | None = None,
    weights: Array | None = None,
    threads: int | None = None,
) -> Derivatives:
    n_queries, numbers = len(offsets) - 1, loss.kernel_constants(known)
    gradient, curvature, values = np.zeros(len(scores)), np.zeros(len(scores)), np.zeros(n_queries)
    learned = np.zeros((n_queries, len(numbers)))

    def run(first: int, last: int) -> None:
        params = np.vstack([numbers, np.zeros(len(numbers))])
        rest = (offsets, first, last, gradient, curvature, values, params, learned)
        if edge_offsets is None:
            _compiled_grades()(loss.grades, scores, known, *rest)
        else:
            _compiled_edges()(loss.edges, scores, known, edge_offsets, *rest)

    _over_queries(run, offsets, threads)
    if weights is not None:
        per_document = np.repeat(weights, np.diff(offsets))
        gradient, curvature, values = gradient * per_document, curvature * per_document, values * weights
        learned = learned * weights[:, None]
    places = [list(loss.numeric_fields()).index(name) for name in loss.learned]
    return Derivatives(float(values.sum()), gradient, curvature, learned[:, places].sum(axis=0), values)


def _over_queries(run: Callable[[int, int], None], offsets: NDArray[np.int64], threads: int | None) -> None:
    """Call `run(first, last)` for blocks of queries that cover all, on threads."""
    threads = default_threads() if threads is None else threads
    n_queries, n_documents = len(offsets) - 1, int(offsets[-1])
    if threads == 1 or n_documents < _SMALL or n_queries == 1:
        run(0, n_queries)
        return
    cuts = np.searchsorted(offsets, np.linspace(0, n_documents, 4 * threads + 1)).clip(0, n_queries)
    cuts[-1] = n_queries
    run(0, 0)  # compiles once, before the threads would do so together
    list(pool(threads).map(run, cuts[:-1].tolist(), cuts[1:].tolist()))


@compiled
def _sweep_grades(
    program: Any, scores: Any, labels: Any, offsets: Any, first: Any, last: Any,
    gradient: Any, curvature: Any, values: Any, params: Any, learned: Any,
) -> None:  # fmt: skip
    for q in range(first, last):
        a, b = offsets[q], offsets[q + 1]
        for k in range(params.shape[1]):
            params[1, k] = 0.0
        values[q] = program(scores[a:b], labels[a:b], gradient[a:b], curvature[a:b], params)
        for k in range(params.shape[1]):
            learned[q, k] = params[1, k]


@compiled
def _sweep_edges(
    program: Any, scores: Any, edges: Any, edge_offsets: Any, offsets: Any, first: Any, last: Any,
    gradient: Any, curvature: Any, values: Any, params: Any, learned: Any,
) -> None:  # fmt: skip
    for q in range(first, last):
        a, b = offsets[q], offsets[q + 1]
        mine = edges[edge_offsets[q] : edge_offsets[q + 1]]
        for k in range(params.shape[1]):
            params[1, k] = 0.0
        values[q] = program(scores[a:b], mine, gradient[a:b], curvature[a:b], params)
        for k in range(params.shape[1]):
            learned[q, k] = params[1, k]


_REST = (_i8[::1], _i8, _i8, _f8[::1], _f8[::1], _f8[::1], _f8[:, ::1], _f8[:, ::1])


@functools.cache
def _compiled_grades() -> Any:
    return _for_any(_sweep_grades, (types.FunctionType(GRADES), _f8[::1], _f8[::1], *_REST))


@functools.cache
def _compiled_edges() -> Any:
    return _for_any(_sweep_edges, (types.FunctionType(EDGES), _f8[::1], _f8[:, ::1], _i8[::1], *_REST))


def _for_any(sweeper: Any, signature: tuple[Any, ...]) -> Any:
    """Compile a sweep once, for any kernel by pointer, instead of once per kernel."""
    sweeper.compile(types.void(*signature))
    sweeper.disable_compile()
    return sweeper
