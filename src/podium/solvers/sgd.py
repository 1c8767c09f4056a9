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
from podium.solvers import compiled_epoch, fewer_documents, network_epoch
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
    Averaging: validation data and the model see m instead of θ. With `ema` = d it is d·m + (1 − d)·θ after each step,
    from m = θ at the start; with `swa` = s, the mean of θ after the epochs s, s + 1, … (θ itself before).
    Fewer documents: with `documents` = m an epoch sees at most m documents of each query, chosen anew: those with a
    label above the least of the query (at most m − 1, drawn if they are more), then others, drawn or, with
    `others=score`, those of the highest scores at the time.
    Reference: Polyak and Juditsky 1992 (averaging); Izmailov et al. 2018 (SWA).
    """

    learning_rate: float = param(default=0.1, above=0, search=(1e-3, 1.0, "log"))
    """Length of a step."""
    epochs: int = param(default=100, least=1)
    """Most passes over the training queries."""
    batch: int = param(default=1, least=1)
    """Queries per step."""
    penalty: float = param(default=0.0, least=0, search=(1e-4, 10.0, "log"))
    momentum: float = param(default=0.0, least=0, below=1)
    """Share of the last step that the next one keeps."""
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
    ema: float | None = param(default=None, above=0, below=1)
    """Exponential moving average of the parameters: its decay in each step, e.g. 0.999."""
    swa: int | None = param(default=None, least=1)
    """Stochastic weight averaging: the first epoch of the mean of the parameters."""
    documents: int | None = param(default=None, least=2)
    """The most documents of a query in an epoch, e.g. 100 of lists of thousands."""
    others: Literal["random", "score"] = "random"
    """Which documents of the least label an epoch sees if there are more than `documents`."""
    name = "sgd"
    means: ClassVar[int] = 1
    """Number of arrays as long as θ in the memory of its steps."""
    kernel: ClassVar[Any] = staticmethod(_step)
    """Compiled step; see `compiled_epoch.STEP`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if sum([self.ema is not None, self.swa is not None, self.committee > 1]) > 1:
            raise ParameterError(f"{self.name}: ema, swa and committee are three means of parameters. Use one of them.")

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
        if self.documents is not None:
            fewer_documents.refuse_other_data(problem, self.name)
        value, epoch, reason = np.inf, 0, f"{self.epochs} epochs were allowed"
        members: list[tuple[Step, Array]] = []  # the best epochs
        mean = theta
        for epoch in range(1, self.epochs + 1):
            rng.shuffle(queries)
            memory[1][0] = self.rate(epoch)
            now, value = self._epoch(self._fewer(problem, theta, rng), theta, queries, memory, epoch)
            if not np.isfinite(now).all():
                reason = f"diverged in epoch {epoch}; use a smaller rate than {self.learning_rate}"
                if watch.best is None:
                    raise ParameterError(f"{self.name} {reason}, or scale the features with transform=zscore.")
                break
            theta, mean = now, self._averaged(mean, now, memory, epoch)
            stop = watch.record(
                epoch,
                self.epochs,
                value,
                scores=lambda data, mean=mean: problem.scores(mean, data),  # type: ignore[misc]
                state=mean,
                patience=self.patience,
            )
            members = _best([*members, (watch.history[-1], now)], self.committee)
            if stop:
                reason = "no better validation measure"
                break
        solution = best_or_last(problem, mean, watch, value=value, iterations=epoch, reason=reason)
        if self.committee == 1 or watch.best is None:
            return solution
        params, loss = problem.split(_mean(members))
        reason = f"{solution.reason}; mean of the {len(members)} best epochs"
        return replace(solution, params=params, loss=loss, reason=reason)

    def _fewer(self, problem: Problem, theta: Array, rng: np.random.Generator) -> Problem:
        """The problem of one epoch."""
        if self.documents is None or problem.data.sizes.max(initial=0) <= self.documents:
            return problem
        scores = problem.scores(theta, problem.data) if self.others == "score" else None
        return fewer_documents.fewer_documents(problem, self.documents, rng, scores)

    def _averaged(self, mean: Array, theta: Array, memory: Memory, epoch: int) -> Array:
        """Parameters of the model after an epoch, from those after the epoch before."""
        if self.ema is not None:
            return np.asarray(theta - memory[0][-1])
        if self.swa is None or epoch <= self.swa:
            return theta
        count = epoch - self.swa + 1
        return np.asarray(mean + (theta - mean) / count)

    def _epoch(self, problem: Problem, theta: Array, queries: Ints, memory: Memory, epoch: int) -> tuple[Array, float]:
        """Parameters after one pass over the queries, and the mean objective of its steps."""
        before = (epoch - 1) * len(queries)
        whole = self.most_norm is None and self.ema is None and compiled_epoch.applies(problem, self.batch)
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
        """Memory of the steps: arrays as long as θ, with `ema` also θ − m; numbers, of which the last counts steps."""
        arrays = np.zeros((self.means + (self.ema is not None), len(theta)))
        return arrays, np.array([self.learning_rate, self.momentum, 0.0])

    def step(self, gradient: Array, memory: Memory) -> Array:
        """Difference to subtract from θ."""
        down = np.empty(len(gradient))
        self.move(np.ascontiguousarray(gradient), *memory, down)
        return down

    def move(self, gradient: Array, means: Array, numbers: Array, down: Array) -> None:
        """Fill `down` with the difference to subtract from θ, after clipping; θ − m becomes d·(θ − down − m)."""
        norm = 0.0 if self.most_norm is None else float(np.linalg.norm(gradient))
        if self.most_norm is not None and norm > self.most_norm:
            gradient = gradient * (self.most_norm / norm)
        self.kernel(gradient, means, numbers, down)
        if self.ema is not None:
            means[-1] -= down
            means[-1] *= self.ema

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
