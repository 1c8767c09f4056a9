"""Losses: value, gradient and curvature of the scores of a query; `sweep` is the sum over all queries.

A loss is a frozen value that names a compiled kernel. A kernel sees ONE query, as contiguous float64 arrays:

    kernel(scores, labels, gradient, curvature, params) -> value

It fills `gradient` with ∂L/∂s and `curvature` with a diagonal second derivative, and returns L. `params[0]` holds
the loss's numeric parameters in the order of its fields; a loss with `learned` parameters writes their derivatives
to the same columns of `params[1]`. Losses never see features.

The target order of a query is given as grades, `labels[i]` per document, or as preferences (edges): rows (winner,
loser, probability, weight). A loss that learns from edges names a second kernel for them, of the same shape.

Weights of queries and documents, base scores and offsets of clicks need no support by a loss: see `sweep`.
"""

from __future__ import annotations

import dataclasses
import functools
import typing
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array
from podium.base.errors import DataError, IncompatibleError
from podium.base.registry import Named, field_types
from podium.data.dataset import Dataset
from podium.losses.bounds import Bound
from podium.losses.sweep import Derivatives, sweep

if TYPE_CHECKING:
    from podium.distributions import RankingDistribution


class Loss(Named):
    """Loss function of the scores and labels of a query; smaller is better. Its fields are its parameters."""

    kind: ClassVar[str] = "loss"
    home: ClassVar[str] = "podium.losses"
    grades: ClassVar[Any] = None
    """Kernel on grades, or None."""
    edges: ClassVar[Any] = None
    """Kernel on edges, or None."""
    grades_product: ClassVar[Any] = None
    """Kernel of the Hessian times a direction v, on grades: (scores, labels, v, out, params) → 0; or None."""
    edges_product: ClassVar[Any] = None
    """The same on edges, or None."""
    learned: ClassVar[tuple[str, ...]] = ()
    """Parameters that are trained together with the scorer, from their initial values."""
    shift_invariant: ClassVar[bool] = True
    """Whether adding a constant to all scores of a query leaves the loss unchanged."""
    fits_grades: ClassVar[bool] = False
    """Whether the best score of a document is on the scale of its grade."""
    convex: ClassVar[bool] = False
    """Whether the loss is convex in the scores and at least 0, so that every tangent is a lower bound."""
    curvature_is: ClassVar[Literal["exact", "bound"]] = "exact"
    """Whether `curvature` is ∂²L/∂s² or an upper bound of it that boosting can divide by."""
    weighs_edges: ClassVar[bool] = True
    """Whether an edge of weight 2 counts like two edges."""
    linear_in_labels: ClassVar[bool] = False
    """Whether L(s, y) = Σ y_d L(s, e_d), so that document weights enter as labels, in one call of the kernel. The
    kernel then takes negative labels as well, with |y_d| × curvature."""
    signed: ClassVar[bool] = False
    """Whether the sign of a score has a meaning, as in log odds: scores must take both signs."""
    surrogate: ClassVar[str | None] = None
    """Function whose exact derivative the gradient is, if that is not the value itself."""

    def __call__(self, scores: ArrayLike, labels: ArrayLike) -> Derivatives:
        """Loss of one query; `labels` are grades (n,), or edges: winner, loser[, probability[, weight]]."""
        s, y = np.array(scores, np.float64), np.array(labels, np.float64)
        if (self.grades if y.ndim == 1 else self.edges) is None:
            raise IncompatibleError(f"{self.name} does not learn from {'grades' if y.ndim == 1 else 'preferences'}.")
        if y.ndim == 1 and len(y) != len(s):
            raise DataError(f"{len(y)} labels for {len(s)} scores.")
        data = Dataset(np.empty((len(s), 0), np.float32), y if y.ndim == 1 else None, np.array([0, len(s)]))
        return sweep(self, s, data if y.ndim == 1 else data.with_preferences(*y.T), threads=1)

    @property
    def compares_ties(self) -> bool:
        """Whether documents of equal grade are compared too, and should get equal scores."""
        return False

    @property
    def offsets_are_exact(self) -> bool:
        """Whether log propensities as score offsets remove position bias exactly: the best scores are those of users
        who examine every result. Σ r_d ρ_d L(s + log ρ, e_d) has the optimum of Σ r_d L(s, e_d), for any r and ρ.
        """
        return False

    def objective(self, scores: ArrayLike, labels: ArrayLike) -> Callable[[Array], float]:
        """Function of scores whose derivative at `scores` is the gradient: the value, unless a surrogate.

        `labels`: grades or edges of the query, as for a call of the loss.
        """
        return lambda moved: self(moved, labels).value

    def bounds(self) -> tuple[Bound, ...]:
        """Metrics that a small value of this loss guarantees to be large; none if nothing is proved."""
        return ()

    def consistent_for(self) -> tuple[str, ...]:
        """Metrics for which the scores of least expected loss rank best, whatever the distribution of labels is."""
        return ()

    def check(self, data: Dataset) -> None:
        """Raise IncompatibleError if this loss cannot learn from the data.

        `data`: what to learn from; features are not looked at.
        """
        if self.uses_edges(data):
            if not self.weighs_edges and not (data.preferences.edges[:, 3] == 1.0).all():  # type: ignore[union-attr]
                raise IncompatibleError(
                    f"{self.name} compares preferences with each other and has no weights for them. Leave the weights "
                    "out, or use a pairwise loss such as ranknet."
                )
            return
        if data.labels is None and data.document_weights is None:
            has = "only preferences" if data.preferences is not None else "neither labels nor preferences"
            raise IncompatibleError(
                f"{self.name} learns from grades, but the data has {has}. "
                "Use data with labels" + (", or a pairwise loss such as ranknet." if data.preferences else ".")
            )
        if self.grades is None:
            raise IncompatibleError(f"{self.name} learns from preferences (edges), but the data has only grades.")

    def constants(self, data: Dataset) -> Array:
        """`kernel_constants` for the edges or labels of a dataset.

        `data`: what to learn from; its preferences take precedence over labels.
        """
        if self.uses_edges(data):
            return self.kernel_constants(data.preferences.edges)  # type: ignore[union-attr]
        labels = np.array([0.0, 1.0]) if data.document_weights is not None else data.labels
        return self.kernel_constants(labels)  # type: ignore[arg-type]

    def check_labels(self, data: Dataset) -> None:
        """Raise an error if a label is invalid for this loss, e.g. if its gain is negative.

        `data`: what to learn from; its preferences take precedence over labels.
        """
        self.constants(data)

    def uses_edges(self, data: Dataset) -> bool:
        """Whether the loss learns from explicit preferences, which take precedence over grades.

        `data`: what to learn from.
        """
        return self.edges is not None and data.preferences is not None

    def numeric_fields(self) -> dict[str, float]:
        """Numeric fields by name; a choice is its index in the list of options, None is −1."""
        numbers: dict[str, float] = {}
        for field, options in _options(type(self)).items():  # type: ignore[arg-type]
            value = getattr(self, field)
            if options:
                numbers[field] = float(options.index(value))
            elif value is None or isinstance(value, (bool, int, float)):
                numbers[field] = -1.0 if value is None else float(value)
        return numbers

    def kernel_constants(self, labels: Array) -> Array:
        """Constants of the kernel, `params[0]`: the numeric fields, then anything else that it needs.

        `labels` are the grades of all documents (N,), or all edges (M, 4).
        """
        return np.array(list(self.numeric_fields().values()), np.float64)

    def fitted_to(self, data: Dataset) -> Loss:
        """The same loss with statistics of the whole training data; itself if it needs none.

        `data`: the training data of all queries.
        """
        return self

    @property
    def seed_at(self) -> int | None:
        """Index of the random seed in the kernel constants; None if the loss is deterministic.

        A loss that samples has a field `seed`; the same seed gives the same bits.
        """
        return next((k for k, field in enumerate(self.numeric_fields()) if field == "seed"), None)

    def resampled(self, step: int) -> Loss:
        """The same loss with other random draws, for a step of a stochastic solver; itself if it is deterministic.

        `step`: number of the step, which is added to the seed.
        """
        if self.seed_at is None:
            return self
        return dataclasses.replace(self, seed=self.seed + step)  # type: ignore[type-var, attr-defined]

    def resampled_constants(self, constants: Array, step: int | None) -> Array:
        """Kernel constants of `resampled(step)`, from those of this loss; unchanged if `step` is None.

        `constants`: as the loss itself returns them for its data.
        """
        if step is None or self.seed_at is None:
            return constants
        moved = constants.copy()
        moved[self.seed_at] += step
        return moved

    def learned_values(self) -> Array:
        """Current values of the learned parameters."""
        return np.array([getattr(self, name) for name in self.learned], np.float64)

    def rank_distribution(self) -> tuple[RankingDistribution, float] | None:
        """The `RankingDistribution` whose likelihood training maximises, and the divisor of its scores; or None."""
        return None

    def with_learned(self, values: ArrayLike) -> Loss:
        """The same loss with other values of its learned parameters.

        `values`: a number for each name in `learned`, in that order.
        """
        if not self.learned:
            return self
        return dataclasses.replace(self, **dict(zip(self.learned, map(float, np.asarray(values)), strict=True)))  # type: ignore[type-var]


@functools.cache
def _options(kind: type) -> dict[str, tuple[Any, ...]]:
    """Options of each field; empty if it is not a choice."""
    hints = field_types(kind).items()
    return {field: typing.get_args(hint) if typing.get_origin(hint) is Literal else () for field, hint in hints}
