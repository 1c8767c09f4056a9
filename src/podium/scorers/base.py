"""Scorer: the base class of scoring functions, from features to scores and from score gradients to parameter gradients.

A scorer gets the whole dataset, so the score of a document may depend on the other documents of its query. Most score
one row of features at a time: they derive from `RowScorer`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from podium.base.arrays import AnyArray, Array
from podium.base.errors import IncompatibleError
from podium.base.registry import Named
from podium.data.dataset import Dataset
from podium.scorers.forms import Form

if TYPE_CHECKING:
    import scipy.sparse as sp

    from podium.base.arrays import Singles

    Features = Singles | sp.csr_array  # (N, d) dense or CSR; rows on disk are indexed as dense ones

Params = dict[str, AnyArray]
"""Parameters of a fitted scorer or learner: arrays by name, as in a model file."""
Prepared = Callable[[Dataset], Array]
"""A fitted scorer, ready to score: parsing and copying are done."""


class Scorer(Named):
    """A family of scoring functions f(x; θ) of documents."""

    kind: ClassVar[str] = "scorer"
    home: ClassVar[str] = "podium.scorers"
    elsewhere = ("podium.scorers.trees.trees",)
    solver: ClassVar[str]
    """The default solver."""
    per_query: ClassVar[bool] = True
    """Whether a document's score depends on the other documents of its query."""
    splits_categories: ClassVar[bool] = False
    """Whether it learns from categories as they are, not from numbers made of them."""

    @property
    def constrained(self) -> bool:
        """Whether some of its parameters speak of single features."""
        return False

    @property
    def sees_order(self) -> bool:
        """Whether the order of a query's documents changes their scores."""
        return False

    def check(self, data: Dataset) -> None:
        """Raise a clear error if this scorer cannot be trained on the data."""

    def score(self, params: Params, data: Dataset) -> Array:
        """Score of each document."""  # (N,)
        raise NotImplementedError

    def prepare(self, params: Params, n_features: int) -> Prepared:
        """A scoring function of datasets; work that does not depend on the data is done here, once."""
        return functools.partial(self.score, params)

    def form(self, params: Params, n_features: int) -> Form | None:
        """Form of the fitted scorer (linear, trees, …); None if it has none of them."""
        return None


class SmoothScorer(Scorer):
    """A scorer that is a differentiable function of a flat array of parameters, θ = params["theta"]."""

    at_least_zero: ClassVar[bool] = False
    """Whether parameters can be restricted to θ ≥ 0, since their signs do not matter."""

    @property
    def draws(self) -> bool:
        """Whether scores in training are random, as with dropout; solvers that compare values refuse that."""
        return False

    def resampled(self, step: int) -> SmoothScorer:
        """The same scorer with other random draws, for a step of a stochastic solver; itself if it draws nothing."""
        return self

    def init(self, n_features: int, rng: np.random.Generator) -> Array:
        """Initial parameters θ."""  # (P,)
        raise NotImplementedError

    def pullback(self, params: Params, data: Dataset, gradient: Array) -> Array:
        """Jᵀg: the gradient of Σ g_i·f(x_i; θ) with respect to θ."""  # (P,)
        raise NotImplementedError

    def score_with_pullback(self, params: Params, data: Dataset) -> tuple[Array, Callable[[Array], Array]]:
        """Scores of training data to learn from, and their pullback: g → Jᵀg.

        A scorer that keeps reference documents leaves out those of the same query, whose labels it would copy.
        """
        return self.score(params, data), lambda gradient: self.pullback(params, data, gradient)

    def reference(self, data: Dataset) -> Params:
        """Training documents that are kept in the model besides θ; most scorers keep none."""
        return {}

    def n_params(self, n_features: int) -> int:
        """Number of parameters P."""
        raise NotImplementedError

    def penalised(self, n_features: int) -> Array:
        """1 for each parameter that a penalty shrinks, 0 for offsets."""  # (P,)
        raise NotImplementedError

    def theta(self, params: Params, n_features: int) -> Array:
        """θ of fitted parameters; raises a clear error for a wrong shape, since compiled loops do not check bounds."""
        theta, expected = params.get("theta", np.empty(0)), self.n_params(n_features)
        if theta.shape != (expected,) or theta.dtype != np.float64:
            raise IncompatibleError(
                f"{self.name} over {n_features} features has {expected} parameters of type float64; "
                f"got {theta.dtype} of shape {theta.shape}."
            )
        return theta


class RowScorer(SmoothScorer):
    """A scorer of one row of features at a time."""

    per_query: ClassVar[bool] = False

    def score_rows(self, theta: Array, X: Features) -> Array:
        """Score of each row of features."""  # (N,)
        raise NotImplementedError

    def pullback_rows(self, theta: Array, X: Features, gradient: Array) -> Array:
        """Jᵀg over the rows."""  # (P,)
        raise NotImplementedError

    def score(self, params: Params, data: Dataset) -> Array:
        return self.prepare(params, data.n_features)(data)

    def prepare(self, params: Params, n_features: int) -> Prepared:
        theta = self.theta(params, n_features)

        def scores(data: Dataset) -> Array:
            if data.n_features != n_features:
                self.theta(params, data.n_features)  # raises a clear error
            return self.score_rows(theta, data.features)

        return scores

    def pullback(self, params: Params, data: Dataset, gradient: Array) -> Array:
        return self.pullback_rows(self.theta(params, data.n_features), data.features, gradient)
