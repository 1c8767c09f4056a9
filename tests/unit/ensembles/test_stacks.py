"""Stacking and interpolation: out-of-fold scores, z-scores by formula, one file that scores alone."""

import itertools

import numpy as np
import pytest

import podium
from podium.base.errors import DataError, IncompatibleError, ModelFileError, ParameterError
from podium.ensembles import stack
from podium.ensembles.blended import members_of
from podium.ensembles.combining import zscores
from podium.ensembles.interpolated import simplex
from podium.export import export
from podium.learner import Learner
from podium.methods import method
from podium.metrics import Metric
from podium.model import Model
from podium.solvers import mean_metric
from podium.testing import LEARNER_CHECKS, linear_data

DATA, VALID, TEST = linear_data(30, 8), linear_data(15, 8, seed=1), linear_data(15, 8, seed=2)
NDCG = Metric.parse("ndcg@10")
QUICK = ("text_gives_it_back", "a_file_gives_the_model_back", "queries_are_scored_alone", "other_features_are_refused")
BLEND = "blended(members=[listnet,regression],of=listnet)"


@pytest.mark.parametrize("check", QUICK)
def test_it_keeps_the_promises_of_learners(check):
    LEARNER_CHECKS[check](Learner.parse(BLEND))


@pytest.mark.slow
def test_threads_change_no_bit():
    LEARNER_CHECKS["one_seed_gives_one_file_on_any_number_of_threads"](Learner.parse(BLEND))


def test_the_mean_is_that_of_z_scores_in_the_query():
    model = podium.train(DATA, "blended(members=[listnet,regression])")
    parts = [podium.train(DATA, name).score(TEST) for name in ("listnet", "regression")]
    expected = np.mean([zscores(part, TEST.offsets) for part in parts], axis=0)
    np.testing.assert_allclose(model.score(TEST), expected, atol=1e-12)
    assert model.learner.per_query


def test_a_method_with_itself_ranks_as_it_does_alone():
    twice, alone = (podium.train(DATA, name).score(TEST) for name in ("blended(members=[listnet,listnet])", "listnet"))
    expected = zscores(alone, TEST.offsets)
    np.testing.assert_allclose(twice, expected, atol=1e-12)
    for a, b in itertools.pairwise(TEST.offsets):
        np.testing.assert_array_equal(np.argsort(-twice[a:b]), np.argsort(-alone[a:b]))


def test_no_query_is_scored_by_a_member_that_saw_it(monkeypatch):
    """The features of the combining method, seen as they are learned from, come from fits without their queries."""
    names = np.array([f"q{q}" for q in range(DATA.n_queries)], dtype=object)
    data = DATA._replaced(query_ids=names)
    seen, scored, original = {}, [], stack.fitted

    def noted(learner, training, rng, watch):
        model = original(learner, training, rng, watch)
        seen[id(model)] = (model, set(training.query_ids))
        return model

    def score(self, part, **others):
        if id(self) in seen:
            scored.append((set(part.query_ids), seen[id(self)][1]))
        return plain(self, part, **others)

    plain = Model.score
    monkeypatch.setattr(stack, "fitted", noted)
    monkeypatch.setattr(Model, "score", score)
    podium.train(data, BLEND)
    assert len(scored) == 2 * stack.FOLDS
    assert all(not tested & fitted for tested, fitted in scored)
    assert all(tested | fitted == set(names) for tested, fitted in scored)
    assert sorted(name for tested, _ in scored for name in tested) == sorted([*names, *names])


def test_each_query_is_held_out_once():
    for n in (2, 5, 7, 30):
        parts = stack.folds(DATA.select(np.arange(n)), np.random.default_rng(0))
        assert sorted(np.concatenate([held for held, _ in parts])) == list(range(n))
        assert all(set(held) | set(seen) == set(range(n)) and not set(held) & set(seen) for held, seen in parts)


def test_a_useless_member_gets_no_weight():
    model = podium.train(DATA, "blended(members=[random,listnet],of=regression)", valid=VALID)
    alone = podium.train(DATA, "listnet", valid=VALID)
    ndcgs = [mean_metric(NDCG, ranker.score(TEST), TEST) for ranker in (model, alone)]
    assert ndcgs[0] > ndcgs[1] - 0.02
    assert [member.learner.name for member in members_of(model)] == ["random", "recipe"]
    assert "trials" in members_of(model)[1].info


def test_the_original_features_may_be_kept():
    model = podium.train(DATA, "blended(members=[listnet],of=listnet,keep=true)")
    assert mean_metric(NDCG, model.score(TEST), TEST) > 0.95


