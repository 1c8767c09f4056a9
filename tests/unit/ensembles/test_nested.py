"""Nested ranker: stages by their definition, out-of-fold scores, short queries, what equals the method itself."""

from dataclasses import replace

import numpy as np
import pytest

import podium
from podium.base.errors import DataError, IncompatibleError, ModelFileError, ParameterError
from podium.data.dataset import Dataset
from podium.ensembles import nested
from podium.ensembles.nested import _out_of_fold, _top
from podium.learner import Learner
from podium.methods import method
from podium.metrics import Metric
from podium.model import Model
from podium.solvers import mean_metric
from podium.testing import linear_data

NDCG = Metric.parse("ndcg@10")


def two_directions(n_queries, seed, documents=40):
    """One feature makes a document relevant, another says how relevant."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * documents, 3)).astype(np.float32)
    labels = np.where(X[:, 0] > 0.5, 1.0 + np.digitize(X[:, 1], [0, 1]), 0.0)
    return Dataset(X, labels, np.arange(n_queries + 1) * documents)


DATA, TEST = two_directions(12, 0), two_directions(10, 1)


def stages(scores):
    return np.floor(scores).astype(int).reshape(TEST.n_queries, -1)


def test_the_top_of_each_stage_is_ranked_by_the_next():
    model = podium.train(DATA, "nested(of=ranknet,keep=[0.5,0.25])")
    scores, first = model.score(TEST), podium.train(DATA, "ranknet").score(TEST)
    assert (np.sort(stages(scores), axis=1) == [0] * 20 + [1] * 10 + [2] * 10).all()
    best = np.argsort(-first.reshape(10, 40), axis=1)
    for q in range(10):
        assert {*best[q, :20]} == {*np.flatnonzero(stages(scores)[q] >= 1)}
        last = scores.reshape(10, 40)[q, best[q, 20:]]
        assert (np.diff(last) < 0).all()  # the order of the first stage
    assert model.info["documents"] == [480, 240, 120]


@pytest.mark.slow
def test_it_helps_where_the_top_has_an_order_of_its_own():
    inner, model = (podium.train(DATA, text, valid=two_directions(10, 2)) for text in ("ranknet", "nested(of=ranknet)"))
    assert mean_metric(NDCG, model.score(TEST), TEST) > mean_metric(NDCG, inner.score(TEST), TEST) + 0.02


@pytest.mark.parametrize("keep", ["[]", "[1]", "[1.0,1.0]"])
def test_keeping_all_is_the_method_itself(keep):
    plain, model = (podium.train(DATA, text, seed=4) for text in ("frank", f"nested(of=frank,keep={keep})"))
    assert model.score(TEST).tobytes() == plain.score(TEST).tobytes()


def test_a_query_of_ten_documents_ends_at_its_stage():
    data, short = linear_data(20, 12), linear_data(10, 10, seed=1)
    model, plain = podium.train(data, "nested(of=ranknet,keep=[0.5])"), podium.train(data, "ranknet")
    np.testing.assert_array_equal(model.rank(short), plain.rank(short))
    assert (model.score(short) < 1).all()
    assert (model.score(linear_data(3, 11, seed=2)) > 1).sum() == 3 * 6


def test_documents_that_tie_with_the_last_of_the_top_belong_to_it():
    data = Dataset(np.zeros((12, 1), np.float32), None, np.array([0, 12]))
    scores = np.array([5.0, 4, 3, 3, 3, 2, 1, 0, 0, 0, 0, 0])
    assert np.flatnonzero(_top(scores, data, 0.25)).tolist() == [0, 1, 2, 3, 4]


def test_no_query_is_scored_by_a_model_that_saw_it(monkeypatch):
    data = replace(DATA, query_ids=np.array([f"q{q}" for q in range(12)], object))
    seen, held = [], []

    class Spy:
        def score(self, part):
            held.append({*part.query_ids})
            return np.zeros(part.n_documents)

    def fit(learner, part, rng, watch):
        seen.append({*part.query_ids})
        return Spy()

    monkeypatch.setattr(nested, "fitted", fit)
    parts = nested.folds(data, np.random.default_rng(0))
    scores = _out_of_fold(method("ranknet").learner, data, np.ones(480, bool), parts, np.random.default_rng(0))
    assert not np.isnan(scores).any()
    assert len(seen) == 5
    assert not any(a & b for a, b in zip(seen, held, strict=True))
    assert set.union(*held) == {*data.query_ids}


def test_a_cheap_method_may_come_first_and_everything_is_in_one_file(tmp_path):
    model = podium.train(DATA, "nested(of=ranknet,first=single-feature,keep=[0.3])", valid=TEST)
    assert [trial["penalty"] for trial in model.info["trials"]] == [0.01, 0.1, 1.0]
    cheap = podium.train(DATA, "single-feature").score(TEST).reshape(10, 40)
    for q, row in enumerate(stages(model.score(TEST))):
        assert {*np.argsort(-cheap[q])[:12]} == {*np.flatnonzero(row)}
    model.save(tmp_path / "m.podium")
    loaded = podium.load(tmp_path / "m.podium")
    assert loaded.score(TEST).tobytes() == model.score(TEST).tobytes()
    assert Learner.parse(repr(model.learner)) == model.learner
    Model(model.learner, {**model.params, "stages": np.array([3])}, model.state, 3, None, {}).save(tmp_path / "bad")
    with pytest.raises(ModelFileError, match="3 stages of 2"):
        podium.load(tmp_path / "bad")


def test_unjudged_documents_are_ranked_like_others():
    model = podium.train(DATA, "nested(of=ranknet,keep=[0.5])")
    hidden = replace(TEST, labels=np.where(np.arange(400) % 3, TEST.labels, np.nan))
    np.testing.assert_array_equal(model.score(hidden), model.score(replace(TEST, labels=None)))


def test_what_it_cannot_do_is_refused():
    for keep in ("[0]", "[0.2,0.5]", "[1.5]"):
        with pytest.raises(ParameterError, match="falling shares, above 0 and at most 1"):
            method(f"nested(keep={keep})")
    with pytest.raises(IncompatibleError, match="needs labels"):
        podium.train(DATA.with_preferences([0], [1]), "nested(of=ranknet)")
    with pytest.raises(DataError, match="needs at least 2; got 1 query"):
        podium.train(DATA.select([0]), "nested(of=ranknet)")
