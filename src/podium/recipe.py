"""Recipe: transform + scorer + loss + solver, the four parts of most learning-to-rank methods.

>>> from podium.recipe import Recipe
>>> Recipe.parse("recipe(loss=listnet,scorer=mlp(hidden=[16]),solver=adam)")
recipe(loss=listnet,scorer=mlp(hidden=[16]),solver=adam)
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from podium.algorithms.requirements import needs_grades, needs_pairs, needs_weights
from podium.base.arrays import Array
from podium.base.errors import IncompatibleError, ParameterError, UnknownNameError
from podium.base.familiar_names import renamed
from podium.base.registry import field_types, read, register
from podium.data.dataset import Dataset
from podium.learner import Learned, Learner
from podium.losses import Loss, RankNet
from podium.problem import Problem, refuse_missing
from podium.scorers import Linear, Params, Prepared, Scorer, SmoothScorer
from podium.scorers.forms import Form
from podium.solvers import LBFGS, Solver, Watch
from podium.transforms import Transform, ZScore

_PARTS = ("loss", "scorer", "solver", "transform")


@register
class Recipe(Learner):
    """Any loss with any scorer, and any solver that can minimise the loss over that scorer."""

    loss: Loss = RankNet()
    """What training minimises."""
    scorer: Scorer = Linear()
    """Function from features to scores."""
    solver: Solver = LBFGS()
    """Algorithm that minimises the loss."""
    transform: Transform = ZScore()
    """What is done to the features before the scorer sees them."""
    takes_document_weights: ClassVar[bool] = True
    takes_base_scores: ClassVar[bool] = True

    @property
    def per_query(self) -> bool:
        return self.transform.per_query or self.scorer.per_query

    @property
    def predicts_grades(self) -> bool:
        return self.loss.fits_grades

    @property
    def takes_row_weights(self) -> bool:
        return self.solver.boosts

    @property
    def takes_positions(self) -> bool:
        return self.solver.boosts

    @property
    def takes_categories(self) -> bool:
        if self.transform.categories == "kept":
            return self.scorer.splits_categories
        return super().takes_categories

    def check(self, data: Dataset) -> None:
        self.solver.check(self.loss, self.scorer)
        self.loss.check(data)
        self.scorer.check(data)
        if self.transform.why_not_trees and not isinstance(self.scorer, SmoothScorer):
            raise IncompatibleError(self.transform.why_not_trees)
        self.transform.check(data)
        if self.scorer.constrained and self.transform.mixes:
            raise IncompatibleError(
                f"rising, falling, together and costs speak of single features, but {self.transform.name} mixes "
                "several. Use transform=identity, or another that keeps features apart."
            )
        if data.document_weights is not None:
            needs_weights(data, self.loss.name)
            if data.score_offsets is not None and not self.loss.offsets_are_exact:
                exact = [name for name, kind in Loss.catalogue().items() if kind().offsets_are_exact]
                raise IncompatibleError(
                    f"{self.loss}: with propensities as score offsets, its best scores are not those of clicks without "
                    f"position bias. Divide clicks by propensities, or use {', '.join(exact)} with their default "
                    "parameters; lambdamart as lambdamart(damped=false,by_grade=0)."
                )
            if self.solver.needs_convex and (data.relevance() < 0).any():
                raise IncompatibleError(
                    f"{self.solver.name} needs a convex objective, which negative document weights undo. "
                    "Use solver=lbfgs or solver=adam."
                )
        elif self.loss.shift_invariant:
            needs_pairs(data, self.loss.name)
        elif not self.loss.uses_edges(data):
            needs_grades(data, self.loss.name)
        self.loss.check_labels(data)

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        if isinstance(self.scorer, SmoothScorer):
            refuse_missing(data, self.scorer.name)
        return self.solved(Problem(self.loss, self.scorer, data, self.solver.penalty), rng, watch)

    def learn_on(self, params: Params, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        if isinstance(self.scorer, SmoothScorer):
            refuse_missing(data, self.scorer.name)
        return self.solved(Problem(self.loss, self.scorer, data, self.solver.penalty, begin=params), rng, watch)

    def solved(self, problem: Problem, rng: np.random.Generator, watch: Watch) -> Learned:
        """Solve a problem of this recipe: the learned parameters, and a record of the run.

        `problem`: loss, scorer and transformed data together.
        `rng`: the only source of chance.
        `watch`: records each iteration, and says when to stop.
        """
        solution = self.solver.solve(problem, rng, watch)
        record = {"stopped": solution.reason, "iterations": solution.iterations, "objective": solution.value}
        record |= solution.record
        return Learned(dataclasses.replace(self, loss=solution.loss), solution.params, record)

    def score(self, params: Params, data: Dataset) -> Array:
        return self.prepare(params, data.n_features)(data)

    def prepare(self, params: Params, n_features: int) -> Prepared:
        scores = self.scorer.prepare(params, n_features)
        if not isinstance(self.scorer, SmoothScorer):
            return scores

        def finite(data: Dataset) -> Array:
            refuse_missing(data, self.scorer.name)
            return scores(data)

        return finite

    def form(self, params: Params, n_features: int) -> Form | None:
        return self.scorer.form(params, n_features)

    def changed(self, parameters: dict[str, str]) -> Recipe:
        """The recipe with other parts (`scorer=mlp`) or other parameters of its parts (`penalty=0.1`).

        Another kind of scorer brings its default solver, unless `parameters` name one.
        """
        recipe, rest = self, dict(parameters)
        for part in _PARTS:
            if part in rest:
                value = read(rest.pop(part), field_types(Recipe)[part], part)
                recipe = dataclasses.replace(recipe, **{part: value})
        if "solver" not in parameters and type(recipe.scorer) is not type(self.scorer):
            recipe = dataclasses.replace(recipe, solver=Solver.parse(recipe.scorer.solver))
        for key, text in renamed(rest, recipe.parameter_names()).items():
            recipe = recipe._with_parameter(key, text)
        return recipe

    def parameter_names(self) -> set[str]:
        return {*_PARTS, *(name for part in _PARTS for name in field_types(type(getattr(self, part))))}

    def has_parameter(self, key: str) -> bool:
        """Whether it has a part of this name, or exactly one of its parts has a parameter of this name.

        `key`: name of a part (loss, scorer, solver, transform) or of a parameter.
        """
        return key in _PARTS or len(self._owners(key)) == 1

    def _owners(self, key: str) -> list[str]:
        return [part for part in _PARTS if key in field_types(type(getattr(self, part)))]

    def _with_parameter(self, key: str, text: str) -> Recipe:
        owners = self._owners(key)
        if not owners:
            raise UnknownNameError("parameter", key, self.parameter_names())
        if len(owners) > 1:
            raise ParameterError(
                f"{key} could be of the {' or the '.join(owners)}. Write the part in full, e.g. {owners[0]}=…"
            )
        part = getattr(self, owners[0])
        value = read(text, field_types(type(part))[key], f"{part.name}: {key}")
        return dataclasses.replace(self, **{owners[0]: dataclasses.replace(part, **{key: value})})
