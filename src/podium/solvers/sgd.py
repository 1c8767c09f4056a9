"""Stochastic gradient descent over mini-batches of queries, with momentum."""

from __future__ import annotations

from typing import Any

import numpy as np

from podium.problem import Problem
from podium.registry import param, register
from podium.solvers.base import Array, Solution, Solver, Watch, best_or_last


@register
class SGD(Solver):
    """θ ← θ − rate·v, v ← momentum·v + gradient, over shuffled batches of queries.

    With validation data, the epoch that does best on it is kept and the search ends after `patience` epochs
    without a better one.
    """

    rate: float = param(0.1, above=0)
    epochs: int = param(100, least=1)
    batch: int = param(1, least=1)
    """Queries per step."""
    penalty: float = param(0.0, least=0)
    momentum: float = param(0.0, least=0, most=1)
    patience: int | None = 10
    name = "sgd"

    def solve(self, problem: Problem, rng: np.random.Generator, watch: Watch) -> Solution:
        theta = problem.start(rng)
        memory = self.begin(theta)
        queries = np.arange(problem.data.n_queries)
        value, epoch, reason = np.inf, 0, f"{self.epochs} epochs were allowed"
        for epoch in range(1, self.epochs + 1):
            rng.shuffle(queries)
            values = []
            for start in range(0, len(queries), self.batch):
                some = problem.data.select(queries[start : start + self.batch])
                value, gradient = problem.on(some, theta)
                theta = theta - self.step(gradient, memory)
                values.append(value)
            value = float(np.mean(values))
            now = theta
            if watch.see(
                epoch,
                self.epochs,
                value,
                scores=lambda data, now=now: problem.scores(now, data),  # type: ignore[misc]
                state=now,
                patience=self.patience,
            ):
                reason = "no better validation measure"
                break
            if not np.isfinite(theta).all():
                reason = f"diverged in epoch {epoch}; use a smaller rate than {self.rate}"
                break
        return best_or_last(problem, theta, watch, value=value, iterations=epoch, reason=reason)

    def begin(self, theta: Array) -> dict[str, Any]:
        """What the steps remember."""
        return {"velocity": np.zeros_like(theta)}

    def step(self, gradient: Array, memory: dict[str, Any]) -> Array:
        """What to subtract from θ."""
        memory["velocity"] = self.momentum * memory["velocity"] + gradient
        return np.asarray(self.rate * memory["velocity"])
