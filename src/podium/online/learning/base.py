"""Online learning to rank: a model makes a results page for a query, users click, and each click updates the model.

    >>> import numpy as np
    >>> from podium.data.synthetic import make_letor_like
    >>> from podium.online.learning import PDGD, start
    >>> data, _ = make_letor_like(20, seed=1)
    >>> model, learner, rng = start(data), PDGD(), np.random.default_rng(0)
    >>> page = learner.page(model, data.select([3]), rng, length=5)
    >>> len(page.rows)  # show these documents, from the top
    5
    >>> model = learner.step(model, page, [1, 3])  # the first and the third were clicked

A model is immutable: `step` returns a new one. Any recipe with a differentiable scorer can go on learning, e.g. one
that `podium.train` fitted to judgments.
"""

from __future__ import annotations

import abc
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from podium.base.arguments import random_numbers
from podium.base.arrays import Array, Flags, Ints
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
    """Results page of one query, with the state that its learner needs later."""

    query: Dataset  # the documents of the query, with transformed features
    rows: Ints  # (k,) those shown, from the top, as rows of the query
    memory: Any

    def clicked(self, clicks: Iterable[int]) -> Flags:
        """Whether each position was clicked; `clicks` are positions from 1."""  # (k,)
        clicked = np.zeros(len(self.rows), np.bool_)
        for position in clicks:
            if not 1 <= position <= len(clicked):
                raise DataError(f"a click at position {position}, but the page has positions 1 to {len(clicked)}.")
            clicked[position - 1] = True
        return clicked


class OnlineLearner(Named):
    """Online learner: makes results pages that explore, and learns from their clicks; its fields are its parameters."""

    kind: ClassVar[str] = "online learner"
    home: ClassVar[str] = "podium.online.learning"

    def page(self, model: Model, query: Dataset, rng: np.random.Generator, *, length: int = 10) -> OnlinePage:
        """Make a page of at most `length` documents of one query."""
        _scorer(model)
        if query.n_queries != 1:
            raise DataError(f"a page is for one query; got {query.n_queries}.", where=query.source)
        ready = model.learner.transform.apply(model.state, model.align_features(query))
        rows, memory = self.choose(model, ready, rng, min(length, query.n_documents))
        return OnlinePage(ready, rows, memory)

    def step(self, model: Model, page: OnlinePage, clicks: Iterable[int]) -> Model:
        """Update the model by the clicks on a page that it made, given as positions from 1."""
        change = self.change(model, page, page.clicked(clicks))
        if change is None:
            return model
        return replace(model, params={**model.params, "theta": model.params["theta"] + change})

    @abc.abstractmethod
    def choose(self, model: Model, query: Dataset, rng: np.random.Generator, length: int) -> tuple[Ints, Any]:
        """Choose the rows to show, from the top, and the state that `change` needs."""

    @abc.abstractmethod
    def change(self, model: Model, page: OnlinePage, clicked: Flags) -> Array | None:
        """Change of the parameters; None if the clicks are not informative."""


def start(data: Dataset, scorer: Scorer | str = "linear", *, seed: int = 0) -> Model:
    """Untrained model: standardised features, and the scorer's initial parameters."""
    chosen = Scorer.parse(scorer) if isinstance(scorer, str) else scorer
    if not isinstance(chosen, SmoothScorer):
        raise IncompatibleError(f"{chosen.name} does not learn click by click. Use scorer=linear or scorer=mlp.")
    learner = Recipe(loss=Softmax(), scorer=chosen, transform=ZScore())
    state = learner.transform.fit(data)
    width = learner.transform.apply(state, data).n_features
    params = {"theta": chosen.init(width, random_numbers(seed))}
    return Model(learner, params, state, data.n_features, data.feature_names, {"seed": seed})


def scores_of(model: Model, query: Dataset) -> Array:
    """Scores of transformed documents."""
    return _scorer(model).score(model.params, query)


def pulled_back(model: Model, query: Dataset, gradient: Array) -> Array:
    """Gradient in the parameters, from a gradient in the scores."""
    return _scorer(model).pullback(model.params, query, gradient)


def _scorer(model: Model) -> SmoothScorer:
    scorer = model.learner.scorer if isinstance(model.learner, Recipe) else None
    if not isinstance(scorer, SmoothScorer):
        raise IncompatibleError(
            f"{model.learner.name} does not learn click by click. Use a recipe with scorer=linear or scorer=mlp."
        )
    return scorer
