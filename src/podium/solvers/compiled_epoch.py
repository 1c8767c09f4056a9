"""Stochastic steps on linear scorers as one compiled loop: a step costs its arithmetic and not its calls.

It does what `Problem.on` and the solver's `step` do, query by query, to the same bits, unless the step is so large
that `Problem.on` adds up by blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Array
from podium.base.matrix_on_disk import on_disk
from podium.data.dataset import Dataset
from podium.jit.compiled import address, compiled, function_at
from podium.kernels.sums import add_up
from podium.losses.base import GRADES, grades_at, kernel_params
from podium.problem import Problem
from podium.scorers.linear import Linear, add_rows, times

STEP = "void(float64[::1], float64[:, ::1], float64[::1], float64[::1])"
"""A solver's step: (gradient, what it remembers per parameter, its numbers, out: what to subtract from θ)."""
_AT_ONCE = 20_000_000
"""Documents × parameters in one call: few enough for an interrupt to be seen soon, many enough to hide its cost."""
_READ = 5
"""Of rows that are not in memory, documents × features in one call are fewer by this factor: 16 MB."""
_MOST = 32_768
"""Documents in a step, above which the work of a step is worth sharing between threads."""
_STEP = 8
"""The documents that a solver's step on all parameters costs as much as."""


def applies(problem: Problem, batch: int) -> bool:
    """Whether it can take batches of so many queries: plain grades, and features that are not sparse."""
    data, loss = problem.data, problem.loss
    return (
        type(problem) is Problem
        and type(problem.scorer) is Linear
        and (isinstance(data.features, np.ndarray) or on_disk(data.features))
        and data.labels is not None
        and all(x is None for x in (data.document_weights, data.query_weights, data.score_offsets))
        and not loss.uses_edges(data)
        and not loss.learned
        and _most(problem, batch) < _MOST
    )


def steps(
    problem: Problem, theta: Array, queries: NDArray[np.int64], batch: int, move: Any, memory: tuple[Array, Array],
    *, first_step: int,
) -> Iterator[float]:  # fmt: skip
    """Move θ by a step for each batch of queries; the objective before each step.

    As with `Problem.on`, a loss that draws at random draws anew for each step: the number of the queries before it.
    """
    data, loss = problem.data, problem.loss
    penalties, params = problem.penalty * problem.penalised, kernel_params(problem.constants)
    draws, seed = (-1, 0.0) if loss.seed_at is None else (loss.seed_at, problem.constants[loss.seed_at])
    of_batch = batch * data.n_documents // max(data.n_queries, 1) + _STEP
    some = batch * max(1, _AT_ONCE // (of_batch * max(len(theta), _READ * on_disk(data.features) * data.n_features)))
    for first in range(0, len(queries), some):
        part, mine = _in_memory(data, queries[first : first + some])
        values = np.empty(-(-len(mine) // batch))
        _run(
            address(loss.grades, GRADES), address(move, STEP), part.features, part.labels, part.offsets, mine, batch,
            _most(problem, batch), theta, *memory, penalties, params, draws, seed + first_step + first, values,
        )  # fmt: skip
        yield from values.tolist()


def _in_memory(data: Dataset, queries: NDArray[np.int64]) -> tuple[Dataset, NDArray[np.int64]]:
    """Data in memory that holds some queries, and their numbers in it."""
    if not on_disk(data.features):
        return data, queries
    read = data.select(queries)
    return read.with_features(read.features[:], read.feature_names), np.arange(len(queries))


def _most(problem: Problem, batch: int) -> int:
    """As many documents as a step may have."""
    return min(batch, problem.data.n_queries) * int(problem.data.sizes.max(initial=0))


@compiled
def _shrink(gradient: Any, penalties: Any, theta: Any) -> float:
    """Add the penalty's slopes; its value."""
    value = 0.0
    for l in range(len(theta)):
        gradient[l] += penalties[l] * theta[l]
        value += 0.5 * penalties[l] * theta[l] * theta[l]
    return value


_step_at = function_at(STEP)


@compiled
def _run(
    kernel: Any, step: Any, X: Any, labels: Any, offsets: Any, queries: Any, batch: Any, most: Any,
    theta: Any, memory: Any, numbers: Any, penalties: Any, params: Any, draws: Any, seed: Any, values: Any,
) -> None:  # fmt: skip
    """Move θ by a step for each batch; fill `values` with the objective before it. θ's last entry is the offset."""
    program, move = grades_at(kernel), _step_at(step)
    slopes, bends, scores = np.empty(most), np.empty(most), np.empty(most)
    gradient, down = np.empty(len(theta)), np.empty(len(theta))
    for s in range(len(values)):
        first, end = s * batch, min((s + 1) * batch, len(queries))
        value, rows = 0.0, 0
        if draws >= 0:
            params[0, draws] = seed + first
        for l in range(len(gradient)):
            gradient[l] = 0.0
        for q in queries[first:end]:
            a, b = offsets[q], offsets[q + 1]
            last = rows + b - a
            for i in range(rows, last):
                slopes[i], bends[i] = 0.0, 0.0
            for k in range(params.shape[1]):
                params[1, k] = 0.0
            times(X[a:b], theta[:-1], theta[-1], scores[rows:last])
            value += program(scores[rows:last], labels[a:b], slopes[rows:last], bends[rows:last], params)
            add_rows(X[a:b], slopes[rows:last], gradient[:-1])
            rows = last
        gradient[-1] = add_up(slopes[:rows])
        if end - first > 1:
            for l in range(len(gradient)):
                gradient[l] /= end - first
        values[s] = value / (end - first)
        if penalties[0] > 0.0:
            values[s] += _shrink(gradient, penalties, theta)
        move(gradient, memory, numbers, down)
        for l in range(len(theta)):
            theta[l] -= down[l]
