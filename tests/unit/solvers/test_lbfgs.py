import numpy as np
import pytest

from podium.base.errors import ParameterError
from podium.losses import Exponential, Regression
from podium.problem import Problem
from podium.scorers import Linear
from podium.solvers import LBFGS, Watch
from podium.testing import linear_data
from podium.testing.solvers import ridge

DATA = linear_data(20, 8)


@pytest.mark.parametrize("penalty", [0.0, 0.01, 10.0])
def test_ridge_regression_equals_its_closed_form(penalty):
    solver = LBFGS(penalty=penalty, tolerance=1e-15)
    found = solver.solve(Problem(Regression(), Linear(), DATA, penalty), np.random.default_rng(0), Watch())
    theta, least = ridge(DATA, penalty)
    np.testing.assert_allclose(found.params["theta"], theta, atol=1e-6)
    assert found.value == pytest.approx(least, rel=1e-10)
    assert found.reason == "converged"


def test_too_few_iterations_say_so():
    found = LBFGS(iterations=2).solve(Problem(Regression(), Linear(), DATA), np.random.default_rng(0), Watch())
    assert found.reason == "2 iterations were allowed"
    assert found.iterations == 2


def test_an_objective_that_is_not_finite_is_refused_with_advice():
    class Wild(Linear):
        name = "wild"

        def init(self, n_features, rng):
            return np.full(n_features + 1, 1e308)

    with pytest.raises(ParameterError, match=r"exponential over wild: the objective is .* transform=zscore"):
        LBFGS().solve(Problem(Exponential(), Wild(), DATA), np.random.default_rng(0), Watch())
