"""L-BFGS (Liu & Nocedal, 1989), by scipy: full-batch quasi-Newton, curvature from the last gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.errors import IncompatibleError
from podium.base.registry import param, register
from podium.scorers import SmoothScorer
from podium.solvers.base import Solution, Solver, best_or_last

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

    from podium.losses import Loss
    from podium.problem import Problem
    from podium.scorers import Scorer
    from podium.solvers.early_stopping import Watch


@register
class LBFGS(Solver):
    """L-BFGS: quasi-Newton steps on all queries at once; for smooth losses and scorers of some thousand parameters.

    Without `patience` it runs to convergence, and only the penalty prevents overfitting; with it, training stops early
    and keeps the iterate that is best on the validation data.
    """

    penalty: float = param(default=0.1, least=0, search=(1e-4, 10.0, "log"))
    """λ in F = mean loss of a query + (λ/2)‖θ‖²."""
    iterations: int = param(default=200, least=1)
    """Most iterations."""
    tolerance: float = param(default=1e-7, above=0)
    """Stop when an iteration improves F by less than this, relatively."""
    patience: int | None = param(default=None, least=1)
    """Early stopping: end after this many iterations without a better validation metric."""
    name = "lbfgs"

    def check(self, loss: Loss, scorer: Scorer) -> None:
        super().check(loss, scorer)
        if loss.surrogate is not None:
            raise IncompatibleError(
                f"lbfgs compares values, but {loss.name}'s gradient is not that of its value ({loss.surrogate}). "
                "Use solver=adam or solver=sgd, or scorer=trees with solver=boosting."
            )
        if isinstance(scorer, SmoothScorer) and scorer.draws:
            raise IncompatibleError(
                f"lbfgs compares values, but {scorer} draws dropout and noise in each step. "
                "Use solver=adam or solver=sgd."
            )

    def solve(self, problem: Problem, rng: np.random.Generator, watch: Watch) -> Solution:
        from scipy.optimize import minimize

        latest = {"iteration": 0, "stopped": False}

        def after(intermediate_result: OptimizeResult) -> None:
            latest["iteration"] += 1
            theta = intermediate_result.x.copy()
            latest["stopped"] = watch.record(
                latest["iteration"],
                self.iterations,
                float(intermediate_result.fun),
                scores=lambda data: problem.scores(theta, data),
                state=theta,
                patience=self.patience,
            )
            if latest["stopped"]:
                raise StopIteration

        limits: Any = {
            "maxiter": self.iterations,
            "maxfun": 4 * self.iterations,
            "ftol": self.tolerance,
            "gtol": 1e-9,
        }
        with np.errstate(over="ignore", invalid="ignore"):  # a step that is too long shows in the objective
            result = minimize(problem, problem.start(rng), jac=True, method="L-BFGS-B", callback=after, options=limits)
        reason = "no better validation measure" if latest["stopped"] else _why(result)
        return best_or_last(
            problem, result.x, watch, value=float(result.fun), iterations=latest["iteration"], reason=reason
        )


def _why(result: OptimizeResult) -> str:
    if result.status == 1:
        return f"{result.nit} iterations were allowed"
    return "converged" if result.success else f"stopped: {result.message}"
