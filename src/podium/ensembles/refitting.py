"""Refit the leaves of boosted trees to other data: the splits stay, the values move.

    v ← decay·v + (1 − decay)·η·(−Σ g/(Σ h + λ))

over the documents of each leaf, tree after tree, with gradient g and curvature h of the model's loss at the scores of
the trees before; η is the solver's learning rate and λ its penalty. A leaf without documents keeps its value.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from podium.base.arrays import Array, Ints, Singles, dense
from podium.base.errors import IncompatibleError, ParameterError
from podium.data.dataset import Dataset
from podium.data.inputs import labelled_data
from podium.jit.tiers import machine_code
from podium.losses import sweep
from podium.model import Model
from podium.recipe import Recipe
from podium.scorers import Trees
from podium.scorers.trees.exact_splits import split_exactly
from podium.scorers.trees.forest import Forest
from podium.scorers.trees.lightgbm_text import read_forest, with_values
from podium.solvers import Boosting
from podium.solvers.boosting import for_leaves, grid, prove_monotone, weighted
from podium.training import check_fit


@machine_code()
def refit(model: Model, data: Any, *, decay: float = 0.9) -> Model:
    """The model with leaves refitted to data; `decay` 1 keeps its values, 0 takes those of the data alone.

    The data is a Dataset or a frame with columns label and qid. Probabilities of ranks are no longer calibrated.

    `model`: a model of boosted trees, grown leaf by leaf and without `drop`.
    `data`: labelled data with the features of the model.
    """
    learner = model.learner
    if not isinstance(learner, Recipe) or not isinstance(learner.solver, Boosting):
        raise IncompatibleError(f"refit moves the leaves of boosted trees; the model is {learner}.")
    if isinstance(decay, bool) or not 0 <= decay <= 1:
        raise ParameterError(f"decay must be from 0 to 1; got {decay!r}.")
    if learner.solver.drop:
        raise IncompatibleError("with drop, each tree has a learning rate of its own, so leaves cannot be refitted.")
    if isinstance(learner.scorer, Trees) and learner.scorer.growth != "leaves":
        raise IncompatibleError(
            f"refit moves the leaves of trees that were grown one after the other, leaf by leaf; the model has growth="
            f"{learner.scorer.growth}. Train it anew, or with growth=leaves."
        )
    training = model.align_features(labelled_data(data)).judged()
    check_fit(learner, training)
    ready = learner.transform.training(model.state, training)
    forest = read_forest(model.params["trees"], ready.n_features, exact="exact" in model.params)
    values = _moved(forest, learner, ready, decay=decay)
    text = with_values(model.params["trees"], values)
    assert isinstance(learner.scorer, Trees)
    prove_monotone(text, learner.scorer, ready)
    old = ("valid", "trials", "chosen", "temperature", "distribution", "objective")
    info = {name: value for name, value in model.info.items() if name not in old}
    about = {"data": training.digest(), "decay": float(decay)}
    return replace(model, params={**model.params, "trees": text}, info={**info, "refit": about})


def _moved(forest: Forest, learner: Recipe, data: Dataset, *, decay: float) -> Array:
    """New values of all leaves."""
    solver, trees = learner.solver, learner.scorer
    assert isinstance(solver, Boosting)
    assert isinstance(trees, Trees)
    loss, values = learner.loss.fitted_to(data), forest.values.copy()
    unit = grid(solver.settings(trees, np.random.default_rng(0)))
    X, exact = np.asarray(dense(data.features[:]), np.float32), split_exactly(forest)
    scores, bias = np.zeros(data.n_documents), solver.position_bias(loss, data)
    swept = sweep if bias is None else bias.sweep
    for t in range(forest.n_trees):
        got = swept(loss.resampled(t + 1), scores, data)
        slope, bend = weighted(got, data)
        if bias is not None:
            bias.step(slope, bend)
        g, h = (part.astype(np.float32).astype(np.float64) for part in for_leaves(slope, bend, unit))
        leaves, own = _leaves(exact, t, X), slice(int(forest.first_leaf[t]), int(forest.first_leaf[t + 1]))
        n = own.stop - own.start
        gradient, curvature = np.bincount(leaves, g, n), np.bincount(leaves, h, n)
        pull = np.sign(gradient) * np.maximum(np.abs(gradient) - solver.penalty_l1, 0.0)
        there = curvature + solver.penalty > _NOTHING
        step = -solver.learning_rate * pull / np.where(there, curvature + solver.penalty, 1.0)
        values[own] = np.where(there, decay * values[own] + (1.0 - decay) * step, values[own])
        scores += values[own][leaves]
    return values


_NOTHING = 1e-12
"""Curvature of a leaf that holds no document that teaches anything."""


def _leaves(forest: Forest, t: int, X: Singles) -> Ints:
    """Leaf of each row in a tree whose splits are exact."""  # (N,)
    a, b = forest.first_split[t : t + 2]
    node = np.full(len(X), 0 if b > a else -1)
    while (rows := np.flatnonzero(node >= 0)).size:
        split = a + node[rows]
        x = X[rows, forest.feature[split]]
        left = np.where(np.isnan(x), forest.missing_left[split], x <= forest.threshold[split])
        node[rows] = np.where(left, forest.left[split], forest.right[split])
    return -1 - node
