"""Problem: the training objective of a loss and a scorer on a dataset, as a function of the parameters θ.

    F(θ) = (1/Q) Σ_q L_q(f(X_q; θ)) + (λ/2)‖θ‖²

θ has the scorer's parameters, then the loss's learned ones. Offsets and the loss's parameters are not penalised.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from podium.base.arrays import Array, is_sparse
from podium.base.errors import DataError
from podium.base.matrix_on_disk import in_blocks
from podium.data.dataset import Dataset
from podium.losses import Loss, product, sweep
from podium.scorers import Params, Scorer, SmoothScorer


@dataclass(frozen=True, eq=False)
class Point:
    """Parameters of a scorer that is linear in them, with their scores on the training data; a step moves both."""

    theta: Array
    scores: Array | None  # None if the training data is elsewhere

    def moved(self, length: float, step: Point) -> Point:
        """The point `length` steps from here."""
        if self.scores is None or step.scores is None:
            return Point(self.theta + length * step.theta, None)
        return Point(self.theta + length * step.theta, self.scores + length * step.scores)


@dataclass(frozen=True, eq=False)
class Problem:
    """The objective F that a solver minimises, with its gradient and Hessian products."""

    loss: Loss
    scorer: Scorer
    data: Dataset
    penalty: float = 0.0
    reference: Params | None = None  # documents that the scorer keeps; set when the problem is created
    begin: Params | None = None  # parameters of a fitted scorer to go on from

    def __post_init__(self) -> None:
        if self.reference is None:
            object.__setattr__(self, "data", without_ids(self.data))
            object.__setattr__(self, "loss", self.loss.fitted_to(self.data))
            kept = self.scorer.reference(self.data) if isinstance(self.scorer, SmoothScorer) else {}
            object.__setattr__(self, "reference", kept)

    def start(self, rng: np.random.Generator) -> Array:
        """Initial parameters: those to go on from, if there are any."""
        if self.begin is not None:
            return np.concatenate([self.begin["theta"], self.loss.learned_values()])
        return np.concatenate([self._smooth.init(self.data.n_features, rng), self.loss.learned_values()])

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """F and its gradient over all queries."""
        return self.on(self.data, theta)

    def on(self, data: Dataset, theta: Array, step: int | None = None) -> tuple[float, Array]:
        """F and its gradient over a subset of queries; losses and scorers that draw do so anew at each step."""
        params, loss = self.split(theta)
        scorer = self._smooth if step is None else self._smooth.resampled(step)
        scores, pullback = scorer.score_with_pullback(params, data)
        constants = loss.constants(data) if loss.learned else self.constants
        got = sweep(loss, scores, data, constants=loss.resampled_constants(constants, step))
        down = pullback(got.gradient)
        gradient = (np.concatenate([down, got.params]) if len(got.params) else down) / data.n_queries
        if self.penalty == 0.0:
            return got.value / data.n_queries, gradient
        return got.value / data.n_queries + self._shrinkage(theta), gradient + self.penalty * self.penalised * theta

    def point(self, theta: Array) -> Point:
        """Parameters with their scores on the training data, which takes a pass over the features."""
        return Point(theta, self.scores(theta, self.data))

    def value_at(self, point: Point) -> float:
        """F without a pass over the features."""
        assert point.scores is not None, "made by `point`"
        got = sweep(self.split(point.theta)[1], point.scores, self.data)
        return got.value / self.data.n_queries + self._shrinkage(point.theta)

    def hessian_product_at(self, point: Point, v: Point) -> Array:
        """∇²F·v for a scorer that is linear in θ."""
        assert point.scores is not None, "made by `point`"
        assert v.scores is not None, "made by `point`"
        bent = product(self.loss, point.scores, self.data, direction=v.scores)
        down = self._smooth.pullback(self.split(v.theta)[0], self.data, bent)
        return down / self.data.n_queries + self.penalty * self.penalised * v.theta

    def split(self, theta: Array) -> tuple[Params, Loss]:
        """The scorer's parameters, and the loss with its learned parameters at their values."""
        n = len(theta) - len(self.loss.learned)
        return {"theta": theta[:n], **(self.reference or {})}, self.loss.with_learned(theta[n:])

    def scores(self, theta: Array, data: Dataset) -> Array:
        """Scores of other data."""
        return self._smooth.score(self.split(theta)[0], data)

    def _shrinkage(self, theta: Array) -> float:
        return 0.5 * self.penalty * float(np.sum(self.penalised * theta * theta))

    @property
    def _smooth(self) -> SmoothScorer:
        assert isinstance(self.scorer, SmoothScorer), "solvers check this before they start"
        return self.scorer

    @cached_property
    def constants(self) -> Array:
        """Constants of the loss's kernel (see `Loss.constants`) for the whole data; subsets of queries share them."""
        return self.loss.constants(self.data)

    @cached_property
    def penalised(self) -> Array:
        """1 for each parameter that the penalty shrinks, 0 for offsets and the loss's parameters."""
        return np.append(self._smooth.penalised(self.data.n_features), np.zeros(len(self.loss.learned)))


def without_ids(data: Dataset) -> Dataset:
    """The dataset without ids and comments, so that selecting queries is cheap; queries are numbered."""
    return replace(data, query_ids=np.arange(data.n_queries), document_ids=None, comments=None, rows=None)


def refuse_missing(data: Dataset, what: str) -> None:
    """Raise a clear error if features are missing or infinite, and the scorer cannot take them."""
    first = 0
    for values in [data.features.data] if is_sparse(data.features) else in_blocks(data.features):
        if not np.isfinite(values).all():
            break
        first += len(values)
    else:
        return
    at = int(np.flatnonzero(~np.isfinite(values).ravel())[0])
    if is_sparse(data.features):
        row, column = int(np.searchsorted(data.features.indptr, at, side="right")) - 1, int(data.features.indices[at])
    else:
        row, column = first + at // data.n_features, at % data.n_features
    raise DataError(
        f"document {data.document_name(row)}, feature {column + 1}: value {values.ravel()[at]}, which {what} "
        "cannot take. Use transform=zscore (missing values become the mean) or scorer=trees.",
        where=data.source,
    )
