"""Stochastic steps on a linear scorer as one compiled loop, so that a step costs its arithmetic and not its calls.

It does what `Problem.on` and the solver's `step` do, in the same order: the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.arrays import Array
from podium.compiled import address, compiled, function_at
from podium.kernels.exponentials import add_up
from podium.losses.base import GRADES, SMALL, grades_at, kernel_params
from podium.problem import Problem
from podium.scorers.linear import Linear, add_rows, times

STEP = "void(float64[::1], float64[:, ::1], float64[::1], float64[::1])"
"""A solver's step: (gradient, what it remembers per parameter, its numbers, out: what to subtract from θ)."""
_AT_ONCE = 20_000
"""Documents in one call: few enough for an interrupt to be seen soon, many enough to hide the cost of the call."""


def applies(problem: Problem, batch: int) -> bool:
    """Whether it can take batches of so many queries: plain grades, and features in memory."""
    data, loss = problem.data, problem.loss
    return (
        type(problem) is Problem
        and type(problem.scorer) is Linear
        and isinstance(data.features, np.ndarray)
        and data.labels is not None
        and all(x is None for x in (data.document_weights, data.query_weights, data.score_offsets))
        and not loss.uses_edges(data)
        and not loss.learned
        and (problem.seed_at is not None or loss.resampled(1) is loss)
        and batch * int(data.sizes.max(initial=0)) < SMALL
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
    draws, seed = (-1, 0.0) if problem.seed_at is None else (problem.seed_at, problem.constants[problem.seed_at])
    of_batch = batch * data.n_documents // max(data.n_queries, 1) + 1
    some = batch * max(1, _AT_ONCE // of_batch)
    for first in range(0, len(queries), some):
        mine = queries[first : first + some]
        values = np.empty(-(-len(mine) // batch))
        _run(
            address(loss.grades, GRADES), address(move, STEP), data.features, data.labels, data.offsets, mine, batch,
            theta, *memory, penalties, params, draws, seed + first_step + first, values,
        )  # fmt: skip
        yield from values.tolist()


_step_at = function_at(STEP)


@compiled
def _run(
    kernel: Any, step: Any, X: Any, labels: Any, offsets: Any, queries: Any, batch: Any, theta: Any, memory: Any,
    numbers: Any, penalties: Any, params: Any, draws: Any, seed: Any, values: Any,
) -> None:  # fmt: skip
    program, move = grades_at(kernel), _step_at(step)
    slopes, bends, scores = np.empty(SMALL), np.empty(SMALL), np.empty(SMALL)
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
        shrinkage = 0.0
        for l in range(len(gradient)):
            gradient[l] = gradient[l] / (end - first) + penalties[l] * theta[l]
            shrinkage += 0.5 * penalties[l] * theta[l] * theta[l]
        values[s] = value / (end - first) + shrinkage
        move(gradient, memory, numbers, down)
        for l in range(len(theta)):
            theta[l] -= down[l]
