"""Adaptation: the ends of the penalty, one file that scores alone, other features, one model for several markets."""

from dataclasses import replace

import numpy as np
import pytest

import podium
from podium.base.errors import DataError, IncompatibleError, ModelFileError, ParameterError
from podium.data.dataset import Dataset
from podium.ensembles.combining import zscores
from podium.metrics import Metric
from podium.model import Model
from podium.solvers import mean_metric
from podium.testing import linear_data

OLD, NEW, TEST = linear_data(40, 8), linear_data(12, 8, seed=5), linear_data(20, 8, seed=6)
NDCG = Metric.parse("ndcg@10")


@pytest.fixture
def old(tmp_path):
    """The path of a saved model, and the model."""
    model = podium.train(OLD, "listnet")
    model.save(tmp_path / "old.podium")
    return tmp_path / "old.podium", model


def centred(scores, data=TEST):
    """Scores up to a constant of their query, which does not matter to losses of differences."""
    return scores - np.repeat(np.add.reduceat(scores, data.offsets[:-1]) / data.sizes, data.sizes)


def test_an_endless_penalty_leaves_the_source_as_it_is(old):
    path, source = old
    model = podium.train(NEW, f"adapted(of=listnet(penalty=1e12),source={path})")
    np.testing.assert_allclose(centred(model.score(TEST)), centred(source.score(TEST)), atol=1e-9)


def test_no_penalty_forgets_the_source(old):
    path, source = old
    of = "regression(penalty=1e-10,solver=newton)"
    model, plain = podium.train(NEW, f"adapted(of={of},source={path})"), podium.train(NEW, of)
    np.testing.assert_allclose(model.score(TEST), plain.score(TEST), atol=1e-5)
    assert abs(plain.score(TEST) - source.score(TEST)).max() > 0.1


def test_a_scale_of_zero_is_the_method_itself(old):
    model, plain = (podium.train(NEW, text) for text in (f"adapted(of=listnet,source={old[0]},scale=0)", "listnet"))
    np.testing.assert_array_equal(model.score(TEST), plain.score(TEST))


def test_trees_continue_where_the_source_ended(tmp_path):
    trees = "lambdamart(rounds={},num_leaves=4,min_data_in_leaf=5,bagging_fraction=1.0)"
    podium.train(OLD, trees.format(10)).save(tmp_path / "old.podium")
    model = podium.train(OLD, f"adapted(of={trees.format(10)},source={tmp_path}/old.podium)")
    np.testing.assert_allclose(model.score(TEST), podium.train(OLD, trees.format(20)).score(TEST), atol=1e-6)


def test_one_file_scores_alone(old, tmp_path):
    path, _ = old
    model = podium.train(NEW, f"adapted(of=listnet,source={path})", valid=TEST)
    assert [trial["penalty"] for trial in model.info["trials"]] == [0.01, 0.1, 1.0, 10.0]
    model.save(tmp_path / "new.podium")
    path.unlink()
    loaded = podium.load(tmp_path / "new.podium")
    assert loaded.score(TEST).tobytes() == model.score(TEST).tobytes()
    assert loaded.learner == model.learner


def test_a_source_may_have_other_features_in_another_order(tmp_path):
    named = replace(OLD, feature_names=("a", "b", "c"))
    source = podium.train(named.with_features(np.asarray(OLD.features)[:, [2, 0]], ("c", "a")), "listnet")
    source.save(tmp_path / "old.podium")
    model = podium.train(
        replace(NEW, feature_names=("a", "b", "c")), f"adapted(of=listnet(penalty=1e12),source={tmp_path}/old.podium)"
    )
    model.save(tmp_path / "new.podium")
    expected = centred(source.score(TEST.with_features(np.asarray(TEST.features)[:, [2, 0]], ("c", "a"))))
    for data in (TEST, replace(TEST, feature_names=("a", "b", "c"))):
        np.testing.assert_allclose(centred(podium.load(tmp_path / "new.podium").score(data)), expected, atol=1e-9)
    with pytest.raises(DataError, match="no feature 'a'"):
        podium.train(replace(NEW, feature_names=("x", "b", "c")), f"adapted(source={tmp_path}/old.podium)")


def test_what_cannot_be_adapted_is_refused(old, tmp_path):
    path, _ = old
    with pytest.raises(ParameterError, match="give a model file"):
        podium.train(NEW, "adapted")
    with pytest.raises(ParameterError, match="give a model file"):
        podium.train(NEW, f"adapted(source={path},by=market)")
    with pytest.raises(IncompatibleError, match="prank cannot add to another model's scores"):
        podium.train(NEW, f"adapted(of=prank,source={path})")
    with pytest.raises(ModelFileError, match="no such model file"):
        podium.train(NEW, f"adapted(source={tmp_path}/nowhere.podium)")
    with pytest.raises(DataError, match="query feature 'market', and the data has none"):
        podium.train(NEW, "adapted(by=market)")


@pytest.mark.parametrize("columns", [np.array([0, 1]), np.array([0, 1, 3]), np.array([-1, 1, 2]), np.zeros(3)])
def test_damaged_columns_are_refused(old, columns, tmp_path):
    model = podium.train(NEW, f"adapted(of=listnet,source={old[0]})")
    replace(model, params={**model.params, "columns": columns}).save(tmp_path / "bad.podium")
    with pytest.raises(ModelFileError, match="features of the model's source"):
        Model.load(tmp_path / "bad.podium")


def markets(n_queries, seed):
    """Queries of two markets, in which a feature counts for and against a document."""
    rng = np.random.default_rng(seed)
    X, market = rng.normal(size=(n_queries * 8, 3)).astype(np.float32), np.arange(n_queries) % 2
    utility = X[:, 0] + np.where(np.repeat(market, 8) == 1, 1.0, -1.0) * X[:, 1]
    labels = np.digitize(utility, [0, 1.5]).astype(float)
    return Dataset(
        X, labels, np.arange(n_queries + 1) * 8,
        query_features=market[:, None].astype(float), query_feature_names=("market",),
    )  # fmt: skip


def test_markets_share_a_model_and_have_their_own():
    data, test = markets(40, 0), markets(40, 1)
    pooled, model = podium.train(data, "listnet"), podium.train(data, "adapted(of=listnet,by=market)")
    assert mean_metric(NDCG, pooled.score(test), test) < 0.9
    assert mean_metric(NDCG, model.score(test), test) > 0.95
    unseen = replace(test, query_features=np.full((40, 1), 7.0))
    np.testing.assert_array_equal(model.score(unseen), pooled.score(test))


def test_a_model_by_market_is_saved_and_needs_the_market(tmp_path):
    data = markets(20, 0)
    model = podium.train(data, "adapted(of=listnet,by=market)", valid=markets(10, 2))
    model.save(tmp_path / "m.podium")
    assert podium.load(tmp_path / "m.podium").score(data).tobytes() == model.score(data).tobytes()
    with pytest.raises(DataError, match="needs the query feature 'market'"):
        model.score(replace(data, query_features=None, query_feature_names=None))


def test_a_market_of_one_grade_is_scored_by_the_shared_model():
    data = markets(20, 0)
    labels = np.where(np.repeat(data.query_features[:, 0], 8) == 1, 1.0, data.labels)
    model = podium.train(replace(data, labels=labels), "adapted(of=ranknet,by=market)")
    assert model.info["tasks"] == [0.0]
    assert "1" in model.info["not_learned"]
    assert not np.allclose(zscores(model.score(data), data.offsets), 0)
