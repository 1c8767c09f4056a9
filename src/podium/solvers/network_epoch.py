"""Epochs of stochastic solvers on a perceptron: BLAS products in float32, in buffers that are used again in each step.

Parameters, scores and the loss are in float64, layers and their gradients in float32, as in libraries of networks.
A step of many documents is computed by blocks of whole queries, on threads; their gradients are added in fixed order.
"""

from __future__ import annotations

import itertools
import queue
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Array, Ints, Singles
from podium.base.matrix_on_disk import on_disk
from podium.base.threads import default_threads, map_ranges, one_blas_thread
from podium.jit.compiled import address
from podium.losses.sweep import GRADES, kernel_params, over_grades
from podium.scorers.mlp import MLP
from podium.solvers.compiled_epoch import is_plain

if TYPE_CHECKING:
    from podium.problem import Problem

_ROWS = 4096
"""Documents of a block: their layers stay in cache."""


def applies(problem: Problem) -> bool:
    """Whether steps can be made here: a perceptron in float32 without layer norm, plain grades, features not sparse."""
    scorer, X = problem.scorer, problem.data.features
    dense = isinstance(X, np.ndarray) or on_disk(X)
    single = isinstance(scorer, MLP) and scorer.precision == "float32" and not scorer.layer_norm
    return single and dense and is_plain(problem)


def steps(
    problem: Problem, theta: Array, queries: Ints, batch: int, move: Callable[..., None], memory: tuple[Array, Array],
    *, first_step: int,
) -> Iterator[float]:  # fmt: skip
    """Move θ by a step for each batch of queries; yields the objective before each step."""
    network = _Network(problem)
    penalties, gradient, down = problem.penalty * problem.penalised, np.empty(len(theta)), np.empty(len(theta))
    with one_blas_thread():
        for first in range(0, len(queries), batch):
            chosen = queries[first : first + batch]
            value = network.gradient(theta, chosen, first_step + first, gradient)
            if problem.penalty:
                value += 0.5 * float(penalties @ (theta * theta))
                gradient += penalties * theta
            move(gradient, *memory, down)
            theta -= down
            yield value


class _Network:
    """The mean loss of queries and its gradient."""

    def __init__(self, problem: Problem) -> None:
        data, scorer = problem.data, problem.scorer
        assert isinstance(scorer, MLP), "see `applies`"
        assert data.labels is not None, "see `applies`"
        self.problem, self.scorer, self.n_features = problem, scorer, data.n_features
        self.labels, self.offsets, self.base = data.labels, data.offsets, data.base_scores
        self.X: Any = data.features
        self.kernel = address(problem.loss.grades, GRADES)
        most = max(int(data.sizes.max(initial=0)), min(_ROWS, data.n_documents))
        self.spaces = queue.SimpleQueue[_Space]()
        for _ in range(default_threads()):
            self.spaces.put(_Space(scorer, data.n_features, most))
        self.theta = np.empty(scorer.n_params(data.n_features), np.float32)
        self.layers = list(scorer.layers(self.theta, data.n_features))

    def gradient(self, theta: Array, queries: Ints, step: int, out: Array) -> float:
        """The mean loss of the queries; fills `out` with its gradient."""
        self.theta[:] = theta
        constants = self.problem.loss.resampled_constants(self.problem.constants, step)
        sizes = self.offsets[queries + 1] - self.offsets[queries]
        blocks, scorer = _blocks(np.cumsum(sizes)), self.scorer.resampled(step)

        def work(a: int, b: int) -> tuple[float, Singles]:
            space = self.spaces.get()
            try:
                return self._block(space, queries[a:b], constants, scorer.rng(a))
            finally:
                self.spaces.put(space)

        parts = [work(*blocks[0])] if len(blocks) == 1 else map_ranges(work, blocks)
        out[:] = parts[0][1]
        for _, part in parts[1:]:
            out += part
        out /= len(queries)
        return sum(value for value, _ in parts) / len(queries)

    def _block(
        self, space: _Space, queries: Ints, constants: Array, rng: np.random.Generator | None
    ) -> tuple[float, Singles]:
        """The sum of the losses of a block of queries, and its gradient, in the block's own buffer."""
        x, labels, offsets = self._rows(space, queries)
        x, n = self.scorer.noisy(x, rng), len(x)
        scores, slopes, bends, values = space.scores[:n], space.slopes[:n], space.bends[:n], np.empty(len(queries))
        self.scorer.forward_in(space.hidden, space.steepness, self.layers, x, scores, rng)
        if self.base is not None:
            scores += np.concatenate([self.base[self.offsets[q] : self.offsets[q + 1]] for q in queries.tolist()])
        slopes[:], bends[:] = 0.0, 0.0
        learned = np.empty((len(queries), len(constants)))
        over_grades(self.kernel, scores, labels, offsets, offsets, np.arange(len(queries)), slopes, bends, values,
                    kernel_params(constants), learned)  # fmt: skip
        gradient = np.empty_like(self.theta)
        down = list(self.scorer.layers(gradient, self.n_features))
        self.scorer.backward_in(space.hidden, space.steepness, space.flows, self.layers, x, slopes, down)
        return float(values.sum()), gradient

    def _rows(self, space: _Space, queries: Ints) -> tuple[Singles, Array, Ints]:
        """Features, labels and offsets of queries; copied unless there is one query."""
        starts, ends = self.offsets[queries].tolist(), self.offsets[queries + 1].tolist()
        if len(queries) == 1:
            a, b = starts[0], ends[0]
            return self.X[a:b], self.labels[a:b], np.array([0, b - a])
        offsets = np.concatenate([[0], np.cumsum(np.subtract(ends, starts))])
        n = int(offsets[-1])
        x, labels = space.rows[:n], space.labels[:n]
        np.concatenate([self.X[a:b] for a, b in zip(starts, ends, strict=True)], out=x)
        np.concatenate([self.labels[a:b] for a, b in zip(starts, ends, strict=True)], out=labels)
        return x, labels, offsets


class _Space:
    """Buffers for a block of documents."""

    def __init__(self, scorer: MLP, n_features: int, most: int) -> None:
        self.rows, self.labels = np.empty((most, n_features), np.float32), np.empty(most)
        self.hidden, self.steepness, self.flows = (
            [np.empty((most, n), np.float32) for n in scorer.hidden] for _ in range(3)
        )
        self.scores, self.slopes, self.bends = np.empty(most), np.empty(most), np.empty(most)


def _blocks(ends: Ints) -> list[tuple[int, int]]:
    """Ranges of queries, of at most _ROWS documents each unless one query has more; `ends` are their last documents."""
    if ends[-1] <= _ROWS:
        return [(0, len(ends))]
    cuts, before = [0], 0
    for k, end in enumerate(ends.tolist()):
        if end - before > _ROWS and cuts[-1] < k:
            cuts.append(k)
            before = int(ends[k - 1])
    return list(itertools.pairwise([*cuts, len(ends)]))
