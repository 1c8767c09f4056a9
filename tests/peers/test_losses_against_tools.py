"""Losses give the numbers of the tools that have them: leaves of LightGBM and CatBoost, values of CatBoost and Rax.

Tools that are not installed are skipped.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

from podium.data.dataset import Dataset
from podium.losses import LambdaRank, Loss
from podium.losses.xe_ndcg import cross_entropy
from podium.metrics import NDCG
from podium.solvers.position_ratios import PositionRatios

pytestmark = pytest.mark.slow
SCORES, LABELS = np.array([0.0, 1.0, 3.0, 2.0]), np.array([0.0, 0.0, 1.0, 2.0])
EXAMPLE = np.arange(4.0)[:, None]  # one feature that tells the documents apart


def lightgbm_leaves(**parameters: object) -> np.ndarray:
    """−g/h of each document: a tree with a leaf for each, from init_score = s."""
    lightgbm = pytest.importorskip("lightgbm")
    data = lightgbm.Dataset(EXAMPLE, LABELS, group=[4], init_score=SCORES, params={"min_data_in_bin": 1, "verbose": -1})
    plain = {
        "learning_rate": 1.0,
        "min_data_in_leaf": 1,
        "min_sum_hessian_in_leaf": 0.0,
        "lambda_l2": 0.0,
        "verbose": -1,
    }
    booster = lightgbm.train({**plain, "num_leaves": 4, "label_gain": [0, 1, 3], **parameters}, data, 1)
    return booster.predict(EXAMPLE)


def test_three_orders_of_xe_ndcg_are_the_leaves_of_lightgbm():
    x, gamma, gradient, curvature = 5, np.empty(4), np.empty(4), np.empty(4)
    for i in range(4):
        x = (214013 * x + 2531011) % 2**32
        gamma[i] = ((x >> 16) & 32767) / 32768
    cross_entropy(SCORES, 2**LABELS - gamma, 3, gradient, curvature)
    leaves = lightgbm_leaves(objective="rank_xendcg", objective_seed=5)
    assert leaves == pytest.approx(-gradient / curvature, abs=2e-5)


@pytest.mark.parametrize(
    ("norm", "loss"), [(False, "lambdarank(metric=ndcg)"), (True, "lambdarank(metric=ndcg,distance=true)")]
)
def test_lambdarank_has_the_leaves_of_lightgbm(norm, loss):
    """Damping multiplies gradient and curvature alike."""
    got = Loss.parse(loss)(SCORES, LABELS)
    leaves = lightgbm_leaves(objective="lambdarank", lambdarank_norm=norm, lambdarank_truncation_level=30, sigmoid=1.0)
    assert leaves == pytest.approx(-got.gradient / got.curvature, rel=2e-4)


@pytest.mark.parametrize(
    ("mode", "loss"),
    [
        ("YetiRank:mode=Classic;decay=0.85", "yeti-rank(samples=20000)"),
        ("YetiRank:mode=NDCG;dcg_type=Exp;dcg_denominator=LogPosition;top=-1;num_neighbors=1",
         "yeti-rank(metric=ndcg,samples=20000)"),
    ],
)  # fmt: skip
def test_yeti_rank_has_the_leaves_of_catboost(mode, loss):
    catboost = pytest.importorskip("catboost")
    copies = 3000
    bits = np.tile([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], (copies, 1))
    pool = catboost.Pool(
        bits, np.tile(LABELS, copies), group_id=np.repeat(np.arange(copies), 4), baseline=np.tile(SCORES, copies)
    )
    model = catboost.CatBoost({
        "loss_function": mode, "iterations": 1, "depth": 2, "learning_rate": 1.0, "l2_leaf_reg": 0.0,
        "bootstrap_type": "No", "random_strength": 0.0, "verbose": False, "allow_writing_files": False,
        "thread_count": 1, "leaf_estimation_iterations": 1, "boost_from_average": False,
    })  # fmt: skip
    model.fit(pool)
    leaves = model.predict(catboost.Pool(bits[:4]))
    got = Loss.parse(loss)(SCORES, LABELS)
    newton = -got.gradient / got.curvature
    assert leaves - leaves.mean() == pytest.approx(newton - newton.mean(), rel=0.02)


@pytest.mark.parametrize(
    ("metric", "loss", "times"),
    [("QueryRMSE", "query-rmse", 0.25), ("QueryCrossEntropy:alpha=0.95", "query-cross-entropy", 0.25),
     ("QuerySoftMax", "softmax", 1 / 3)],
)  # fmt: skip
def test_values_are_those_of_catboost(metric, loss, times):
    utils = pytest.importorskip("catboost.utils")
    labels = LABELS / 2 if "Cross" in metric else LABELS
    [there] = utils.eval_metric(labels, SCORES, metric, group_id=[0] * 4)
    here = times * Loss.parse(loss)(SCORES, LABELS).value
    assert (np.sqrt(here) if metric == "QueryRMSE" else here) == pytest.approx(there, abs=1e-6)


RAX = {
    "softmax": lambda rax, s, y: rax.softmax_loss(s, y),
    "softmax(poly=1)": lambda rax, s, y: rax.poly1_softmax_loss(s, y),
    "unique-softmax": lambda rax, s, y: rax.unique_softmax_loss(s, y),
    "soft-zero-one": lambda rax, s, y: rax.pairwise_soft_zero_one_loss(s, y, reduce_fn=summed),
    "lambda-loss": lambda rax, s, y: lambda_loss(rax, s, y, topn=None),
    "lambda-loss(k=3)": lambda rax, s, y: lambda_loss(rax, s, y, topn=3),
}


def summed(values, where):
    return (values * where).sum()


def lambda_loss(rax, s, y, *, topn):
    """Less Rax's factor n."""

    def weights(*arrays, **options):
        return rax.dcg2_lambdaweight(*arrays, normalize=True, topn=topn, **options)

    return rax.pairwise_logistic_loss(s, y, lambdaweight_fn=weights, reduce_fn=summed) / len(s)


