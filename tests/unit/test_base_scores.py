"""Base scores: scores of another ranker that a model's own are added to, in training and on validation data."""

from dataclasses import replace

import numpy as np
import pytest

import podium
from podium.base.errors import DataError, IncompatibleError
from podium.data.dataset import Dataset
from podium.formats.cache.cache import open_cache
from podium.losses import Loss, sweep
from podium.metrics import Metric
from podium.recipe import Recipe
from podium.solvers.early_stopping import query_values
from podium.testing import linear_data

DATA, VALID = linear_data(30, 8), linear_data(15, 8, seed=1)
RNG = np.random.default_rng(0)
BASE = RNG.normal(size=DATA.n_documents)
METHODS = [
    "ranknet", "listnet", "hinge", "ranking-svm", "lambdamart(rounds=8,min_data_in_leaf=2)", "lambdarank(epochs=3)",
    "listnet(scorer=mlp,epochs=3)", "regression(scorer=trees,solver=boosting(rounds=5))", "pmop-gibbs(epochs=2)",
]  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_base_scores_of_zero_change_no_bit(method):
    plain = podium.train(DATA, method, valid=VALID)
    based = [data.with_base_scores(np.zeros(data.n_documents)) for data in (DATA, VALID)]
    model = podium.train(based[0], method, valid=based[1])
    assert model.params.keys() == plain.params.keys()
    for name, array in plain.params.items():
        np.testing.assert_array_equal(model.params[name], array)
    assert {**model.info, "data": 0} == {**plain.info, "data": 0}


@pytest.mark.parametrize("name", ["ranknet", "softmax", "hinge", "regression"])
def test_a_loss_sees_the_sum_of_both(name):
    scores, loss = RNG.normal(size=DATA.n_documents), Loss.parse(name)
    together, sums = sweep(loss, scores, DATA.with_base_scores(BASE)), sweep(loss, scores + BASE, DATA)
    assert together.value == sums.value
    np.testing.assert_array_equal(together.gradient, sums.gradient)


def test_a_base_that_is_constant_within_queries_is_invisible_to_losses_of_differences():
    shifted = DATA.with_base_scores(np.repeat(RNG.normal(size=DATA.n_queries), DATA.sizes))
    plain, model = (podium.train(data, "ranknet") for data in (DATA, shifted))
    np.testing.assert_allclose(model.score(DATA), plain.score(DATA), atol=1e-6)


def test_trees_continue_where_others_ended():
    """A hundred rounds, and a hundred more on top of their scores, are two hundred rounds."""
    method = "lambdamart(rounds={},num_leaves=4,min_data_in_leaf=5,bagging_fraction=1.0)"
    whole = podium.train(DATA, method.format(40)).score(DATA)
    first = podium.train(DATA, method.format(20)).score(DATA)
    second = podium.train(DATA.with_base_scores(first), method.format(20)).score(DATA)
    np.testing.assert_allclose(first + second, whole, atol=1e-6)


def test_a_linear_model_learns_what_is_missing():
    """With the truth as its base there is nothing to add; with minus the truth, twice the truth."""
    truth = podium.train(DATA, "regression(penalty=0.0)").score(DATA)
    rest = podium.train(DATA.with_base_scores(truth), "regression(penalty=0.0)")
    assert np.ptp(rest.score(DATA)) < 1e-4 * np.ptp(truth)
    twice = podium.train(DATA.with_base_scores(-truth), "regression(penalty=0.0)")
    np.testing.assert_allclose(twice.score(DATA), 2 * truth, atol=1e-4 * np.ptp(truth))


def test_validation_measures_the_sum():
    metric, scores = Metric.parse("ndcg@5"), RNG.normal(size=VALID.n_documents)
    base = RNG.normal(size=VALID.n_documents)
    expected = metric(scores + base, VALID.labels, VALID.offsets)
    np.testing.assert_array_equal(query_values(metric, scores, VALID.with_base_scores(base)), expected)


def test_base_scores_follow_their_rows(tmp_path):
    shuffle = RNG.permutation(DATA.n_documents)
    qid = np.repeat(np.arange(DATA.n_queries), DATA.sizes)
    moved = Dataset.from_arrays(DATA.features[shuffle], DATA.labels[shuffle], qid=qid[shuffle])
    moved = moved.with_base_scores(BASE[shuffle])
    np.testing.assert_array_equal(moved.from_grouped(moved.grouped().base_scores), BASE[shuffle])
    based = DATA.with_base_scores(BASE)
    np.testing.assert_array_equal(based.select([3, 1]).base_scores, np.r_[BASE[24:32], BASE[8:16]])
    podium.write_cache(based, tmp_path / "cache")
    np.testing.assert_array_equal(open_cache(tmp_path / "cache").base_scores, BASE)
    frame = podium.to_frame(based)
    np.testing.assert_array_equal(podium.from_frame(frame).base_scores, BASE)
    assert podium.from_frame(frame).feature_names == tuple(c for c in frame.columns if c.startswith("f"))
    frame.to_parquet(tmp_path / "data.parquet")
    np.testing.assert_array_equal(podium.read_data(tmp_path / "data.parquet").base_scores, BASE)


def test_the_digest_differs_only_if_there_are_base_scores():
    assert replace(DATA, base_scores=None).digest() == DATA.digest()
    assert DATA.with_base_scores(BASE).digest() != DATA.digest()


def test_what_cannot_use_base_scores_refuses_them():
    for method in ("rankboost", "mcrank", "adarank-map"):
        with pytest.raises(IncompatibleError, match="cannot add to base scores"):
            podium.train(DATA.with_base_scores(BASE), method)
    assert Recipe.takes_base_scores
    with pytest.raises(DataError, match="base score nan is not a finite number"):
        DATA.with_base_scores(np.where(np.arange(DATA.n_documents) == 3, np.nan, BASE))
    with pytest.raises(DataError, match="2 base_scores for 240 rows"):
        DATA.with_base_scores([0.0, 1.0])
