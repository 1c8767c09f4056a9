"""Scorers: documents → scores, and a score gradient → a parameter gradient. Labels are not theirs to fit.

A scorer sees the whole dataset, so the score of a document may depend on the others of its query. Most look at one row
of features at a time: they derive from `RowScorer`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Array
from podium.base.errors import IncompatibleError
from podium.base.registry import Named
from podium.data.dataset import Dataset
from podium.scorers.forms import Form

Params = dict[str, NDArray[Any]]
"""What a fitted scorer or learner knows: arrays by name, which is all that a model file holds."""
Prepared = Callable[[Dataset], Array]
"""A fitted scorer, ready to score: what has to be parsed or copied once is already done."""


class Scorer(Named):
    """A family of functions f(x; θ) from documents to scores."""

    kind: ClassVar[str] = "scorer"
    home: ClassVar[str] = "podium.scorers"
    elsewhere = ("podium.scorers.trees.trees",)
    solver: ClassVar[str]
    """The solver to use where none is named."""
    per_query: ClassVar[bool] = True
    """Whether a document's score depends on the other documents of its query."""

    def check(self, data: Dataset) -> None:
        """Raise a clear error if this scorer cannot be trained on the data."""

    def score(self, params: Params, data: Dataset) -> Array:
        """The score of each document."""  # (N,)
        raise NotImplementedError

    def prepare(self, params: Params, n_features: int) -> Prepared:
        """A function from datasets to scores that does once what does not depend on the data."""
        return functools.partial(self.score, params)

    def form(self, params: Params, n_features: int) -> Form | None:
        """What the fitted scorer is made of; None where it has none of the known forms."""
        return None


class SmoothScorer(Scorer):
    """A scorer that is a differentiable function of a flat array of parameters, θ = params["theta"]."""

    at_least_zero: ClassVar[bool] = False
    """Whether negative parameters mean nothing that positive ones do not."""

    def init(self, n_features: int, rng: np.random.Generator) -> Array:
        """Parameters θ to start from."""  # (P,)
        raise NotImplementedError

    def pullback(self, params: Params, data: Dataset, gradient: Array) -> Array:
        """Jᵀg: the gradient of Σ g_i·f(x_i; θ) with respect to θ."""  # (P,)
        raise NotImplementedError

    def score_with_pullback(self, params: Params, data: Dataset) -> tuple[Array, Callable[[Array], Array]]:
        """The scores to learn by, and their pullback: g → Jᵀg.

        Of training data alone. A scorer that keeps reference documents hides from each document what it would copy.
        """
        return self.score(params, data), lambda gradient: self.pullback(params, data, gradient)

    def reference(self, data: Dataset) -> Params:
        """The reference documents that it keeps of the training data, beside θ; most keep none."""
        return {}

    def n_params(self, n_features: int) -> int:
        """The number of parameters P."""
        raise NotImplementedError

    def penalised(self, n_features: int) -> Array:
        """1 for each parameter that a penalty shrinks, 0 for offsets."""  # (P,)
        raise NotImplementedError

    def theta(self, params: Params, n_features: int) -> Array:
        """θ of fitted parameters; raises a clear error for another shape, which compiled loops would read beyond."""
        theta, expected = params.get("theta", np.empty(0)), self.n_params(n_features)
        if theta.shape != (expected,) or theta.dtype != np.float64:
            raise IncompatibleError(
                f"{self.name} over {n_features} features has {expected} parameters of type float64; "
                f"got {theta.dtype} of shape {theta.shape}."
            )
        return theta


class RowScorer(SmoothScorer):
    """A scorer that looks at one row of features at a time."""

    per_query: ClassVar[bool] = False

    def score_rows(self, theta: Array, X: Any) -> Array:
        """The score of each row of features, dense or CSR."""  # (N,)
        raise NotImplementedError

    def pullback_rows(self, theta: Array, X: Any, gradient: Array) -> Array:
        """Jᵀg over the rows."""  # (P,)
        raise NotImplementedError

    def score(self, params: Params, data: Dataset) -> Array:
        return self.prepare(params, data.n_features)(data)

    def prepare(self, params: Params, n_features: int) -> Prepared:
        theta = self.theta(params, n_features)

        def scores(data: Dataset) -> Array:
            known = theta if data.n_features == n_features else self.theta(params, data.n_features)
            return self.score_rows(known, data.features)

        return scores

    def pullback(self, params: Params, data: Dataset, gradient: Array) -> Array:
        return self.pullback_rows(self.theta(params, data.n_features), data.features, gradient)
