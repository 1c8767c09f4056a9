"""Lasso: conditions of the minimum, its path, and agreement with other solvers."""

import numpy as np
import pytest

from podium.base.errors import IncompatibleError
from podium.data.synthetic import make_letor_like
from podium.losses import ListNet, RankNet, Regression, SquaredHinge
from podium.problem import Problem
from podium.scorers import MLP, Linear
from podium.solvers import LBFGS, Lasso, Watch, lasso_path
from podium.solvers.lasso import largest_l1
from podium.training import train
from podium.transforms import ZScore


@pytest.fixture(scope="module")
def data():
    raw, _ = make_letor_like(30, (8, 15), n_features=12, seed=3)
    return ZScore().apply(ZScore().fit(raw), raw)


def solved(solver, loss, data):
    problem = Problem(loss, Linear(), data, solver.penalty)
    return problem, solver.solve(problem, np.random.default_rng(0), Watch())


@pytest.mark.parametrize("loss", [ListNet(), RankNet(), Regression(), SquaredHinge()], ids=repr)
@pytest.mark.parametrize("share", [0.9, 0.1, 0.01])
def test_the_conditions_of_the_minimum_hold(loss, share, data):
    problem, solution = solved(Lasso(l1=share, iterations=5000), loss, data)
    theta = solution.params["theta"]
    top = largest_l1(problem, np.zeros(len(theta)))
    gradient, l1 = problem(theta)[1], share * top * problem.penalised
    assert solution.reason == "converged"
    zero = theta == 0
    assert (np.abs(gradient[zero]) <= l1[zero] + 1e-6 * top).all()
    assert np.abs(gradient + l1 * np.sign(theta))[~zero].max(initial=0) <= 1e-6 * top
    assert share < 0.1 or (zero & (problem.penalised > 0)).any()


def test_without_an_l1_penalty_it_ends_where_lbfgs_does(data):
    _, sparse = solved(Lasso(l1=0.0, penalty=0.1, iterations=5000, tolerance=1e-9), RankNet(), data)
    _, smooth = solved(LBFGS(penalty=0.1, iterations=2000, tolerance=1e-15), RankNet(), data)
    assert sparse.value == pytest.approx(smooth.value, rel=1e-10)
    assert sparse.params["theta"] == pytest.approx(smooth.params["theta"], abs=1e-5)


def test_the_largest_l1_leaves_no_feature_and_less_leaves_more(data):
    problem, none = solved(Lasso(l1=1.0), ListNet(), data)
    assert not (none.params["theta"] * problem.penalised).any()
    problem = Problem(ListNet(), Linear(), data)
    path = list(lasso_path(problem))
    counts = [int(np.count_nonzero(theta * problem.penalised)) for _, theta in path]
    assert len(path) == 20
    assert path[-1][0] == pytest.approx(path[0][0] / 1000)
    assert np.diff(np.log([strength for strength, _ in path])) == pytest.approx(np.log(1e-3) / 19)
    assert counts[0] == 0
    assert counts[-1] == 12
    _, alone = solved(Lasso(l1=path[9][0] / path[0][0], iterations=5000), ListNet(), data)
    assert path[9][1] == pytest.approx(alone.params["theta"], abs=1e-4)


def test_a_large_penalty_leaves_few_features():
    raw, _ = make_letor_like(40, seed=1)
    model = train(raw, "listnet(solver=lasso(l1=0.2))")
    weights = model.coefficients()
    assert 0 < np.count_nonzero(weights) <= 12


def test_other_scorers_and_losses_without_a_value_are_refused():
    with pytest.raises(IncompatibleError, match="lasso needs a linear scorer"):
        Lasso().check(ListNet(), MLP())
    with pytest.raises(IncompatibleError, match="lasso compares values"):
        train(make_letor_like(10, seed=0)[0], "lambdarank(solver=lasso)")
