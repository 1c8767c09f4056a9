"""Online learners: a model makes a page for a query, people click, and the clicks make the next model.

    >>> import numpy as np
    >>> from podium.data.synthetic import make_letor_like
    >>> from podium.online.learning import PDGD, start
    >>> data, _ = make_letor_like(20, seed=1)
    >>> model, learner, rng = start(data), PDGD(), np.random.default_rng(0)
    >>> page = learner.page(model, data.select([3]), rng, length=5)
    >>> len(page.rows)  # show these documents, from the top
    5
    >>> model = learner.step(model, page, [1, 3])  # the first and the third were clicked

A model is immutable: `step` returns another one. Any recipe with a differentiable scorer can learn on, e.g. one that
`podium.train` fitted to judgments.
"""

from __future__ import annotations

import abc
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from podium.base.arguments import random_numbers
from podium.base.arrays import Array
from podium.base.errors import DataError, IncompatibleError
from podium.base.registry import Named
from podium.data.dataset import Dataset
from podium.losses import Softmax
from podium.model import Model
from podium.recipe import Recipe
from podium.scorers import Scorer, SmoothScorer
from podium.transforms import ZScore


@dataclass(frozen=True, eq=False)
class OnlinePage:
    """A page made for one query, and what its learner must remember of it."""

    query: Dataset  # the documents of the query, with transformed features
    rows: NDArray[np.int64]  # (k,) those shown, from the top, as rows of the query
    memory: Any

    def clicked(self, clicks: Iterable[int]) -> NDArray[np.bool_]:
        """Whether each position was clicked; `clicks` are positions from 1."""  # (k,)
        found = np.zeros(len(self.rows), np.bool_)
        for place in clicks:
            if not 1 <= place <= len(found):
                raise DataError(f"a click at position {place}, but the page has positions 1 to {len(found)}.")
            found[place - 1] = True
        return found


class OnlineLearner(Named):
    """A way to make pages that one can learn from, and to learn from them. Its fields are its parameters."""

    kind: ClassVar[str] = "online learner"
    home: ClassVar[str] = "podium.online.learning"

    def page(self, model: Model, query: Dataset, rng: np.random.Generator, *, length: int = 10) -> OnlinePage:
        """A page of at most `length` documents of one query."""
        _scorer(model)
        if query.n_queries != 1:
            raise DataError(f"a page is for one query; got {query.n_queries}.", where=query.source)
        ready = model.learner.transform.apply(model.state, model.align_features(query))
        rows, memory = self.choose(model, ready, rng, min(length, query.n_documents))
        return OnlinePage(ready, rows, memory)

    def step(self, model: Model, page: OnlinePage, clicks: Iterable[int]) -> Model:
        """The model after the clicks on a page that it made, given as positions from 1."""
        change = self.change(model, page, page.clicked(clicks))
        if change is None:
            return model
        return replace(model, params={**model.params, "theta": model.params["theta"] + change})

    @abc.abstractmethod
    def choose(
        self, model: Model, query: Dataset, rng: np.random.Generator, length: int
    ) -> tuple[NDArray[np.int64], Any]:
        """The rows to show, from the top, and what `change` needs to know."""

    @abc.abstractmethod
    def change(self, model: Model, page: OnlinePage, clicked: NDArray[np.bool_]) -> Array | None:
        """What to add to the parameters; None where the clicks say nothing."""


def start(data: Dataset, scorer: Scorer | str = "linear", *, seed: int = 0) -> Model:
    """A model that has learned nothing yet: standardised features, and the scorer's parameters to start from."""
    known = Scorer.parse(scorer) if isinstance(scorer, str) else scorer
    if not isinstance(known, SmoothScorer):
        raise IncompatibleError(f"{known.name} does not learn click by click. Use scorer=linear or scorer=mlp.")
    learner = Recipe(loss=Softmax(), scorer=known, transform=ZScore())
    state = learner.transform.fit(data)
    width = learner.transform.apply(state, data).n_features
    params = {"theta": known.init(width, random_numbers(seed))}
    return Model(learner, params, state, data.n_features, data.feature_names, {"seed": seed})


def scores_of(model: Model, query: Dataset) -> Array:
    """The scores of transformed documents."""
    return _scorer(model).score(model.params, query)


def pulled_back(model: Model, query: Dataset, gradient: Array) -> Array:
    """A gradient in scores as one in parameters."""
    return _scorer(model).pullback(model.params, query, gradient)


def _scorer(model: Model) -> SmoothScorer:
    scorer = model.learner.scorer if isinstance(model.learner, Recipe) else None
    if not isinstance(scorer, SmoothScorer):
        raise IncompatibleError(
            f"{model.learner.name} does not learn click by click. Use a recipe with scorer=linear or scorer=mlp."
        )
    return scorer
