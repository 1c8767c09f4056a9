"""What every solver promises, run over the registry."""

import itertools

import pytest

from podium.losses import Loss
from podium.scorers import Scorer
from podium.solvers import Solver
from podium.testing import SOLVER_CHECKS, variants
from podium.testing.examples import installed, short, with_fields
from podium.testing.solvers import (
    a_loss_falls,
    observers_see_every_iteration,
    scorer_for,
    takes,
    takes_or_refuses_a_scorer,
)

SOLVERS = [cls() for cls in Solver.catalogue().values()]
SCORERS = [cls() for cls in Scorer.catalogue().values() if installed(cls)]
LOSSES = [cls() for cls in Loss.catalogue().values()]
TRAINED = [pair for pair in itertools.product(SOLVERS, LOSSES) if takes(*pair, scorer_for(pair[0]))]


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
@pytest.mark.parametrize("check", SOLVER_CHECKS.values(), ids=lambda check: check.__name__)
def test_every_solver_keeps_its_promises(check, solver):
    check(solver)


@pytest.mark.parametrize(("solver", "scorer"), list(itertools.product(SOLVERS, SCORERS)), ids=repr)
def test_the_loss_falls_with_every_scorer_that_the_solver_takes_and_others_are_refused_with_advice(solver, scorer):
    takes_or_refuses_a_scorer(solver, scorer)


@pytest.mark.slow
@pytest.mark.parametrize(("solver", "loss"), TRAINED, ids=repr)
def test_every_loss_that_the_solver_takes_falls(solver, loss):
    a_loss_falls(solver, loss)


def test_every_loss_is_taken_by_some_solver():
    assert {loss.name for _, loss in TRAINED} == set(Loss.catalogue())


@pytest.mark.parametrize(
    "solver", [solver for cls in Solver.catalogue().values() for solver in variants(cls)], ids=repr
)
def test_settings_off_their_defaults_work(solver):
    if getattr(solver, "sample", None) == "goss":
        solver = with_fields(solver, bagging_fraction=1.0)  # both choose documents
    observers_see_every_iteration(short(solver, 4))
