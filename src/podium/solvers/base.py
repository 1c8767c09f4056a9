"""Solvers: optimisers that find the parameters of a scorer which minimise the training objective."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import IncompatibleError, ParameterError
from podium.base.registry import Named
from podium.scorers import SmoothScorer

if TYPE_CHECKING:
    from podium.losses import Loss
    from podium.problem import Problem
    from podium.scorers import Params, Scorer
    from podium.solvers.early_stopping import Watch


@dataclass(frozen=True)
class Solution:
    """Result of a solver."""

    params: Params  # of the scorer
    loss: Loss  # with its learned parameters
    value: float  # objective at the last iteration
    iterations: int
    reason: str  # why training stopped
    record: dict[str, Any] = field(default_factory=dict)  # what else the model's record should tell


class Solver(Named):
    """Optimiser of the parameters of a scorer. Its fields are its parameters."""

    kind: ClassVar[str] = "solver"
    home: ClassVar[str] = "podium.solvers"
    needs_convex: ClassVar[bool] = False
    """Whether the objective must be convex; negative document weights are then refused."""
    boosts: ClassVar[bool] = False
    """Whether it fits gradients document by document; it then takes weights of rows and positions."""
    penalty: float = 0.0
    """L2 regularisation: λ of (λ/2)‖θ‖² in the objective; a parameter of the solvers that have one."""

    def check(self, loss: Loss, scorer: Scorer) -> None:
        """Raise IncompatibleError if this solver cannot train this scorer with this loss."""
        if not isinstance(scorer, SmoothScorer):
            raise IncompatibleError(
                f"{self.name} needs a scorer with parameters to differentiate; got {scorer.name}. "
                "Use solver=boosting, or scorer=linear or scorer=mlp."
            )

    def solve(self, problem: Problem, rng: np.random.Generator, watch: Watch) -> Solution:
        """Minimise the objective; `watch` records each iteration and says when to stop."""
        raise NotImplementedError


def best_or_last(
    problem: Problem, theta: Array, watch: Watch, *, value: float, iterations: int, reason: str
) -> Solution:
    """Solution with the parameters that are best on validation data, or the last ones without it."""
    if watch.best is not None:
        theta = watch.best_state
        reason += f"; best {watch.metric} {watch.best.valid:.4f} at iteration {watch.best.iteration}"
    elif not (np.isfinite(value) and np.isfinite(theta).all()):
        raise ParameterError(
            f"{problem.loss.name} over {problem.scorer.name}: the objective is {value} after {iterations} iterations. "
            "Scale the features with transform=zscore, or use a larger penalty."
        )
    params, loss = problem.split(theta)
    return Solution(params, loss, value, iterations, reason)
