"""Lasso: an L1 penalty sets the weights of features that do not help to zero (Tibshirani, 1996).

    F(w) + λ₁‖w‖₁, by accelerated proximal gradient steps (FISTA; Beck & Teboulle, 2009), with a line search for the
    step and restarts of the momentum (O'Donoghue & Candès, 2015).

`lasso_path` solves for falling λ₁, each from the solution of the one before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import IncompatibleError
from podium.base.registry import param, register
from podium.scorers import Linear
from podium.solvers.base import Solution, Solver, best_or_last

if TYPE_CHECKING:
    from podium.losses import Loss
    from podium.problem import Problem
    from podium.scorers import Scorer
    from podium.solvers.early_stopping import Watch


@register
class Lasso(Solver):
    """L1 penalty, for smooth losses and linear scorers: unhelpful features get the weight 0. Offsets are free."""

    name = "lasso"
    l1: float = param(default=0.01, least=0, most=1, search=(1e-4, 0.5, "log"))
    """λ₁ as a share of the smallest one at which all weights are 0, ‖∇F(0)‖_∞."""
    penalty: float = param(default=0.0, least=0)
    """λ in F = mean loss of a query + (λ/2)‖θ‖²: with both, the elastic net."""
    iterations: int = param(default=1000, least=1)
    """Most iterations."""
    tolerance: float = param(default=1e-7, above=0)
    """Stop when no condition of the minimum is violated by more than this share of ‖∇F(0)‖_∞."""
    patience: int | None = param(default=None, least=1)
    """Early stopping: end after this many iterations without a better validation metric."""

    def check(self, loss: Loss, scorer: Scorer) -> None:
        if not isinstance(scorer, Linear):
            raise IncompatibleError(
                f"lasso needs a linear scorer, whose weights are of single features; got {scorer.name}. "
                "Use scorer=linear, or solver=adam."
            )
        super().check(loss, scorer)
        if loss.surrogate is not None:
            raise IncompatibleError(
                f"lasso compares values, but {loss.name}'s gradient is not that of its value ({loss.surrogate}). "
                "Use solver=adam or solver=sgd."
            )

    def solve(self, problem: Problem, rng: np.random.Generator, watch: Watch) -> Solution:
        start = problem.start(rng)
        top = largest_l1(problem, start)
        walk, reason = _Walk(problem, self.l1 * top, start), f"{self.iterations} iterations were allowed"
        for iteration in range(1, self.iterations + 1):
            walk.step()
            theta = walk.theta.copy()
            if watch.record(
                iteration, self.iterations, walk.objective, state=theta, patience=self.patience,
                scores=lambda data, at=theta: problem.scores(at, data),  # type: ignore[misc]
            ):  # fmt: skip
                reason = "no better validation measure"
                break
            if walk.violation() <= self.tolerance * top:
                reason = "converged"
                break
        return best_or_last(problem, walk.theta, watch, value=walk.objective, iterations=iteration, reason=reason)


def largest_l1(problem: Problem, start: Array) -> float:
    """The smallest λ₁ at which all penalised weights stay 0: ‖∇F(0)‖_∞ over them."""
    at_zero = np.where(problem.penalised > 0, 0.0, start)
    return float(np.abs(problem(at_zero)[1] * problem.penalised).max(initial=0.0))


def lasso_path(
    problem: Problem, *, steps: int = 20, ratio: float = 1e-3, iterations: int = 2000, tolerance: float = 1e-7
) -> Iterator[tuple[float, Array]]:
    """λ₁ and the parameters, from the largest λ₁ down to `ratio` of it in equal steps of its logarithm."""
    theta = problem.start(np.random.default_rng(0))
    top = largest_l1(problem, theta)
    for strength in top * np.geomspace(1.0, ratio, steps):
        walk = _Walk(problem, float(strength), theta)
        for _ in range(iterations):
            walk.step()
            if walk.violation() <= tolerance * top:
                break
        theta = walk.theta
        yield float(strength), theta


@dataclass
class _Walk:
    """Accelerated proximal gradient steps from `theta`."""

    problem: Problem
    strength: float  # λ₁
    theta: Array

    def __post_init__(self) -> None:
        self.l1 = self.strength * (self.problem.penalised > 0)
        self.value, self.gradient = self.problem(self.theta)
        self._at = (self.theta, self.value, self.gradient)  # where the next step begins: theta, moved by momentum
        self._momentum, self._curvature = 1.0, 1.0

    @property
    def objective(self) -> float:
        return float(self.value + np.sum(self.l1 * np.abs(self.theta)))

    def step(self) -> None:
        """Move to the minimum of a quadratic bound at the present place, then by momentum."""
        before, (y, value, gradient) = self.theta, self._at
        self._curvature *= 0.9
        while True:
            moved = y - gradient / self._curvature
            z = np.sign(moved) * np.maximum(np.abs(moved) - self.l1 / self._curvature, 0.0) + 0.0
            new, slope = self.problem(z)
            way = z - y
            bound = 0.5 * self._curvature * float(way @ way)
            if new <= value + gradient @ way + bound or (slope - gradient) @ way <= bound or self._curvature > 1e30:
                break
            self._curvature *= 2.0
        self.theta, self.value, self.gradient = z, new, slope
        if (y - z) @ (z - before) > 0:  # the momentum leads uphill
            self._momentum = 1.0
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * self._momentum**2))
        ahead = z + (self._momentum - 1.0) / following * (z - before)
        self._momentum = following
        self._at = (ahead, *self.problem(ahead)) if (ahead != z).any() else (z, new, slope)

    def violation(self) -> float:
        """The largest violation of the conditions of a minimum: g + λ₁ sign(w) = 0, or |g| ≤ λ₁ where w = 0."""
        at_zero = np.maximum(np.abs(self.gradient) - self.l1, 0.0)
        elsewhere = np.abs(self.gradient + self.l1 * np.sign(self.theta))
        return float(np.where(self.theta == 0, at_zero, elsewhere).max(initial=0.0))
