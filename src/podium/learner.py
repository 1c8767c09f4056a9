"""Learner: the base class of everything that is fitted to data and scores documents: recipes and algorithms."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import IncompatibleError, ModelFileError
from podium.base.registry import Named, build, field_types, read_all
from podium.transforms import State, Transform

if TYPE_CHECKING:
    from podium.data.dataset import Dataset
    from podium.scorers import Params, Prepared
    from podium.scorers.forms import Form
    from podium.solvers import Watch


_OF_METHODS = (
    "adapted", "auto", "bagged", "blended", "interpolated", "nearest", "nested", "per_class", "self_trained", "shrunk",
)  # fmt: skip


@dataclass(frozen=True)
class Learned:
    """Result of learning."""

    learner: Learner  # with the values of the parameters that it learns itself
    params: Params
    record: dict[str, Any]  # about the run, for the reader of a model: why it stopped, iterations, objective
    state: State | None = None  # of the learner's transform; None: as fitted to the training data


class Learner(Named):
    """A learning algorithm. Its fields are its parameters; one of them is the `transform` of the features."""

    kind: ClassVar[str] = "learner"
    home: ClassVar[str] = "podium.algorithms"
    elsewhere: ClassVar[tuple[str, ...]] = (
        "podium.recipe",
        "podium.model",
        *(f"podium.ensembles.{name}" for name in _OF_METHODS),
    )
    transform: Transform
    """What is done to the features before the method sees them."""

    takes_document_weights: ClassVar[bool] = False
    """Whether it can learn from document weights; `training.fit` raises an error if it cannot."""
    takes_base_scores: ClassVar[bool] = False
    """Whether it can learn what to add to the base scores of data; `training.fit` raises an error if it cannot."""
    cross_validates: ClassVar[bool] = False
    """Whether it chooses its hyperparameters by cross-validation, and so learns from all queries."""
    wants_unjudged: ClassVar[bool] = False
    """Whether it learns from documents without a label, too; `training.fit` leaves them out if not."""

    @property
    def per_query(self) -> bool:
        """Whether a document's score depends on the other documents of its query."""
        return self.transform.per_query

    @property
    def predicts_grades(self) -> bool:
        """Whether its scores are on the scale of grades."""
        return False

    @property
    def takes_row_weights(self) -> bool:
        """Whether it can learn from weights of rows; `training.fit` raises an error if it cannot."""
        return False

    @property
    def takes_positions(self) -> bool:
        """Whether it leaves out the bias of positions; `training.fit` raises an error if it cannot."""
        return False

    @property
    def takes_categories(self) -> bool:
        """Whether it can learn from features of categories; `training.fit` raises an error if it cannot."""
        return self.transform.categories == "numbers"

    def query_columns(self, params: Params, state: State) -> tuple[str, ...]:
        """Query features that the fitted learner, and its transform with this state, cannot score without.

        `params`: learned arrays, by name.
        `state`: learned arrays of the transform, by name.
        """
        return self.transform.query_columns(state)

    def check(self, data: Dataset) -> None:
        """Raise a clear error, before work starts, if the parameters or the data cannot be used."""

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        """Fit to transformed data; `watch.valid` is transformed too."""
        raise NotImplementedError

    def learn_on(self, params: Params, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        """Go on from the parameters of a fitted model, as `learn` begins from none."""
        raise IncompatibleError(
            f"{self.name} cannot go on from a model: it is no recipe of a loss, a scorer and a solver. Train it anew, "
            "or put a method on top of the model: adapted."
        )

    def score(self, params: Params, data: Dataset) -> Array:
        """Scores of the documents of transformed data; larger is better."""
        raise NotImplementedError

    def prepare(self, params: Params, n_features: int) -> Prepared:
        """A scoring function of transformed data; work that does not depend on the data is done here, once."""
        return functools.partial(self.score, params)

    def weighted_members(self, params: Params, data: Dataset) -> list[tuple[Array, Any]] | None:
        """Models, with a weight for each document: the weighted sum of their scores has the differences of scores in
        each query, with the mean and spread of members' scores in the query as they are. None if there are none.

        `params`: learned arrays, by name.
        `data`: transformed data.
        """  # (N,) each
        return None

    def form(self, params: Params, n_features: int) -> Form | None:
        """Form of the fitted model over transformed features (linear, trees, …); None if it has none of them."""
        return None

    def best_grade_probability(self, params: Params, data: Dataset) -> Array:
        """The probability of the best grade, for each document of transformed data.

        `params`: learned arrays, by name.
        `data`: transformed data (N, d).
        """
        raise IncompatibleError(
            f"{self.name} learns scores, not probabilities of grades. Train a method that does: mcrank."
        )

    def spread(self, params: Params, data: Dataset) -> Array:
        """Standard deviation of its members' scores, or of its prediction, for each document of transformed data.

        `params`: learned arrays, by name.
        `data`: transformed data (N, d).
        """
        raise IncompatibleError(
            f"{self.name} is one model, so its scores have no spread. Train several: 'bagged(of=…,members=8)'."
        )

    def member_grades(self, params: Params, data: Dataset) -> Array:
        """The grade of each document of transformed data by each of its members.

        `params`: learned arrays, by name.
        `data`: transformed data (N, d).
        """  # (members, N)
        raise IncompatibleError(
            f"{self.name} is one model, and has no members that could differ. Train several: podium train --method "
            "'bagged(of=…)'."
        )

    def grades(self, params: Params, data: Dataset) -> Array:
        """Predicted grade of each document of transformed data: one of those in the training data.

        `params`: learned arrays, by name.
        `data`: transformed data (N, d).
        """  # (N,)
        raise IncompatibleError(
            "The model has learned an order, and no thresholds between grades. Learn them from labelled data, "
            "model.with_thresholds(data) or podium rank --format grades --thresholds DATA; or use prank, oc-svm or "
            "mcrank, which learn grades."
        )

    @classmethod
    def specified(cls, parameters: dict[str, str]) -> Learner:
        """The learner of a specification: its parameters, as text.

        `parameters`: text of each parameter, by name; those left out keep their defaults.
        """
        return build(cls, parameters)

    def grid(self) -> dict[str, tuple[Any, ...]]:
        """Hyperparameters to choose from on validation data, if it has no row in the table of methods."""
        return {}

    def digest(self) -> str:
        """Hash of other inputs than its parameters and the data, such as a file; empty for most learners."""
        return ""

    def changed(self, parameters: dict[str, str]) -> Learner:
        """The learner with other values of parameters, as text."""
        return replace(self, **read_all(type(self), parameters))  # type: ignore[type-var]

    def parameter_names(self) -> set[str]:
        """Names that `changed` takes."""
        return set(field_types(type(self)))

    def has_parameter(self, key: str) -> bool:
        """Whether it has a parameter of this name."""
        return key in field_types(type(self))


def fitted(params: Params, name: str, shape: tuple[int | None, ...]) -> Array:
    """Array of a fitted learner as float64; raises an error if it is missing or has another shape."""
    array = params.get(name)
    if (
        array is None
        or array.ndim != len(shape)
        or any(n not in (None, m) for n, m in zip(shape, array.shape, strict=True))
    ):
        got = "nothing" if array is None else f"shape {array.shape}"
        expected = "(" + ", ".join("any" if n is None else str(n) for n in shape) + ")"
        raise ModelFileError(
            f"The model's array {name!r} should have shape {expected}; got {got}. Train the model again."
        )
    return np.asarray(array, np.float64)
