"""What every solver promises: the optimum of a convex problem, the best iterate, the same bits, refusals in words."""

import itertools

import numpy as np
import pytest

from podium.errors import IncompatibleError
from podium.losses import ListNet, Loss, RankNet, Regression, SquaredHinge, sweep
from podium.problem import Problem
from podium.scorers import Linear, Scorer
from podium.solvers import Solver, Watch
from reference.learning import linear_data, ridge
from reference.variants import installed, short, variants, with_fields

SOLVERS = [cls() for cls in Solver.catalogue().values()]
SCORERS = [cls() for cls in Scorer.catalogue().values() if installed(cls)]
LOSSES = [cls() for cls in Loss.catalogue().values()]
DATA = linear_data(20, 8)
VALID = linear_data(5, 8, seed=1)


def allowed(solver, scorer, loss=RankNet()):  # noqa: B008  (a frozen value)
    try:
        solver.check(loss, scorer)
    except IncompatibleError:
        return False
    return True


PAIRS = [pair for pair in itertools.product(SOLVERS, SCORERS) if allowed(*pair)]


def scorer_for(solver):
    return with_fields(next(scorer for scorer in SCORERS if allowed(solver, scorer)), min_data_in_leaf=5)


def solve(solver, scorer=None, *, loss=RankNet(), watch=None, seed=0, data=DATA):  # noqa: B008
    scorer = scorer_for(solver) if scorer is None else scorer
    penalty = getattr(solver, "penalty", 0.0)
    return solver.solve(Problem(loss, scorer, data, penalty), np.random.default_rng(seed), watch or Watch())


class Scripted:
    """A metric that says what it was told to say, iteration by iteration."""

    def __init__(self, values):
        self.values = iter(values)

    def __call__(self, scores, labels, offsets, **_):
        return np.array([next(self.values)])

    def __str__(self):
        return "scripted"


def scripted(values):
    return Watch(VALID, Scripted(values))


def bits(params):
    """All arrays of a scorer's parameters as bytes."""
    return {name: array.tobytes() for name, array in params.items()}


@pytest.mark.parametrize("solver", [s for s in SOLVERS if allowed(s, Linear(), Regression())], ids=repr)
def test_a_convex_quadratic_is_brought_to_its_minimum(solver):
    patient = with_fields(short(solver, 600), penalty=0.1, batch=DATA.n_queries, learning_rate=0.02, tolerance=1e-12)
    found = solve(patient, Linear(), loss=Regression())
    theta, least = ridge(DATA, 0.1)
    value, _ = Problem(Regression(), Linear(), DATA, 0.1)(found.params["theta"])
    assert least <= value <= least * (1 + 1e-4)
    np.testing.assert_allclose(found.params["theta"], theta, atol=0.02)


@pytest.mark.parametrize(("solver", "scorer"), PAIRS, ids=repr)
def test_the_loss_falls_with_every_scorer_that_the_solver_takes(solver, scorer):
    scorer = with_fields(scorer, min_data_in_leaf=5)
    found = solve(short(solver, 8), scorer)
    before = sweep(RankNet(), np.zeros(DATA.n_documents), DATA).value
    after = sweep(RankNet(), scorer.score(found.params, DATA), DATA).value
    assert after < 0.95 * before


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_every_loss_that_the_solver_takes_falls(solver, loss):
    scorer = scorer_for(solver)
    if not allowed(solver, scorer, loss):
        pytest.skip(f"{solver} does not train {loss}")
    found = solve(with_fields(short(solver, 30), learning_rate=0.01), scorer, loss=loss)
    one = sweep(found.loss, scorer.score(found.params, DATA), DATA).value
    start = sweep(loss, np.zeros(DATA.n_documents), DATA).value
    assert np.isfinite(found.value)
    assert one < start


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_the_same_seed_gives_the_same_bits(solver):
    first, second = (bits(solve(short(solver, 5)).params) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_threads_do_not_change_a_bit(solver, monkeypatch):
    data = linear_data(42, 100)  # enough documents for several threads
    monkeypatch.setattr("podium.threads.BLOCK", 1000)
    loss = next(loss for loss in (ListNet(), SquaredHinge()) if allowed(solver, scorer_for(solver), loss))
    found = []
    for threads in ("1", "2"):
        monkeypatch.setenv("PODIUM_THREADS", threads)
        found.append(bits(solve(with_fields(short(solver, 3), batch=42), loss=loss, data=data).params))
    assert found[0] == found[1]


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_the_best_iterate_by_validation_is_kept(solver):
    watched = solve(with_fields(short(solver, 6), patience=10, tolerance=1e-15), watch=scripted([1, 2, 5, 4, 3, 2]))
    stopped_there = solve(with_fields(short(solver, 3), patience=None, tolerance=1e-15))
    assert bits(watched.params) == bits(stopped_there.params)
    assert "best scripted 5.0000" in watched.reason


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_patience_ends_the_search(solver):
    watch = scripted([1, 2, 2, 2, 2, 2, 2, 2])
    found = solve(with_fields(short(solver, 8), patience=3, tolerance=1e-15), watch=watch)
    assert [step.iteration for step in watch.history] == [1, 2, 3, 4, 5]
    assert found.iterations == 5
    assert watch.best.iteration == 2
    assert "no better validation measure" in found.reason


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_without_patience_the_last_iterate_is_kept(solver):
    watch = scripted([])
    found = solve(with_fields(short(solver, 4), patience=None, tolerance=1e-15), watch=watch)
    assert bits(found.params) == bits(solve(with_fields(short(solver, 4), tolerance=1e-15)).params)
    assert watch.best is None


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_observers_see_every_iteration_and_what_is_left(solver):
    seen = []
    solve(with_fields(short(solver, 4), tolerance=1e-15), watch=Watch(observers=(seen.append,)))
    assert [(step.iteration, step.total) for step in seen] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert seen[-1].value < seen[0].value
    assert all(step.valid is None for step in seen)


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_it_says_why_it_stopped(solver):
    assert "4" in solve(with_fields(short(solver, 4), tolerance=1e-15)).reason


@pytest.mark.parametrize(
    ("solver", "scorer"), [p for p in itertools.product(SOLVERS, SCORERS) if p not in PAIRS], ids=repr
)
def test_a_scorer_that_it_cannot_move_is_refused_with_advice(solver, scorer):
    with pytest.raises(IncompatibleError, match=rf"{solver.name} needs .*; got {scorer.name}\. Use "):
        solver.check(RankNet(), scorer)


@pytest.mark.parametrize("cls", Solver.catalogue().values(), ids=lambda cls: cls.name)
def test_settings_off_their_defaults_work(cls):
    for solver in variants(cls):
        assert np.isfinite(solve(short(solver, 2)).value)
