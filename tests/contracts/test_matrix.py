"""Every loss with every scorer: a few steps of training, and the loss falls."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from podium.base.errors import IncompatibleError
from podium.losses import Loss, sweep
from podium.problem import Problem
from podium.scorers import Linear, Scorer, SmoothScorer
from podium.solvers import Solver, Watch
from podium.testing import linear_data
from podium.testing.examples import installed, short, with_fields

pytestmark = pytest.mark.slow

DATA = linear_data(12, 8)
LOSSES = [cls() for cls in Loss.catalogue().values()]
SCORERS = [with_fields(cls(), min_data_in_leaf=5) for cls in Scorer.catalogue().values() if installed(cls)]


def solver_for(loss, scorer):
    """The scorer's own solver, or Adam where values cannot be compared; all queries in every step."""
    own = Solver.parse(scorer.solver)
    try:
        own.check(loss, scorer)
    except IncompatibleError:
        own = Solver.parse("adam")
    return with_fields(short(own, 8), batch=DATA.n_queries, learning_rate=0.02)


def scores(problem, params):
    """The scores that the problem learns by."""
    if isinstance(problem.scorer, SmoothScorer):
        return problem.scorer.score_with_pullback(params, problem.data)[0]
    return problem.scorer.score(params, DATA)


def start(problem):
    if isinstance(problem.scorer, SmoothScorer):
        return scores(problem, problem.split(problem.start(np.random.default_rng(0)))[0])
    return np.zeros(DATA.n_documents)


def fall(loss, before, after, *, learned):
    """By how much the loss fell; one whose value jumps, by what its gradient at the start is the derivative of."""
    if loss.surrogate is None:
        return sweep(loss, before, DATA).value - sweep(learned, after, DATA).value
    total = 0.0
    for a, b in itertools.pairwise(DATA.offsets):
        objective = loss.objective(before[a:b], DATA.labels[a:b])
        total += objective(before[a:b]) - objective(after[a:b])
    return total


@pytest.mark.parametrize("scorer", SCORERS, ids=repr)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_a_few_steps_make_the_loss_fall(loss, scorer):
    problem = Problem(loss, scorer, DATA)
    found = solver_for(loss, scorer).solve(problem, np.random.default_rng(0), Watch())
    assert fall(loss, start(problem), scores(problem, found.params), learned=found.loss) > 0


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_steps_uphill_would_be_noticed(loss):
    problem = Problem(loss, Linear(), DATA)
    theta = problem.start(np.random.default_rng(0))
    params, worse = problem.split(theta + 0.01 * problem(theta)[1])
    assert fall(loss, start(problem), scores(problem, params), learned=worse) < 0


WEIGHTED = dataclasses.replace(DATA, labels=None, document_weights=np.where(DATA.labels == 2, 1.5, 0.25 * DATA.labels))


def weighted_fall(loss, before, after, *, learned):
    """By how much Σ w_d L(s, e_d) fell."""
    if loss.surrogate is None:
        return sweep(loss, before, WEIGHTED).value - sweep(learned, after, WEIGHTED).value
    total = 0.0
    for a, b in itertools.pairwise(DATA.offsets):
        for d in np.flatnonzero(WEIGHTED.document_weights[a:b]):
            objective = loss.objective(before[a:b], np.eye(b - a)[d])
            total += WEIGHTED.document_weights[a + d] * (objective(before[a:b]) - objective(after[a:b]))
    return total


@pytest.mark.parametrize("scorer", [one for one in SCORERS if one.name in ("linear", "mlp", "trees")], ids=repr)
@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss.grades is not None], ids=repr)
def test_a_few_steps_with_document_weights_make_the_loss_fall(loss, scorer):
    problem = Problem(loss, scorer, WEIGHTED)
    found = solver_for(loss, scorer).solve(problem, np.random.default_rng(0), Watch())
    assert weighted_fall(loss, start(problem), scores(problem, found.params), learned=found.loss) > 0
