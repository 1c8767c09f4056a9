"""Stochastic gradient descent over mini-batches of queries, with momentum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.errors import ParameterError
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.solvers import compiled_epoch
from podium.solvers.base import Solution, Solver, best_or_last

if TYPE_CHECKING:
    from podium.problem import Problem
    from podium.solvers.early_stopping import Watch

Memory = tuple[Array, Array]


@compiled
def _step(gradient: Array, memory: Array, numbers: Array, out: Array) -> None:
    rate, momentum, v = numbers[0], numbers[1], memory[0]
    for l in range(len(gradient)):
        v[l] = momentum * v[l] + gradient[l]
        out[l] = rate * v[l]


@register
class SGD(Solver):
    """Stochastic gradient descent: θ ← θ − rate·v, v ← momentum·v + gradient, over shuffled batches of queries.

    With validation data, training stops early and the best epoch is kept.
    """

    learning_rate: float = param(default=0.1, above=0, search=(1e-3, 1.0, "log"))
    epochs: int = param(default=100, least=1)
    batch: int = param(default=1, least=1)
    """Queries per step."""
    penalty: float = param(default=0.0, least=0, search=(1e-4, 10.0, "log"))
    momentum: float = param(default=0.0, least=0, below=1)
    patience: int | None = param(default=10, least=1)
    """Early stopping: end after this many epochs without a better validation metric."""
    name = "sgd"
    means: ClassVar[int] = 1
    """Number of arrays as long as θ in the memory of its steps."""
    kernel: ClassVar[Any] = staticmethod(_step)
    """Compiled step; see `compiled_epoch.STEP`."""

    def solve(self, problem: Problem, rng: np.random.Generator, watch: Watch) -> Solution:
        theta = problem.start(rng)
        memory = self.begin(theta)
        queries = np.arange(problem.data.n_queries)
        value, epoch, reason = np.inf, 0, f"{self.epochs} epochs were allowed"
        for epoch in range(1, self.epochs + 1):
            rng.shuffle(queries)
            now, value = self._epoch(problem, theta, queries, memory, epoch)
            if not np.isfinite(now).all():
                reason = f"diverged in epoch {epoch}; use a smaller rate than {self.learning_rate}"
                if watch.best is None:
                    raise ParameterError(f"{self.name} {reason}, or scale the features with transform=zscore.")
                break
            theta = now
            if watch.record(
                epoch,
                self.epochs,
                value,
                scores=lambda data, now=now: problem.scores(now, data),  # type: ignore[misc]
                state=now,
                patience=self.patience,
            ):
                reason = "no better validation measure"
                break
        return best_or_last(problem, theta, watch, value=value, iterations=epoch, reason=reason)

    def _epoch(self, problem: Problem, theta: Array, queries: Ints, memory: Memory, epoch: int) -> tuple[Array, float]:
        """Parameters after one pass over the queries, and the mean objective of its steps."""
        if compiled_epoch.applies(problem, self.batch):
            now = theta.copy()
            before = (epoch - 1) * len(queries)
            steps = compiled_epoch.steps(problem, now, queries, self.batch, self.kernel, memory, first_step=before)
            return now, float(np.mean(list(steps)))
        values = []
        with np.errstate(over="ignore", invalid="ignore"):  # a step that is too long shows in the parameters
            for start in range(0, len(queries), self.batch):
                chosen = queries[start : start + self.batch]
                batch = problem.data if len(chosen) == problem.data.n_queries else problem.data.select(chosen)
                value, gradient = problem.on(batch, theta, step=(epoch - 1) * len(queries) + start)
                theta = theta - self.step(gradient, memory)
                values.append(value)
        return theta, float(np.mean(values))

    def begin(self, theta: Array) -> Memory:
        """Memory of the steps: arrays as long as θ, and numbers, of which the last counts the steps."""
        return np.zeros((self.means, len(theta))), np.array([self.learning_rate, self.momentum, 0.0])

    def step(self, gradient: Array, memory: Memory) -> Array:
        """Difference to subtract from θ."""
        down = np.empty(len(gradient))
        self.kernel(np.ascontiguousarray(gradient), *memory, down)
        return down
