import dataclasses

import numpy as np
import pytest

from podium.base.errors import ParameterError
from podium.losses import Regression
from podium.problem import Problem
from podium.scorers import Trees
from podium.solvers import Boosting, Watch
from podium.testing import linear_data

DATA = linear_data(10, 20)


def grow(scorer, data=DATA, **settings):
    solver = Boosting(**{"rounds": 1, "learning_rate": 1.0, **settings})
    return solver.solve(Problem(Regression(), scorer, data), np.random.default_rng(0), Watch())


def test_a_full_step_on_squared_error_puts_the_mean_into_each_leaf():
    scores = Trees(min_data_in_leaf=5).score(grow(Trees(num_leaves=2, min_data_in_leaf=5)).params, DATA)
    for value in np.unique(scores):
        assert value == pytest.approx(DATA.labels[scores == value].mean(), rel=1e-5)


def test_leaves_and_documents_per_leaf_are_kept_to():
    scores = Trees().score(grow(Trees(num_leaves=4, min_data_in_leaf=30)).params, DATA)
    values, counts = np.unique(scores, return_counts=True)
    assert len(values) <= 4
    assert counts.min() >= 30


def test_missing_values_go_to_a_side_of_their_own():
    X = DATA.features.copy()
    X[::2, 0] = np.nan
    data = dataclasses.replace(DATA, features=X, labels=np.where(np.arange(200) % 2 == 0, 2.0, 0.0))
    scores = Trees().score(grow(Trees(num_leaves=2), data).params, data)
    np.testing.assert_allclose(scores, data.labels, atol=1e-6)


def test_too_many_leaves_are_refused():
    with pytest.raises(ParameterError, match="leaves must be at most 131072"):
        Trees(num_leaves=10**6)
