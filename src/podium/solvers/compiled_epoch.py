"""Compiled epochs of stochastic solvers: the steps on a linear scorer in one loop, without calls of Python.

The results have the bits of `Problem.on` and the solver's `step`, unless a batch is so large that `Problem.on` adds up
by blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, cast

import numpy as np

from podium.base.arrays import Array, Ints, Singles
from podium.base.matrix_on_disk import on_disk
from podium.jit.compiled import address, compiled, function_at
from podium.jit.views import view
from podium.kernels.sums import add_up
from podium.losses.sweep import GRADES, grades_at, kernel_params
from podium.problem import Problem
from podium.scorers.linear import Linear, add_rows, times

if TYPE_CHECKING:
    from podium.data.dataset import Dataset

STEP = "void(float64[::1], float64[:, ::1], float64[::1], float64[::1])"
"""Signature of a solver's step: (gradient, memory per parameter, numbers, out: what to subtract from θ)."""
_AT_ONCE = 20_000_000
"""Documents × parameters per compiled call: few enough to be interrupted soon, enough to hide its cost."""
_READ = 5
"""Factor by which fewer documents × features (16 MB) are in a call if features are on disk."""
_MOST = 32_768
"""Batches with more documents are computed on threads, by `Problem.on`."""
_STEP = 8
"""Cost of a solver's step on all parameters, in documents."""


def applies(problem: Problem, batch: int) -> bool:
    """Whether batches of this size can be compiled: plain grades, and features that are not sparse."""
    X = problem.data.features
    dense = isinstance(X, np.ndarray) or on_disk(X)
    return (
        type(problem.scorer) is Linear
        and dense
        and is_plain(problem)
        and problem.data.base_scores is None
        and _most(problem, batch) < _MOST
    )


def is_plain(problem: Problem) -> bool:
    """Whether a loop over queries needs only scores and grades: no weights, offsets, preferences or learned losses."""
    data, loss = problem.data, problem.loss
    return (
        type(problem) is Problem
        and data.labels is not None
        and all(x is None for x in (data.document_weights, data.query_weights, data.score_offsets))
        and not loss.uses_edges(data)
        and not loss.learned
    )


def steps(
    problem: Problem, theta: Array, queries: Ints, batch: int, move: Callable[..., None], memory: tuple[Array, Array],
    *, first_step: int,
) -> Iterator[float]:  # fmt: skip
    """Move θ by a step for each batch of queries; yields the objective before each step.

    As in `Problem.on`, a loss that samples draws again in each step, with the number of queries before it as seed.
    """
    data, loss = problem.data, problem.loss
    penalties, params = problem.penalty * problem.penalised, kernel_params(problem.constants)
    draws, seed = (-1, 0.0) if loss.seed_at is None else (loss.seed_at, problem.constants[loss.seed_at])
    cells_on_disk = _READ * on_disk(data.features) * data.n_features
    of_batch = batch * data.n_documents // max(data.n_queries, 1) + _STEP
    queries_per_call = batch * max(1, _AT_ONCE // (of_batch * max(len(theta), cells_on_disk)))
    room = np.empty((3, _most(problem, batch)))
    for first in range(0, len(queries), queries_per_call):
        X, labels, offsets, indices = _in_memory(data, queries[first : first + queries_per_call])
        values = np.empty(-(-len(indices) // batch))
        _run(
            address(loss.grades, GRADES), address(move, STEP), X, labels, offsets, indices, batch, theta, *memory,
            penalties, params, draws, seed + first_step + first, values, *room, *np.empty((2, len(theta))),
        )  # fmt: skip
        yield from values.tolist()


def _in_memory(data: Dataset, queries: Ints) -> tuple[Singles, Array, Ints, Ints]:
    """Features, labels and offsets of data in memory that has these queries, and their indices in it."""
    if on_disk(data.features):
        data, queries = data.select(queries), np.arange(len(queries))
    assert data.labels is not None, "see `applies`"
    return cast(Singles, data.features[:]), data.labels, data.offsets, queries


def _most(problem: Problem, batch: int) -> int:
    """Largest number of documents that a step can have."""
    return min(batch, problem.data.n_queries) * int(problem.data.sizes.max(initial=0))


@compiled
def _shrink(gradient: Array, penalties: Array, theta: Array) -> float:
    """Add the gradient of the penalty; returns its value."""
    value = 0.0
    for l in range(len(theta)):
        gradient[l] += penalties[l] * theta[l]
        value += 0.5 * penalties[l] * theta[l] * theta[l]
    return value


_step_at = function_at(STEP)


@compiled
def _run(
    kernel: int, step: int, X: Singles, labels: Array, offsets: Ints, queries: Ints, batch: int,
    theta: Array, memory: Array, numbers: Array, penalties: Array, params: Array, draws: int, seed: float,
    values: Array, slopes: Array, bends: Array, scores: Array, gradient: Array, down: Array,
) -> None:  # fmt: skip
    """Move θ by a step for each batch; fill `values` with the objective before it. The last of θ is the offset."""
    program, move = grades_at(kernel), _step_at(step)
    weights, descent = view(theta, 0, len(theta) - 1), view(gradient, 0, len(theta) - 1)
    for s in range(len(values)):
        first, end = s * batch, min((s + 1) * batch, len(queries))
        value, rows = 0.0, 0
        if draws >= 0:
            params[0, draws] = seed + first
        for l in range(len(gradient)):
            gradient[l] = 0.0
        for k in range(first, end):
            q = queries[k]
            a, b = offsets[q], offsets[q + 1]
            last = rows + b - a
            x, f, slope = X[a:b], view(scores, rows, last), view(slopes, rows, last)
            for i in range(rows, last):
                slopes[i], bends[i] = 0.0, 0.0
            for l in range(params.shape[1]):
                params[1, l] = 0.0
            times(x, weights, theta[-1], f)
            value += program(f, view(labels, a, b), slope, view(bends, rows, last), params)
            add_rows(x, slope, descent)
            rows = last
        gradient[-1] = add_up(view(slopes, 0, rows))
        if end - first > 1:
            for l in range(len(gradient)):
                gradient[l] /= end - first
        values[s] = value / (end - first)
        if penalties[0] > 0.0:
            values[s] += _shrink(gradient, penalties, theta)
        move(gradient, memory, numbers, down)
        for l in range(len(theta)):
            theta[l] -= down[l]
