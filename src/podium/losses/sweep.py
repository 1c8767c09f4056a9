"""Sweep: a loss summed over all queries of a dataset, on threads; and the product of its Hessian with a direction.

These are the only loops over queries. Base scores, offsets of clicks, and weights of queries and documents enter here,
so that no loss knows of them. For document weights the kernel is called once per weighted document d, with labels e_d
in which only d is relevant, and w_d × its results are added up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array, Ints
from podium.base.custom_code import readable_errors, require_compiled
from podium.base.errors import DataError
from podium.base.threads import default_threads, pool
from podium.data.dataset import Dataset
from podium.jit.compiled import address, compiled, function_at

if TYPE_CHECKING:
    from podium.losses.base import Loss

GRADES = "float64(float64[::1], float64[::1], float64[::1], float64[::1], float64[:, ::1])"
"""Signature of a kernel on grades: (scores, labels, gradient, curvature, params) → value."""
EDGES = "float64(float64[::1], float64[:, ::1], float64[::1], float64[::1], float64[:, ::1])"
"""Signature of a kernel on edges: (scores, edges, gradient, curvature, params) → value."""


@dataclass(frozen=True)
class Derivatives:
    """Value of a loss, with its derivatives."""

    value: float
    gradient: Array  # (N,) ∂L/∂s
    curvature: Array  # (N,) ∂²L/∂s², or an upper bound of it
    params: Array  # ∂L/∂ each learned parameter
    per_query: Array  # (Q,) value of each query


def sweep(
    loss: Loss, scores: ArrayLike, data: Dataset, *, threads: int | None = None, constants: Array | None = None,
    queries: Ints | None = None,
) -> Derivatives:  # fmt: skip
    """Sum a loss over queries of a dataset, by default all: the only loop over queries.

    The bits do not depend on threads. `constants` are those of the whole data, if `data` is a part of it (see
    `Loss.constants`). Derivatives and values of other `queries` are 0.
    """
    loss.check(data)
    kernel = _kernel(loss, data, loss.grades, loss.edges, weighted=_weighted_sweep)
    return _summed(loss, kernel, scores, data, threads=threads, constants=constants, queries=queries)


def sweep_tables(
    loss: Loss, kernel: Any, scores: ArrayLike, data: Dataset, *, tables: Array, threads: int | None = None,
    constants: Array | None = None,
) -> Derivatives:  # fmt: skip
    """The same by a kernel that has a table for each query, a row for each document, which it may also write to."""
    loss.check(data)
    whole = _Kernel(_over_edges, kernel, _address(loss, kernel, EDGES), tables, data.offsets)
    return _summed(loss, whole, scores, data, threads=threads, constants=constants)


def _summed(
    loss: Loss, kernel: _Kernel, scores: ArrayLike, data: Dataset, *, threads: int | None, constants: Array | None,
    queries: Ints | None = None,
) -> Derivatives:  # fmt: skip
    s = np.ascontiguousarray(scores, np.float64)
    if len(s) != data.n_documents:
        raise DataError(f"{len(s)} scores for {data.n_documents} documents.", where=data.source)
    s = _whole_scores(s, data)
    constants = loss.constants(data) if constants is None else constants
    gradient, curvature, values = np.zeros(len(s)), np.zeros(len(s)), np.zeros(data.n_queries)
    learned = np.zeros((data.n_queries, len(constants)))

    size = f" for a query of {data.n_documents} documents" if data.n_queries == 1 else ""
    with readable_errors(kernel.function, f"the kernel of {loss.name}", called_with=size):
        _run(kernel, data.offsets, s, gradient, curvature, values, constants, learned, threads=threads, queries=queries)
    if data.query_weights is not None:
        per_document = data.query_weights_of_rows()
        gradient, curvature, values = gradient * per_document, curvature * per_document, values * data.query_weights
        learned = learned * data.query_weights[:, None]
    params = np.zeros(0)
    if loss.learned:
        fields = list(loss.numeric_fields())
        params = learned[:, [fields.index(name) for name in loss.learned]].sum(axis=0)
    return Derivatives(float(values.sum()), gradient, curvature, params, values)


def product(
    loss: Loss, scores: Array, data: Dataset, *, direction: Array, threads: int | None = None,
    constants: Array | None = None,
) -> Array:  # fmt: skip
    """Multiply the Hessian of a loss over all queries by a direction; H is block diagonal and never stored."""
    out, v, unused = np.zeros(len(scores)), np.ascontiguousarray(direction, np.float64), np.zeros(data.n_queries)
    scores = _whole_scores(scores, data)
    constants = loss.constants(data) if constants is None else constants
    unlearned = np.zeros((data.n_queries, len(constants)))

    kernel = _kernel(loss, data, loss.grades_product, loss.edges_product, weighted=_weighted_product)
    _run(kernel, data.offsets, scores, v, out, unused, constants, unlearned, threads=threads)
    return out if data.query_weights is None else out * data.query_weights_of_rows()


def _whole_scores(scores: Array, data: Dataset) -> Array:
    """Scores as a loss sees them: on top of base scores, with the offsets of clicks."""
    scores = data.added_to_base(scores)
    return scores if data.score_offsets is None else scores + data.score_offsets


@dataclass(frozen=True)
class _Kernel:
    """Kernel of a loss on a dataset: its loop over queries, its address, and the labels that it reads."""

    loop: Callable[..., None]
    function: Any  # compiled
    address: int
    labels: Array  # grades (N,), edges (M, 4), document weights (N,), or the rows of tables (N, …)
    offsets: Ints  # (Q+1,) labels of query q are labels[offsets[q] : offsets[q + 1]]


def _kernel(loss: Loss, data: Dataset, grades: Any, edges: Any, *, weighted: Callable[..., None]) -> _Kernel:
    """Choose the kernel and the loop for the data; `weighted` loops over document weights."""
    if loss.uses_edges(data):
        preferences: Any = data.preferences
        return _Kernel(_over_edges, edges, _address(loss, edges, EDGES), preferences.edges, preferences.offsets)
    program = _address(loss, grades, GRADES)
    if data.document_weights is None:
        return _Kernel(over_grades, grades, program, data.labels, data.offsets)  # type: ignore[arg-type]
    loop = over_grades if loss.linear_in_labels else weighted
    return _Kernel(loop, grades, program, data.relevance(), data.offsets)


def _address(loss: Loss, kernel: Any, signature: str) -> int:
    """Address of a kernel's machine code; raises a clear error with the kernel's line if it cannot be compiled."""
    require_compiled(kernel, f"the kernel of {loss.name}")
    with readable_errors(kernel, f"the kernel of {loss.name}"):
        return address(kernel, signature)


def _run(
    kernel: _Kernel, offsets: Ints, scores: Array, gradient: Array, curvature: Array, values: Array,
    constants: Array, learned: Array, *, threads: int | None, queries: Ints | None = None,
) -> None:  # fmt: skip
    """Call a kernel for every query, or for some, by blocks of queries on threads."""
    swept = np.arange(len(offsets) - 1) if queries is None else queries

    def run(first: int, last: int) -> None:
        kernel.loop(
            kernel.address, scores, kernel.labels, kernel.offsets, offsets, swept[first:last],
            gradient, curvature, values, kernel_params(constants), learned,
        )  # fmt: skip

    small = len(scores) < SMALL or len(swept) <= 1
    threads = 1 if small else default_threads() if threads is None else threads
    if threads == 1:
        run(0, len(swept))
        return
    ends = np.cumsum(np.diff(offsets)[swept])  # documents up to each query
    cuts = np.searchsorted(ends, np.linspace(0, ends[-1], 4 * threads + 1))
    cuts[-1] = len(swept)
    run(0, 0)  # compiles once, before the threads would do so together
    list(pool(threads).map(run, cuts[:-1].tolist(), cuts[1:].tolist()))


SMALL = 4096
"""Data with fewer documents is swept on one thread: starting threads would take longer."""


def kernel_params(constants: Array) -> Array:
    """`params` of a kernel: the constants, and a row of zeros for the derivatives of learned parameters."""
    params = np.zeros((2, len(constants)))
    params[0] = constants
    return params


grades_at = function_at(GRADES)
"""For compiled functions: the kernel on grades at an address."""


def _loop(kernel_at: Callable[[int], Callable[..., float]]) -> Callable[..., None]:
    """Loop over queries, given by number, for kernels of one signature."""

    @compiled
    def run(
        kernel: int, scores: Array, labels: Array, label_offsets: Ints, offsets: Ints, queries: Ints,
        gradient: Array, curvature: Array, values: Array, params: Array, learned: Array,
    ) -> None:  # fmt: skip
        program = kernel_at(kernel)
        for q in queries:
            a, b = offsets[q], offsets[q + 1]
            labels_of_query = labels[label_offsets[q] : label_offsets[q + 1]]
            for k in range(params.shape[1]):
                params[1, k] = 0.0
            values[q] = program(scores[a:b], labels_of_query, gradient[a:b], curvature[a:b], params)
            for k in range(params.shape[1]):
                learned[q, k] = params[1, k]

    return run


over_grades, _over_edges = _loop(grades_at), _loop(function_at(EDGES))


@compiled
def _weighted_sweep(
    kernel: int, scores: Array, weights: Array, _: Ints, offsets: Ints, queries: Ints,
    gradient: Array, curvature: Array, values: Array, params: Array, learned: Array,
) -> None:  # fmt: skip
    """Σ_d w_d L(s, e_d) of each query, e_d = 1 at d and 0 elsewhere; |w_d| × curvature, a divisor in boosting."""
    program = grades_at(kernel)
    for q in queries:
        a, b = offsets[q], offsets[q + 1]
        only_d, slope, bend = np.zeros(b - a), np.empty(b - a), np.empty(b - a)
        for d in range(b - a):
            w = weights[a + d]
            if w == 0.0:
                continue
            for k in range(params.shape[1]):
                params[1, k] = 0.0
            only_d[d] = 1.0
            values[q] += w * program(scores[a:b], only_d, slope, bend, params)
            only_d[d] = 0.0
            for i in range(b - a):
                gradient[a + i] += w * slope[i]
                curvature[a + i] += abs(w) * bend[i]
            for k in range(params.shape[1]):
                learned[q, k] += w * params[1, k]


@compiled
def _weighted_product(
    kernel: int, scores: Array, weights: Array, _: Ints, offsets: Ints, queries: Ints,
    direction: Array, out: Array, values: Array, params: Array, learned: Array,
) -> None:  # fmt: skip
    """Σ_d w_d H(s, e_d)v of each query."""
    program = grades_at(kernel)
    for q in queries:
        a, b = offsets[q], offsets[q + 1]
        only_d, part = np.zeros(b - a), np.empty(b - a)
        for d in range(b - a):
            w = weights[a + d]
            if w != 0.0:
                only_d[d] = 1.0
                program(scores[a:b], only_d, direction[a:b], part, params)
                only_d[d] = 0.0
                for i in range(b - a):
                    out[a + i] += w * part[i]
