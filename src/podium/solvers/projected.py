"""Projected stochastic gradient descent: each step is projected onto the set θ ≥ 0, Σθ ≤ bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.errors import IncompatibleError
from podium.base.registry import param, register
from podium.jit import sorting as ranking
from podium.scorers import Scorer, SmoothScorer
from podium.solvers.base import Solution, Solver, best_or_last

if TYPE_CHECKING:
    from podium.losses import Loss
    from podium.problem import Problem
    from podium.solvers.early_stopping import Watch


@register
class Projected(Solver):
    """Projected SGD: θ ← projection of θ − rate·gradient onto {θ ≥ 0, Σθ ≤ bound}; the rate falls by √2 an epoch.

    Learned parameters of the loss are not projected: the weights of structrank learn worse within the bound. With
    validation data, `starts` random starting points are tried for all their epochs, and the best epoch is kept; with
    one start, training stops early after `patience` epochs without a better one.
    Reference: Duchi et al., Efficient projections onto the l1-ball, ICML 2008.
    """

    learning_rate: float = param(default=0.5, above=0, search=(0.05, 10.0, "log"))
    """Length of a step in the first epoch."""
    epochs: int = param(default=10, least=1)
    """Passes over the training queries, for each starting point."""
    batch: int = param(default=1, least=1)
    """Queries per step."""
    bound: float | None = param(default=30.0, above=0)
    """Largest sum of the parameters; none for no bound."""
    starts: int = param(default=1, least=1)
    """Random starting points that are tried, if there is validation data."""
    patience: int | None = param(default=10, least=1)
    """Early stopping, if there is one start: end after this many epochs without a better validation metric."""

    def check(self, loss: Loss, scorer: Scorer) -> None:
        if not isinstance(scorer, SmoothScorer) or not scorer.at_least_zero:
            raise IncompatibleError(
                f"{self.name} needs a scorer whose parameters are at least 0; got {scorer.name}. "
                f"Use solver={scorer.solver}, or scorer=nadaraya-watson."
            )
        if loss.signed:
            raise IncompatibleError(
                f"{loss.name} needs scores on both sides of 0, but those of {scorer.name} are mean grades. "
                "Use scorer=linear, scorer=mlp or scorer=trees."
            )

    def solve(self, problem: Problem, rng: np.random.Generator, watch: Watch) -> Solution:
        judged = watch.valid is not None and self.patience is not None
        starts = self.starts if judged else 1
        total = starts * self.epochs
        patience = self.patience if starts == 1 else total
        theta, value, iteration, reason = np.empty(0), np.inf, 0, f"{self.epochs} epochs were allowed"
        for start in range(starts):
            theta = self._into_set(problem, problem.start(rng))
            for epoch in range(self.epochs):
                iteration = start * self.epochs + epoch + 1
                theta, value = self._epoch(problem, theta, rng, epoch)
                if watch.record(
                    iteration,
                    total,
                    value,
                    scores=lambda data, now=theta: problem.scores(now, data),  # type: ignore[misc]
                    state=theta,
                    patience=patience,
                ):
                    reason = "no better validation measure"
                    break
        return best_or_last(problem, theta, watch, value=value, iterations=iteration, reason=reason)

    def _epoch(self, problem: Problem, theta: Array, rng: np.random.Generator, epoch: int) -> tuple[Array, float]:
        """Parameters after one pass over the queries, and the mean objective of its steps."""
        queries: Ints = rng.permutation(problem.data.n_queries)
        rate, values = self.learning_rate * 0.5 ** (0.5 * epoch), []
        for first in range(0, len(queries), self.batch):
            batch = problem.data.select(queries[first : first + self.batch])
            value, gradient = problem.on(batch, theta, step=epoch * len(queries) + first)
            theta = self._into_set(problem, theta - rate * gradient)
            values.append(value)
        return theta, float(np.mean(values))

    def _into_set(self, problem: Problem, theta: Array) -> Array:
        n = len(theta) - len(problem.loss.learned)
        return np.concatenate([nearest_within(theta[:n], self.bound), theta[n:]])


def nearest_within(point: Array, bound: float | None) -> Array:
    """Projection onto {θ ≥ 0, Σθ ≤ bound}: all coordinates fall by the same amount until the sum fits."""
    inside: Array = np.maximum(point, 0.0)
    if bound is None or inside.sum() <= bound:
        return inside
    largest_first = inside[ranking.order(inside)]
    excess = (np.cumsum(largest_first) - bound) / np.arange(1, len(inside) + 1)
    kept = int(np.flatnonzero(largest_first > excess)[-1])
    return np.asarray(np.maximum(inside - excess[kept], 0.0))