@pytest.mark.parametrize("name", RAX)
def test_values_and_gradients_are_those_of_rax(name):
    rax, jax = pytest.importorskip("rax"), pytest.importorskip("jax")
    rng = np.random.default_rng(0)
    for n in (4, 12):
        scores, labels = rng.permutation(n) * 0.5 + rng.random(n) * 0.3, rng.integers(0, 4, n).astype(float)
        value, gradient = jax.value_and_grad(lambda s, y=labels: RAX[name](rax, s, y))(scores.astype(np.float32))
        got = Loss.parse(name)(scores, labels)
        assert got.value == pytest.approx(float(value), rel=1e-5)
        assert got.gradient == pytest.approx(np.asarray(gradient), rel=1e-3, abs=1e-5)


def test_pair_regression_is_the_pairwise_mse_of_rax():
    """Over all ordered pairs, ties included: 2·(2·5 + 1) = 22."""
    rax = pytest.importorskip("rax")
    tied = (SCORES[0] - SCORES[1]) ** 2
    there = float(rax.pairwise_mse_loss(SCORES, LABELS, reduce_fn=summed))
    assert 2 * (2 * Loss.parse("pair-regression")(SCORES, LABELS).value + tied) == pytest.approx(there)


@pytest.mark.parametrize("distance", [False, True])
def test_ratios_of_positions_are_those_of_xgboost_at_its_own_scores(distance):
    xgboost = pytest.importorskip("xgboost")
    rng, n = np.random.default_rng(0), 30 * 8
    X, clicks = rng.normal(size=(n, 4)).astype(np.float32), (rng.random(n) < 0.4).astype(float)
    start = 0.3 * rng.normal(size=n).astype(np.float32)
    pages = Dataset(X, clicks, np.arange(0, n + 1, 8)).with_positions(np.tile(np.arange(1, 9), 30))
    data = xgboost.DMatrix(X, clicks, group=pages.sizes, base_margin=start)
    settings = {
        "objective": "rank:ndcg", "lambdarank_unbiased": True, "lambdarank_bias_norm": 2, "eta": 0.1, "max_depth": 3,
        "lambdarank_pair_method": "topk", "lambdarank_num_pair_per_sample": 8, "nthread": 1,
        "lambdarank_score_normalization": distance,
    }  # fmt: skip
    booster = xgboost.train(settings, data, 10)
    margins = (booster.predict(data, output_margin=True, iteration_range=(0, k)) for k in range(1, 10))
    before = [scores.astype(float) for scores in (start, *margins)]
    theirs = json.loads(booster.save_config())["learner"]["objective"]
    loss = LambdaRank(metric=NDCG(), unbiased=True, p=2.0, distance=distance)
    ratios = PositionRatios(loss, pages)
    for scores in before:
        ratios.sweep(loss, scores, pages)
        ratios.step(np.empty(0), np.empty(0))
    assert ratios.history[-1].plus == pytest.approx(theirs["ti+"], abs=1e-6)
    assert ratios.history[-1].minus == pytest.approx(theirs["tj-"], abs=1e-6)
    assert np.ptp(ratios.history[-1].plus) > 0.1
