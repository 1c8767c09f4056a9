"""Trees of XGBoost and CatBoost by losses of podium rank as well as podium's own."""

from __future__ import annotations

import numpy as np
import pytest

import podium
from podium.base.errors import DataError, ParameterError
from podium.losses import Loss
from podium.scorers import Trees
from podium.solvers import Boosting

pytestmark = pytest.mark.slow
TRAIN, TEST = podium.split(podium.make_letor_like(200, (10, 20), n_features=8, seed=5)[0], (0.6, 0.4))
ROUNDS, RATE = 60, 0.1


def ndcg(scores):
    return podium.evaluate(TEST, scores, "ndcg@10").means()["ndcg@10"]


@pytest.fixture(scope="module")
def own():
    solver = Boosting(rounds=ROUNDS, learning_rate=RATE)
    return ndcg(podium.train(TRAIN, podium.Recipe(Loss.parse("lambdarank"), Trees(num_leaves=8), solver)).score(TEST))


def test_xgboost_reaches_what_podium_reaches(own):
    xgboost = pytest.importorskip("xgboost")
    from podium.integrations.xgboost import objective

    data = xgboost.DMatrix(TRAIN.features, TRAIN.labels, group=TRAIN.sizes)
    parameters = {"eta": RATE, "max_depth": 3, "min_child_weight": 1e-3, "lambda": 0.0, "base_score": 0.0, "nthread": 1}
    booster = xgboost.train(parameters, data, ROUNDS, obj=objective("lambdarank"))
    assert ndcg(booster.predict(xgboost.DMatrix(TEST.features))).value == pytest.approx(own.value, abs=0.03)


def test_weights_of_queries_are_those_of_their_rows_in_xgboost():
    xgboost = pytest.importorskip("xgboost")
    from podium.integrations.xgboost import objective

    plain = xgboost.DMatrix(np.zeros((4, 1)), [0, 1, 1, 0], group=[2, 2])
    gradient, curvature = objective("ranknet")(np.zeros(4), plain)
    plain.set_weight([1.0, 3.0])
    weighted = objective("ranknet")(np.zeros(4), plain)
    assert (weighted[0] == gradient * [1, 1, 3, 3]).all()
    assert (weighted[1] == curvature * [1, 1, 3, 3]).all()


def test_catboost_reaches_what_podium_reaches(own):
    pytest.importorskip("catboost")
    from podium.integrations.catboost import fit

    data = {"group": TRAIN.sizes, "rounds": ROUNDS, "thread_count": 1, "random_seed": 0}
    model = fit("lambdarank", TRAIN.features, TRAIN.labels, learning_rate=RATE, depth=3, **data)
    assert model.tree_count_ == ROUNDS
    assert ndcg(model.predict(TEST.features)).value == pytest.approx(own.value, abs=0.03)


def test_a_tree_of_catboost_has_newton_steps_as_leaves():
    pytest.importorskip("catboost")
    from podium.integrations.catboost import fit

    scores = fit(
        "ranknet", [[0.0], [1.0], [2.0]], [0, 1, 2], group=[3], rounds=1, depth=2, learning_rate=1.0, l2_leaf_reg=0.0,
        random_strength=0.0, bootstrap_type="No", thread_count=1,
    ).predict([[0.0], [1.0], [2.0]])  # fmt: skip
    got = Loss.parse("ranknet")(np.zeros(3), [0, 1, 2])
    assert scores == pytest.approx(-got.gradient / got.curvature)


def test_catboost_refuses_what_the_loss_decides():
    pytest.importorskip("catboost")
    from podium.integrations.catboost import fit

    with pytest.raises(ParameterError, match="loss_function cannot be set here"):
        fit("ranknet", [[0.0], [1.0]], [0, 1], group=[2], loss_function="RMSE")
    with pytest.raises(DataError, match="add up to 3"):
        fit("ranknet", [[0.0], [1.0]], [0, 1], group=[3])


def test_drawn_pairs_are_the_pair_method_mean_of_xgboost():
    """Leaves from base_margin s, with many pairs for each document; XGBoost doubles the curvature."""
    xgboost = pytest.importorskip("xgboost")
    scores, labels, X = np.array([0.0, 1.0, 3.0, 2.0]), np.array([0, 0, 1, 2]), np.arange(4.0)[:, None]
    data = xgboost.DMatrix(X, labels, group=[4], base_margin=scores)
    parameters = {
        "objective": "rank:ndcg", "lambdarank_pair_method": "mean", "lambdarank_num_pair_per_sample": 20_000,
        "eta": 1.0, "lambdarank_score_normalization": False, "lambda": 0.0, "min_child_weight": 0.0, "nthread": 1,
    }  # fmt: skip
    leaves = xgboost.train(parameters, data, 1).predict(xgboost.DMatrix(X, base_margin=np.zeros(4)))
    got = Loss.parse("lambdarank(metric=ndcg,pairs=20000)")(scores, labels)
    assert leaves == pytest.approx(-got.gradient / got.curvature / 2, rel=0.03)


@pytest.mark.slow
def test_stochastic_rank_learns_trees_as_good_as_catboosts():
    """Trees of 16 leaves that grow at the best leaf, in both."""
    catboost = pytest.importorskip("catboost")
    function = "StochasticRank:metric=NDCG;top=10;type=Exp;num_estimations=1"
    growth = {"grow_policy": "Lossguide", "max_leaves": 16, "min_data_in_leaf": 20, "iterations": 60}
    method = (
        "recipe(loss=stochastic-rank(metric=ndcg@10,samples=4),scorer=trees(num_leaves=16),"
        "solver=boosting(rounds=60,learning_rate=0.1))"
    )
    differences = []
    for seed in range(8):
        data = podium.make_letor_like(260, (12, 20), n_features=12, seed=seed)[0]
        train, test = data.select(range(160)), data.select(range(160, 260))
        theirs = catboost.CatBoostRanker(
            loss_function=function, learning_rate=0.1, thread_count=1, random_seed=0, verbose=False, **growth
        )
        theirs.fit(catboost.Pool(train.features, train.labels, group_id=train.query_index))
        scores = podium.train(train, method).score(test), theirs.predict(test.features)
        ours, other = (podium.evaluate(test, part, "ndcg@10").means()["ndcg@10"].value for part in scores)
        differences.append(ours - other)
    assert abs(np.mean(differences)) < 0.01  # − 0.007 ± 0.004
