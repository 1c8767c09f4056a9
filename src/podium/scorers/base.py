"""Scorers: features → scores, and a score gradient → a parameter gradient. Labels are not theirs to fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from podium.data.dataset import Dataset
from podium.errors import IncompatibleError
from podium.registry import Named

Array = NDArray[np.float64]


class Scorer(Named):
    """A family of functions f(x; θ), θ an array that the solver moves."""

    kind: ClassVar[str] = "scorer"
    home: ClassVar[str] = "podium.scorers"
    solver: ClassVar[str]
    """The solver to use where none is named."""

    def check(self, data: Dataset) -> None:
        """Refuse, in words, training data that this scorer cannot take."""

    def score(self, params: Any, X: Any) -> Array:
        """The score of each row of features."""  # (N,)
        raise NotImplementedError


class SmoothScorer(Scorer):
    """A scorer that is a differentiable function of a flat array of parameters.

    One that keeps training data lists it behind θ in its parameters; derivatives are those of θ alone.
    """

    at_least_zero: ClassVar[bool] = False
    """Whether negative parameters mean nothing that positive ones do not."""

    def init(self, n_features: int, rng: np.random.Generator) -> Array:
        """Parameters to start from."""  # (P,)
        raise NotImplementedError

    def pullback(self, params: Array, X: Any, gradient: Array) -> Array:
        """Jᵀg: the gradient of Σ g_i·f(x_i; θ) with respect to θ."""  # (P,)
        raise NotImplementedError

    def remember(self, data: Dataset) -> Array:
        """What it keeps of the training data; nothing, unless it says so."""
        return np.empty(0)

    def score_with_pullback(self, params: Array, data: Dataset) -> tuple[Array, Callable[[Array], Array]]:
        """The scores to learn by, and their pullback: g → Jᵀg.

        A scorer that remembers training data hides from each document what it would copy.
        """
        return self.score(params, data.features), lambda gradient: self.pullback(params, data.features, gradient)

    def n_params(self, n_features: int) -> int:
        """How many parameters there are: P."""
        raise NotImplementedError

    def penalised(self, n_features: int) -> Array:
        """1 for each parameter that a penalty shrinks, 0 for offsets."""  # (P,)
        raise NotImplementedError

    def check_params(self, params: Array, n_features: int) -> None:
        """Refuse parameters of another shape, which compiled loops would read beyond their end."""
        expected = self.n_params(n_features)
        if params.shape != (expected,) or params.dtype != np.float64:
            raise IncompatibleError(
                f"{self.name} over {n_features} features has {expected} parameters of type float64; "
                f"got {params.dtype} of shape {params.shape}."
            )
