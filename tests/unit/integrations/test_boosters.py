"""Losses as objectives of LightGBM: the same trees as podium's boosting. XGBoost and CatBoost are among the peers."""

import lightgbm
import numpy as np
import pytest

import podium
from podium.base.errors import DataError
from podium.integrations.lightgbm import objective
from podium.losses import Loss
from podium.scorers import Trees
from podium.scorers.trees.grower import DETERMINISTIC
from podium.solvers import Boosting
from podium.transforms import Identity


@pytest.mark.parametrize("loss", ["lambdarank", "xe-ndcg(orders=3)", "mallows"])
def test_lightgbm_grows_the_trees_of_podium(loss):
    data, _ = podium.make_letor_like(30, (5, 15), n_features=4, seed=2)
    solver, trees = Boosting(rounds=8, learning_rate=0.2), Trees(num_leaves=5)
    model = podium.train(data, podium.Recipe(Loss.parse(loss), trees, solver, Identity()), seed=1)
    settings = {**DETERMINISTIC, **solver.settings(trees, np.random.default_rng(1)), "num_threads": 1}
    theirs = lightgbm.Dataset(data.features, data.labels, group=data.sizes, params=settings)
    booster = lightgbm.train({**settings, "objective": objective(loss)}, theirs, 8)
    assert booster.num_trees() >= 5
    assert (booster.predict(data.features) == model.score(data)).all()


def test_weights_of_rows_multiply_gradient_and_curvature():
    weights, labels = np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, 2.0])
    plain, weighted = (
        lightgbm.Dataset(np.zeros((3, 1)), labels, group=[3], weight=weight).construct() for weight in (None, weights)
    )
    expected, got = (objective("ranknet")(np.arange(3.0), data) for data in (plain, weighted))
    assert got[0] == pytest.approx(expected[0] * weights)
    assert got[1] == pytest.approx(expected[1] * weights)


def test_each_dataset_has_its_own_draws():
    both = [lightgbm.Dataset(np.zeros((3, 1)), [0, 1, 2], group=[3]).construct() for _ in range(2)]
    derivatives = objective("xe-ndcg")
    first = [derivatives(np.zeros(3), data)[0] for data in both]
    assert (first[0] == first[1]).all()
    assert (derivatives(np.zeros(3), both[0])[0] != first[0]).any()


def test_data_without_queries_is_refused():
    with pytest.raises(DataError, match=r"no sizes of queries \(group\)"):
        objective("ranknet")(np.zeros(2), lightgbm.Dataset(np.zeros((2, 1)), [0, 1]).construct())
