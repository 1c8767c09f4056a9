"""Steepest descent with steps that are halved until they improve."""

from functools import partial

import numpy as np

from podium.base.errors import IncompatibleError
from podium.base.registry import param, register
from podium.losses import Loss
from podium.problem import Problem
from podium.scorers import Scorer
from podium.solvers.base import Solution, Solver, best_or_last
from podium.solvers.early_stopping import Watch


@register
class SteepestDescent(Solver):
    """θ ← θ − t·∇F(θ); t doubles after a step, and is halved until F falls enough."""

    penalty: float = param(default=0.1, least=0, search=(1e-4, 10.0, "log"))
    iterations: int = param(default=200, least=1)
    tolerance: float = param(default=1e-9, above=0)
    patience: int | None = param(default=None, least=1)

    def check(self, loss: Loss, scorer: Scorer) -> None:
        super().check(loss, scorer)
        if loss.surrogate is not None:
            raise IncompatibleError(
                f"{self.name} compares values, and the gradient of {loss.name} is not that of its value. Use adam."
            )

    def solve(self, problem: Problem, rng: np.random.Generator, watch: Watch) -> Solution:
        theta, step, k, reason = problem.start(rng), 1.0, 0, f"{self.iterations} iterations were allowed"
        value, gradient = problem(theta)
        for k in range(1, self.iterations + 1):
            slope, before = float(gradient @ gradient), value
            while problem(theta - step * gradient)[0] > value - 0.5 * step * slope and step > 1e-12:
                step /= 2
            theta = theta - step * gradient
            value, gradient = problem(theta)
            step *= 2
            stop = watch.record(
                k, self.iterations, value,
                scores=partial(problem.scores, theta), state=theta, patience=self.patience,
            )  # fmt: skip
            if stop or before - value <= self.tolerance * abs(before):
                reason = "no better validation measure" if stop else f"converged in {k} iterations"
                break
        return best_or_last(problem, theta, watch, value=value, iterations=k, reason=reason)
