"""Truncated Newton (Chapelle & Keerthi, 2010; Lee & Lin, 2014): conjugate gradients on Hessian products."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import IncompatibleError
from podium.base.registry import param, register
from podium.scorers import Linear, Scorer
from podium.solvers.base import Solution, Solver, best_or_last

if TYPE_CHECKING:
    from podium.losses import Loss
    from podium.problem import Point, Problem
    from podium.solvers.early_stopping import Watch


@register
class Newton(Solver):
    """Truncated Newton: solves ∇²F·d = −∇F roughly by conjugate gradients, then searches along d; for linear scorers.

    The Hessian is never stored: a product costs two passes over the features, and the line search none, because scores
    are linear in the step. It stops when ‖∇F‖ is `tolerance` times its initial value.
    Reference: Chapelle & Keerthi, Efficient algorithms for ranking with SVMs, Information Retrieval 2010; Lee & Lin,
    Large-scale linear rankSVM, Neural Computation 2014.
    """

    penalty: float = param(default=0.1, least=0, search=(1e-4, 10.0, "log"))
    """λ in F = mean loss of a query + (λ/2)‖θ‖²."""
    iterations: int = param(default=100, least=1)
    """Most iterations."""
    tolerance: float = param(default=1e-4, above=0)
    """Stop when ‖∇F‖ has fallen to this fraction of its initial value."""
    patience: int | None = param(default=None, least=1)
    """Early stopping: end after this many iterations without a better validation metric."""

    needs_convex: ClassVar[bool] = True

    def check(self, loss: Loss, scorer: Scorer) -> None:
        if not isinstance(scorer, Linear):
            raise IncompatibleError(
                f"newton needs scores that are linear in their parameters; got {scorer.name}. "
                "Use solver=adam or solver=lbfgs, or scorer=trees with solver=boosting."
            )
        if loss.grades_product is None:
            raise IncompatibleError(
                f"newton needs a loss that multiplies by its Hessian; got {loss.name}. Use solver=lbfgs or solver=adam."
            )

    def solve(self, problem: Problem, rng: np.random.Generator, watch: Watch) -> Solution:
        here = problem.point(problem.start(rng))
        value, gradient = problem(here.theta)
        first, iteration = float(np.linalg.norm(gradient)), 0
        reason = f"{self.iterations} iterations were allowed"
        while iteration < self.iterations:
            norm = float(np.linalg.norm(gradient))
            if norm <= self.tolerance * first:
                reason = f"converged: the gradient is {norm / first if first else 0.0:.1e} of its initial value"
                break
            step = _direction(problem, here, gradient, rough=min(0.1, np.sqrt(norm / first)))
            length = _search(problem, here, step, value=value, slope=float(gradient @ step.theta))
            if length == 0.0:
                reason = f"no step improves the objective; the gradient is {norm / first:.1e} of its initial value"
                break
            here, iteration = here.moved(length, step), iteration + 1
            value, gradient = problem(here.theta)
            if watch.record(
                iteration,
                self.iterations,
                value,
                scores=lambda data, now=here.theta: problem.scores(now, data),  # type: ignore[misc]
                state=here.theta,
                patience=self.patience,
            ):
                reason = "no better validation measure"
                break
        return best_or_last(problem, here.theta, watch, value=value, iterations=iteration, reason=reason)


_MOST_PRODUCTS = 200
"""Hessian products per step: more would refine a direction that the next step replaces."""


def _direction(problem: Problem, here: Point, gradient: Array, *, rough: float) -> Point:
    """d with ‖∇²F·d + ∇F‖ ≤ rough·‖∇F‖ by conjugate gradients."""
    step = here.moved(-1.0, here)  # 0
    rest, goal = -gradient, rough * float(np.linalg.norm(gradient))
    v, squared = rest, float(rest @ rest)
    for _ in range(_MOST_PRODUCTS):
        along = problem.point(v)
        bent = problem.hessian_product_at(here, along)
        curve = float(v @ bent)
        if curve <= 0.0:  # no curvature along v: before the first step, use steepest descent
            return step if step.theta.any() else along
        length = squared / curve
        step, rest = step.moved(length, along), rest - length * bent
        before, squared = squared, float(rest @ rest)
        if squared <= goal * goal:
            break
        v = rest + squared / before * v
    return step


def _search(problem: Problem, here: Point, step: Point, *, value: float, slope: float) -> float:
    """Backtracking line search: the first of 1, ½, ¼, … that meets Armijo's condition; 0 if none does."""
    rounding = 1e-15 * abs(value)
    for halvings in range(40):
        length = 0.5**halvings
        if problem.value_at(here.moved(length, step)) <= value + 1e-4 * length * slope + rounding:
            return float(length)
    return 0.0
