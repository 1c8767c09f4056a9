"""Training on a cluster: the solvers of one machine, on sums that workers compute over parts of the data."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from podium.base.arrays import Array, Ints, is_sparse
from podium.base.errors import IncompatibleError
from podium.data.dataset import Dataset
from podium.distributed import parts
from podium.distributed.cluster_boosting import fit_trees
from podium.distributed.cluster_problem import DistributedProblem
from podium.distributed.dask_cluster import Cluster
from podium.learner import Learned, Learner
from podium.recipe import Recipe
from podium.scorers import SmoothScorer
from podium.solvers import LBFGS, SGD, Adam, Boosting, Newton
from podium.training import Fitting, Watching, fit
from podium.transforms import Identity, State, ZScore

SOLVERS = (LBFGS, Newton, Adam, SGD)
SMALL = 50_000_000
"""Features × documents below which one machine is faster: communication takes longer than the sums."""
_SHARE = 0.5
"""Share of the workers' memory that features may take; beyond it, they are read from disk in every evaluation."""


def fitting(cluster: Cluster) -> Fitting:
    """Fitting function like `podium.training.fit`, on the workers of a cluster."""
    return functools.partial(fit, learn=functools.partial(_learn, cluster))


def _learn(cluster: Cluster, learner: Learner, data: Dataset, watching: Watching, seed: int) -> tuple[Learned, State]:
    if isinstance(learner, Recipe) and isinstance(learner.solver, Boosting):
        return fit_trees(cluster, learner, data, watch=watching(Identity(), {}), seed=seed), {}
    if data.categories:
        raise IncompatibleError("a cluster takes no categories yet. Leave --cluster out.")
    recipe = _checked(learner, data)
    stored = parts.stored(data, cluster)
    bounds = parts.cuts(stored)
    in_memory = 4.0 * data.n_documents * data.n_features < _SHARE * cluster.memory
    raw = cluster.keep(parts.load, parts.pieces(stored, bounds), in_memory)
    state = _state(cluster, recipe, data, raw)
    kept = cluster.keep(parts.transformed, raw, recipe.transform, state, recipe.scorer)
    cluster.check(kept)
    whole = problem(cluster, recipe, data, state, kept, bounds)
    return recipe.solved(whole, np.random.default_rng(seed), watching(recipe.transform, state)), state


def _checked(learner: Learner, data: Dataset) -> Recipe:
    """Return the learner if a cluster can fit it, or raise a clear error."""
    works = isinstance(learner, Recipe) and isinstance(learner.scorer, SmoothScorer)
    if not works or type(learner.solver) not in SOLVERS:  # type: ignore[attr-defined]
        what = f"{learner.scorer.name} by {learner.solver.name}" if isinstance(learner, Recipe) else learner.name
        raise IncompatibleError(
            f"a cluster trains a loss over scorer=linear or mlp by lbfgs, newton, adam or sgd, and over trees; got "
            f"{what}. Leave --cluster out, or use podium compare --cluster, where each fit is a task of one worker."
        )
    assert isinstance(learner, Recipe)
    few = data.select(np.arange(min(data.n_queries, 1)))
    if learner.scorer.reference(learner.transform.apply(learner.transform.fit(few), few)):  # type: ignore[attr-defined]
        raise IncompatibleError(
            f"{learner.scorer.name} keeps documents of the whole training data, which no part has. Use scorer=linear "
            "or mlp on a cluster."
        )
    return learner


def _state(cluster: Cluster, recipe: Recipe, data: Dataset, raw: list[Any]) -> State:
    """State of the transform: of z-scores from sums over the parts, of others as on one machine."""
    transform = recipe.transform
    if type(transform) is not ZScore or is_sparse(data.features):
        return transform.fit(data)
    moments = cluster.map(parts.counts_and_sums, raw)
    counts = np.maximum(_added([counts for counts, _ in moments]), 1)
    mean = _added([sums for _, sums in moments]) / counts
    return transform.state(mean, np.sqrt(_added(cluster.map(parts.squares, raw, mean)) / counts), centred=True)


def _added(terms: list[Array]) -> Array:
    return np.asarray(sum(terms[1:], terms[0]), np.float64)


def problem(
    cluster: Cluster, recipe: Recipe, data: Dataset, state: State, kept: list[Any], bounds: Ints
) -> DistributedProblem:
    """Objective of the solvers: the sum over the workers' parts."""
    nothing = Dataset(np.zeros((0, data.n_features), np.float32), None, np.zeros(1, np.int64))
    width = recipe.transform.apply(state, nothing).n_features
    return DistributedProblem(
        recipe.loss, recipe.scorer, parts.bare(data, width), recipe.solver.penalty,
        cluster=cluster, kept=tuple(kept), bounds=bounds,
    )  # fmt: skip
