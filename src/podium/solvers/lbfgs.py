"""L-BFGS (Liu & Nocedal, 1989), by scipy: all queries in every step, curvature from the last gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from podium.base.errors import IncompatibleError
from podium.base.registry import param, register
from podium.losses import Loss
from podium.problem import Problem
from podium.scorers import Scorer
from podium.solvers.base import Solution, Solver, Watch, best_or_last


@register
class LBFGS(Solver):
    """Quasi-Newton steps on all queries at once; for smooth losses and scorers of some thousand parameters.

    Without `patience` it runs to convergence and the penalty alone guards against over-fitting; with it, the
    iterate that does best on the validation data is kept and training stops early.
    """

    penalty: float = param(default=0.1, least=0, search=(1e-4, 10.0, "log"))
    """λ in F = mean loss of a query + (λ/2)‖θ‖²."""
    iterations: int = param(default=200, least=1)
    tolerance: float = param(default=1e-7, above=0)
    """Stop when an iteration improves F by less than this, relatively."""
    patience: int | None = param(default=None, least=1)
    """Early stopping: end after this many iterations without a better validation measure."""
    name = "lbfgs"

    def check(self, loss: Loss, scorer: Scorer) -> None:
        super().check(loss, scorer)
        if loss.surrogate is not None:
            raise IncompatibleError(
                f"lbfgs compares values, but {loss.name}'s gradient is not that of its value ({loss.surrogate}). "
                "Use solver=adam or solver=sgd, or scorer=trees with solver=boosting."
            )

    def solve(self, problem: Problem, rng: np.random.Generator, watch: Watch) -> Solution:
        from scipy.optimize import minimize

        latest = {"iteration": 0, "stopped": False}

        def after(intermediate_result: Any) -> None:
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
        with np.errstate(over="ignore", invalid="ignore"):  # a step too far shows in the objective
            found = minimize(problem, problem.start(rng), jac=True, method="L-BFGS-B", callback=after, options=limits)
        reason = "no better validation measure" if latest["stopped"] else _why(found)
        return best_or_last(
            problem, found.x, watch, value=float(found.fun), iterations=latest["iteration"], reason=reason
        )


def _why(found: Any) -> str:
    if found.status == 1:
        return f"{found.nit} iterations were allowed"
    return "converged" if found.success else f"stopped: {found.message}"
