"""Stochastic gradient descent over mini-batches of queries, with momentum."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.errors import IncompatibleError, ParameterError
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.scorers.linear import Linear
from podium.solvers import compiled_epoch, network_epoch
from podium.solvers.base import Solution, Solver, best_or_last

if TYPE_CHECKING:
    from podium.losses import Loss
    from podium.problem import Problem
    from podium.scorers import Scorer
    from podium.solvers.early_stopping import Step, Watch

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
    Schedules: the rate of epoch e of E is rate·f(e), with f = 1 (constant), ½(1 + cos(π(e − 1)/E)) (cosine), or
    10^−⌊3(e − 1)/E⌋ (step: a tenth after each third); times e/(w + 1) in the first w = `warm_up` epochs.
    Clipping: a gradient g with ‖g‖ > `most_norm` becomes g·most_norm/‖g‖.
    """

    learning_rate: float = param(default=0.1, above=0, search=(1e-3, 1.0, "log"))
    epochs: int = param(default=100, least=1)
    batch: int = param(default=1, least=1)
    """Queries per step."""
    penalty: float = param(default=0.0, least=0, search=(1e-4, 10.0, "log"))
    momentum: float = param(default=0.0, least=0, below=1)
    patience: int | None = param(default=10, least=1)
    """Early stopping: end after this many epochs without a better validation metric."""
    committee: int = param(default=1, least=1, most=1000)
    """Mean of the parameters of this many best epochs, weighted by their validation metric; 1 is the best epoch. For
    linear scorers, which score as the mean of their scores does."""
    schedule: Literal["constant", "cosine", "step"] = "constant"
    """How the rate falls from epoch to epoch."""
    warm_up: int = param(default=0, least=0)
    """Epochs in which the rate rises to its value."""
    most_norm: float | None = param(default=None, above=0)
    """The largest norm of a gradient; longer ones are cut."""
    name = "sgd"
    means: ClassVar[int] = 1
    """Number of arrays as long as θ in the memory of its steps."""
    kernel: ClassVar[Any] = staticmethod(_step)
    """Compiled step; see `compiled_epoch.STEP`."""

    def check(self, loss: Loss, scorer: Scorer) -> None:
        super().check(loss, scorer)
        if self.committee > 1 and not isinstance(scorer, Linear):
            raise IncompatibleError(
                f"{self.name}(committee={self.committee}) takes the mean of parameters, which is a committee of linear "
                f"scorers only; got {scorer.name}. Use committee=1, or bagged(of=…,bootstrap=false)."
            )

    def solve(self, problem: Problem, rng: np.random.Generator, watch: Watch) -> Solution:
        theta = problem.start(rng)
        memory = self.begin(theta)
        queries = np.arange(problem.data.n_queries)
        value, epoch, reason = np.inf, 0, f"{self.epochs} epochs were allowed"
        members: list[tuple[Step, Array]] = []  # the best epochs
        for epoch in range(1, self.epochs + 1):
            rng.shuffle(queries)
            memory[1][0] = self.rate(epoch)
            now, value = self._epoch(problem, theta, queries, memory, epoch)
            if not np.isfinite(now).all():
                reason = f"diverged in epoch {epoch}; use a smaller rate than {self.learning_rate}"
                if watch.best is None:
                    raise ParameterError(f"{self.name} {reason}, or scale the features with transform=zscore.")
                break
            theta = now
            stop = watch.record(
                epoch,
                self.epochs,
                value,
                scores=lambda data, now=now: problem.scores(now, data),  # type: ignore[misc]
                state=now,
                patience=self.patience,
            )
            members = _best([*members, (watch.history[-1], now)], self.committee)
            if stop:
                reason = "no better validation measure"
                break
        solution = best_or_last(problem, theta, watch, value=value, iterations=epoch, reason=reason)
        if self.committee == 1 or watch.best is None:
            return solution
        params, loss = problem.split(_mean(members))
        reason = f"{solution.reason}; mean of the {len(members)} best epochs"
        return replace(solution, params=params, loss=loss, reason=reason)

    def _epoch(self, problem: Problem, theta: Array, queries: Ints, memory: Memory, epoch: int) -> tuple[Array, float]:
        """Parameters after one pass over the queries, and the mean objective of its steps."""
        before = (epoch - 1) * len(queries)
        whole = self.most_norm is None and compiled_epoch.applies(problem, self.batch)
        if whole or network_epoch.applies(problem):
            now, loop = theta.copy(), compiled_epoch.steps if whole else network_epoch.steps
            move = self.kernel if whole else self.move
            with np.errstate(over="ignore", invalid="ignore"):
                return now, float(np.mean([*loop(problem, now, queries, self.batch, move, memory, first_step=before)]))
        values = []
        with np.errstate(over="ignore", invalid="ignore"):  # a step that is too long shows in the parameters
            for start in range(0, len(queries), self.batch):
                chosen = queries[start : start + self.batch]
                batch = problem.data if len(chosen) == problem.data.n_queries else problem.data.select(chosen)
                value, gradient = problem.on(batch, theta, step=before + start)
                theta = theta - self.step(gradient, memory)
                values.append(value)
        return theta, float(np.mean(values))

    def begin(self, theta: Array) -> Memory:
        """Memory of the steps: arrays as long as θ, and numbers, of which the last counts the steps."""
        return np.zeros((self.means, len(theta))), np.array([self.learning_rate, self.momentum, 0.0])

    def step(self, gradient: Array, memory: Memory) -> Array:
        """Difference to subtract from θ."""
        down = np.empty(len(gradient))
        self.move(np.ascontiguousarray(gradient), *memory, down)
        return down

    def move(self, gradient: Array, means: Array, numbers: Array, down: Array) -> None:
        """Fill `down` with the difference to subtract from θ, after clipping."""
        norm = 0.0 if self.most_norm is None else float(np.linalg.norm(gradient))
        if self.most_norm is not None and norm > self.most_norm:
            gradient = gradient * (self.most_norm / norm)
        self.kernel(gradient, means, numbers, down)

    def rate(self, epoch: int) -> float:
        """The learning rate of an epoch, counted from 1."""
        share = (epoch - 1) / self.epochs
        falls = {"constant": 1.0, "cosine": 0.5 + 0.5 * math.cos(math.pi * share), "step": 0.1 ** int(3 * share)}
        return self.learning_rate * falls[self.schedule] * min(1.0, epoch / (self.warm_up + 1))


def _best(members: list[tuple[Step, Array]], count: int) -> list[tuple[Step, Array]]:
    """The epochs of the highest validation metric, the earlier of equals; none without validation data."""
    measured = [member for member in members if member[0].valid is not None]
    return sorted(measured, key=lambda member: -(member[0].valid or 0.0))[:count]


def _mean(members: list[tuple[Step, Array]]) -> Array:
    """Mean of parameters, weighted by the validation metric; by nothing if it is not above 0 in all."""
    weights = np.array([step.valid for step, _ in members], np.float64)
    weights = weights if (weights > 0).all() else np.ones(len(weights))
    return np.asarray(np.average([theta for _, theta in members], axis=0, weights=weights))
