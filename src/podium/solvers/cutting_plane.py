"""Cutting planes (Joachims, 2006; Franc & Sonnenburg, 2009): convex losses with kinks, to a certified gap."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import IncompatibleError
from podium.base.registry import param, register
from podium.losses import Loss, sweep
from podium.problem import Point, Problem
from podium.scorers import Linear, Scorer
from podium.solvers.base import Solution, Solver, best_or_last
from podium.solvers.quadratic_program import weigh_planes

if TYPE_CHECKING:
    from podium.solvers.early_stopping import Watch


@register
class CuttingPlane(Solver):
    """Cutting planes: bounds the loss from below by its tangent planes, whose maximum a quadratic program minimises.

    Each iteration adds a plane near the best point so far, after a line search from it to the minimum of the bound. A
    convex loss is above its tangents, so the dual of the program is a lower bound of the minimum of F: training ends
    when the best F is within `tolerance` of it. Unlike L-BFGS it needs no second derivative and is exact at kinks; for
    linear scorers, and losses that are convex in the scores.
    Cost: per iteration two passes over the features, some sweeps of the loss without features, and a quadratic program
    with one unknown per plane in recent use.
    Reference: Joachims, Training linear SVMs in linear time, KDD 2006; Franc & Sonnenburg, Optimized cutting plane
    algorithm for large-scale risk minimization, JMLR 2009.
    """

    penalty: float = param(default=0.1, above=0, search=(1e-4, 10.0, "log"))
    """λ in F = mean loss of a query + (λ/2)‖θ‖²."""
    iterations: int = param(default=1000, least=1)
    """Most iterations."""
    tolerance: float = param(default=1e-3, above=0)
    """Stop when F is proven to be within this of its minimum, relatively."""
    patience: int | None = param(default=None, least=1)
    """Early stopping: end after this many iterations without a better validation metric."""

    needs_convex: ClassVar[bool] = True

    def check(self, loss: Loss, scorer: Scorer) -> None:
        if not isinstance(scorer, Linear):
            raise IncompatibleError(
                f"cutting-plane needs scores that are linear in their parameters; got {scorer.name}. "
                "Use solver=adam or solver=lbfgs, or scorer=trees with solver=boosting."
            )
        if not loss.convex or not loss.shift_invariant:
            lacks = "is not convex in its scores" if not loss.convex else "sees the offset, which no penalty bounds"
            raise IncompatibleError(
                f"cutting-plane needs a convex loss of score differences, but {loss} {lacks}. "
                "Use solver=lbfgs or solver=adam."
            )

    def solve(self, problem: Problem, rng: np.random.Generator, watch: Watch) -> Solution:
        planes = _Planes(problem)
        best = planes.point(problem.start(rng))
        planes.add(best)
        reason, iteration, bound = f"{self.iterations} iterations were allowed", 0, 0.0
        for iteration in range(1, self.iterations + 1):
            theta, least = planes.minimum()
            low, bound = planes.point(theta), max(bound, least)
            best = planes.search(best, low)
            stop = watch.record(
                iteration,
                self.iterations,
                best.value,
                scores=lambda data, now=best.theta: problem.scores(now, data),  # type: ignore[misc]
                state=best.theta,
                patience=self.patience,
            )
            if stop or best.value - bound <= self.tolerance * best.value:
                reason = "no better validation measure" if stop else "converged"
                break
            planes.add(_between(best, low, _NEAR))
        gap = max(best.value - bound, 0.0) / best.value if best.value > 0.0 else 0.0
        reason += f": at most {gap:.1e} above the minimum"
        return best_or_last(problem, best.theta, watch, value=best.value, iterations=iteration, reason=reason)


_NEAR = 0.1  # where a plane touches, from the best point (0) to the minimum of the bound (1): Franc & Sonnenburg's
_IDLE = 30  # iterations without effect on the minimum of the bound after which a plane is dropped
_HALVINGS = 12


class _Point(NamedTuple):
    theta: Array
    scores: Array
    value: float  # F; NaN between two points


class _Planes:
    """Tangents c + ⟨g, w⟩ of the mean loss: their maximum with 0 is a lower bound, which leaves the offset out."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.slopes = np.empty((0, problem.data.n_features))
        self.levels = np.empty(0)
        self.idle = np.empty(0, np.int64)

    def point(self, theta: Array) -> _Point:
        """F and the scores at θ: a pass over the features."""
        scores = self.problem.scores(theta, self.problem.data)
        return _Point(theta, scores, self.problem.value_at(Point(theta, scores)))

    def add(self, point: _Point) -> None:
        """Add the tangent at a point."""
        data = self.problem.data
        got = sweep(self.problem.loss, point.scores, data)
        slope = Linear().pullback_rows(point.theta, data.features, got.gradient)[:-1] / data.n_queries
        self.slopes = np.vstack([self.slopes, slope])
        self.levels = np.append(self.levels, got.value / data.n_queries - slope @ point.theta[:-1])
        self.idle = np.append(self.idle, 0)

    def minimum(self) -> tuple[Array, float]:
        """θ at the minimum of the bound, and a lower bound of the minimum of F; drops idle planes."""
        penalty = self.problem.penalty
        alpha = weigh_planes(-self.slopes, self.levels, 1.0 / penalty, who=CuttingPlane.name)
        w = -(alpha @ self.slopes)
        least = penalty * (float(self.levels @ alpha) - 0.5 * float(w @ w))
        self.idle = np.where(alpha * penalty > 1e-6, 0, self.idle + 1)
        kept = self.idle < _IDLE
        self.slopes, self.levels, self.idle = self.slopes[kept], self.levels[kept], self.idle[kept]
        return np.append(w, 0.0), least

    def search(self, best: _Point, low: _Point) -> _Point:
        """Line search between two points, by bisection: scores are linear in t, so no features are read."""
        near, far = 0.0, 1.0
        if self._slope(best, low, 1.0) > 0.0:
            for _ in range(_HALVINGS):
                middle = 0.5 * (near + far)
                if self._slope(best, low, middle) > 0.0:
                    far = middle
                else:
                    near = middle
        theta, scores, _ = _between(best, low, far)
        point = _Point(theta, scores, self.problem.value_at(Point(theta, scores)))
        return point if point.value < best.value else best

    def _slope(self, start: _Point, end: _Point, t: float) -> float:
        """dF/dt at t on the line from start (0) to end (1)."""
        theta, scores, _ = _between(start, end, t)
        force = sweep(self.problem.loss, scores, self.problem.data).gradient @ (end.scores - start.scores)
        return float(force / self.problem.data.n_queries + self.problem.penalty * theta @ (end.theta - start.theta))


def _between(start: _Point, end: _Point, t: float) -> _Point:
    return _Point((1.0 - t) * start.theta + t * end.theta, (1.0 - t) * start.scores + t * end.scores, np.nan)