def test_a_blend_is_saved_and_neither_exported_nor_taken_apart(tmp_path):
    model = podium.train(DATA, BLEND, valid=VALID)
    model.save(tmp_path / "blend.podium")
    loaded = podium.load(tmp_path / "blend.podium")
    assert loaded.score(TEST).tobytes() == model.score(TEST).tobytes()
    assert loaded.distribution(TEST).summary().first.sum() == pytest.approx(TEST.n_queries)
    with pytest.raises(IncompatibleError, match="blended is neither trees nor a linear model"):
        export(model, "python", tmp_path / "ranker.py")
    named = TEST._replaced(document_ids=np.array([str(d) for d in range(TEST.n_documents)], dtype=object))
    with pytest.raises(IncompatibleError, match="cannot be taken apart"):
        podium.explain(model, named, query=named.query_name(0), documents=("0", "1"))


def test_bad_blends_are_refused():
    with pytest.raises(ParameterError, match="give members"):
        method("blended(members=[])")
    with pytest.raises(ParameterError, match="keep=true"):
        method("blended(keep=true)")
    with pytest.raises(ParameterError, match="nolearner"):
        method("blended(members=[nolearner])")
    with pytest.raises(DataError, match="at least 2; got 1 query"):
        podium.train(DATA.select([0]), BLEND)


def test_a_file_that_lacks_a_member_is_refused(tmp_path):
    model = podium.train(DATA, "blended(members=[listnet,regression])")
    for lost in ("0/head", "1/params/theta"):
        params = {name: array for name, array in model.params.items() if name != lost}
        Model(model.learner, params, model.state, 3, None, {}).save(tmp_path / "bad.podium")
        with pytest.raises(ModelFileError):
            podium.load(tmp_path / "bad.podium")
    head = dict(model.params) | {"0/head": np.frombuffer(b'{"n_features": 99999999}', np.uint8)}
    Model(model.learner, head, model.state, 3, None, {}).save(tmp_path / "bad.podium")
    with pytest.raises(ModelFileError, match="claims 99999999 features"):
        podium.load(tmp_path / "bad.podium")


def test_shares_are_all_tenths():
    assert [part.tolist() for part in simplex(2)] == [[k / 10, (10 - k) / 10] for k in range(10, -1, -1)]
    assert [len(list(simplex(n))) for n in (2, 3, 4)] == [11, 66, 286]
    assert all(part.sum() == pytest.approx(1) and part.min() >= 0 for part in simplex(3))


def test_interpolation_finds_the_better_of_two_models(tmp_path):
    good, bad = podium.train(DATA, "listnet"), podium.train(DATA, "random")
    good.save(tmp_path / "good.podium")
    bad.save(tmp_path / "bad.podium")
    model = podium.train(DATA, f"interpolated(sources=[{tmp_path}/bad.podium,{tmp_path}/good.podium])", valid=VALID)
    shares = model.info["shares"]
    assert shares[1] >= 0.8
    expected = shares[0] * zscores(bad.score(TEST), TEST.offsets) + shares[1] * zscores(good.score(TEST), TEST.offsets)
    np.testing.assert_allclose(model.score(TEST), expected, atol=1e-12)
    model.save(tmp_path / "mixed.podium")
    (tmp_path / "good.podium").unlink()
    (tmp_path / "bad.podium").unlink()
    assert podium.load(tmp_path / "mixed.podium").score(TEST).tobytes() == model.score(TEST).tobytes()


def test_interpolation_with_a_method_is_judged_out_of_fold(tmp_path):
    """A method that learns noise by heart gets less weight than a saved model that knows the truth."""
    podium.train(linear_data(100, 8, seed=9), "listnet").save(tmp_path / "old.podium")
    of = "lambdamart(rounds=60,min_data_in_leaf=1,num_leaves=31)"
    model = podium.train(linear_data(10, 8, seed=4), f"interpolated(sources=[{tmp_path}/old.podium],of={of})")
    assert model.info["shares"][0] >= 0.5


def test_bad_interpolations_are_refused(tmp_path):
    with pytest.raises(ParameterError, match="two to four models; got 0"):
        podium.train(DATA, "interpolated")
    with pytest.raises(ModelFileError, match="no such model file"):
        podium.train(DATA, "interpolated(sources=[nowhere.podium],of=listnet)")
    with pytest.raises(ParameterError, match="Rename the file"):
        Learner.find("interpolated")(sources=("a,b.podium",))
