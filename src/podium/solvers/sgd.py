"""Stochastic gradient descent over mini-batches of queries, with momentum."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.errors import ParameterError
from podium.problem import Problem
from podium.registry import param, register
from podium.solvers.base import Array, Solution, Solver, Watch, best_or_last


@register
class SGD(Solver):
    """θ ← θ − rate·v, v ← momentum·v + gradient, over shuffled batches of queries.

    With validation data, the epoch that does best on it is kept and training stops early.
    """

    learning_rate: float = param(default=0.1, above=0, search=(1e-3, 1.0, "log"))
    epochs: int = param(default=100, least=1)
    batch: int = param(default=1, least=1)
    """Queries per step."""
    penalty: float = param(default=0.0, least=0, search=(1e-4, 10.0, "log"))
    momentum: float = param(default=0.0, least=0, below=1)
    patience: int | None = param(default=10, least=1)
    """Early stopping: end after this many epochs without a better validation measure."""
    name = "sgd"

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

    def _epoch(
        self, problem: Problem, theta: Array, queries: NDArray[np.int64], memory: dict[str, Any], epoch: int
    ) -> tuple[Array, float]:
        """Parameters after one pass over the queries, and the mean objective on the way."""
        values = []
        with np.errstate(over="ignore", invalid="ignore"):  # a step too long shows in the parameters
            for start in range(0, len(queries), self.batch):
                batch = problem.data.select(queries[start : start + self.batch])
                value, gradient = problem.on(batch, theta, step=(epoch - 1) * len(queries) + start)
                theta = theta - self.step(gradient, memory)
                values.append(value)
        return theta, float(np.mean(values))

    def begin(self, theta: Array) -> dict[str, Any]:
        """What the steps remember."""
        return {"velocity": np.zeros_like(theta)}

    def step(self, gradient: Array, memory: dict[str, Any]) -> Array:
        """What to subtract from θ."""
        memory["velocity"] = self.momentum * memory["velocity"] + gradient
        return np.asarray(self.learning_rate * memory["velocity"])
