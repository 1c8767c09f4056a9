"""Bagging: bootstrap of whole queries, members in one file, one form for export."""

from dataclasses import replace

import numpy as np
import pytest

import podium
from podium.base.errors import IncompatibleError, ModelFileError, ParameterError
from podium.ensembles import Bagged
from podium.ensembles.bagged import _draw
from podium.ensembles.combining import combined, zscores
from podium.ensembles.packing import packed_json
from podium.export import export
from podium.learner import Learner
from podium.methods import method
from podium.metrics import Metric
from podium.model import Model
from podium.scorers.forms import TreesForm
from podium.solvers import mean_metric
from podium.testing import LEARNER_CHECKS, linear_data
from podium.tuning import candidates

DATA, VALID = linear_data(30, 8), linear_data(15, 8, seed=1)
NDCG = Metric.parse("ndcg@10")
TREES = "lambdamart(rounds=6,num_leaves=4,min_data_in_leaf=2)"


def ndcg(model, data):
    return mean_metric(NDCG, model.score(data), data)


SLOW = ("one_seed_gives_one_file_on_any_number_of_threads", "memory_is_counted_before_work_starts")


@pytest.mark.parametrize(
    "check", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in LEARNER_CHECKS]
)
def test_it_keeps_the_promises_of_learners(check):
    LEARNER_CHECKS[check](Learner.parse("bagged(of=listnet,members=3)"))


@pytest.mark.parametrize("of", ["listnet", TREES, "lambdarank(epochs=2)", "rankboost", "structrank"])
def test_one_member_without_bootstrap_is_the_method_itself(of):
    plain = podium.train(DATA, of, seed=5)
    bagged = podium.train(DATA, f"bagged(of={of},members=1,bootstrap=false)", seed=5)
    assert bagged.score(VALID).tobytes() == plain.score(VALID).tobytes()


def test_the_score_is_the_mean_of_fits_to_queries_weighted_by_how_often_they_are_drawn():
    model = podium.train(DATA, "bagged(of=listnet,members=3)", seed=4)
    parts = []
    for rng in np.random.default_rng(4).spawn(3):
        counts = np.bincount(rng.integers(30, size=30), minlength=30)
        assert counts.sum() == DATA.n_queries
        parts.append(podium.train(replace(DATA, query_weights=counts.astype(float)), "listnet").score(VALID))
    np.testing.assert_allclose(model.score(VALID), np.mean(parts, axis=0), rtol=1e-12)
    np.testing.assert_allclose(model.spread(VALID), np.std(parts, axis=0), rtol=1e-9)
    assert model.coefficients() is not None


def test_drawn_queries_have_a_weight():
    weights = np.zeros(30)
    weights[7] = 2.0
    for seed in range(20):
        assert _draw(replace(DATA, query_weights=weights), np.random.default_rng(seed))[7] > 0


def test_the_metric_out_of_bag_is_of_members_that_did_not_see_the_query():
    """A learner that knows the training labels by heart is no better than chance out of bag."""
    rng = np.random.default_rng(0)
    noise = podium.Dataset.from_arrays(rng.normal(size=(600, 5)), rng.integers(0, 2, 600), group=[10] * 60).grouped()
    model = podium.train(noise, "bagged(of=lambdamart(rounds=40,min_data_in_leaf=2),members=6)")
    chance = np.mean([mean_metric(NDCG, rng.normal(size=600), noise) for _ in range(50)])
    assert ndcg(model, noise) > chance + 0.15
    assert model.info["out_of_bag"]["ndcg@10"] == pytest.approx(chance, abs=0.05)  # three standard errors
    assert 50 <= model.info["out_of_bag"]["queries"] <= 60


def test_the_mean_of_trees_is_that_of_the_members():
    model = podium.train(DATA, f"bagged(of={TREES},members=3)")
    ready = model.learner.transform.apply(model.state, VALID)
    parts = [learner.score(params, ready) for learner, params in model.learner._members(model.params)]
    np.testing.assert_allclose(model.score(VALID), np.mean(parts, axis=0), rtol=1e-12, atol=1e-15)
    assert isinstance(model.form(), TreesForm)


@pytest.mark.parametrize("of", ["listnet", TREES])
def test_the_mean_of_members_is_exported_as_one_model(of, tmp_path):
    model = podium.train(DATA, f"bagged(of={of},members=3)")
    assert export(model, "python", tmp_path / "ranker.py", data=VALID).holds


def test_other_combinations_are_not_exported(tmp_path):
    model = podium.train(DATA, "bagged(of=listnet,members=3,combine=borda)")
    with pytest.raises(IncompatibleError, match="bagged is neither trees nor a linear model"):
        export(model, "python", tmp_path / "ranker.py")


def test_members_are_combined_by_formula():
    scores, offsets = np.array([[3.0, 1.0, 2.0, 7.0, 7.0], [0.0, 4.0, 4.0, 1.0, 0.0]]), np.array([0, 3, 5])
    np.testing.assert_allclose(combined(scores, offsets, "mean"), [1.5, 2.5, 3, 4, 3.5])
    np.testing.assert_allclose(combined(scores, offsets, "borda"), [1, 0.75, 1.25, 0.75, 0.25])
    np.testing.assert_allclose(
        combined(scores, offsets, "rrf")[:3], np.mean([[1 / 61, 1 / 63, 1 / 62], [1 / 63, 1 / 61.5, 1 / 61.5]], axis=0)
    )
    root = np.sqrt(1.5)
    np.testing.assert_allclose(zscores(scores[0], offsets), [root, -root, 0, 0, 0], atol=1e-15)
    np.testing.assert_allclose(zscores(np.array([1e308, -1e308]), np.array([0, 0, 2])), [1, -1])
    assert not zscores(np.full(3, 0.1), np.array([0, 3])).any()


@pytest.mark.parametrize("combine", ["zscores", "rrf", "borda"])
def test_every_combination_ranks_well(combine):
    model = podium.train(DATA, f"bagged(of=listnet,members=3,combine={combine})")
    assert ndcg(model, VALID) > 0.95
    assert model.learner.per_query


def test_the_grid_of_the_method_is_tried():
    bagged = method("bagged(of=listnet,members=2)")
    assert bagged.grid == method("listnet").grid
    assert [learner.of for learner, _ in candidates(bagged)] == [f"listnet(penalty={p})" for p in (0.01, 0.1, 1.0)]
    assert method("bagged(of=listnet(penalty=3))").grid == {}
    model = podium.train(DATA, Bagged("listnet", members=2), valid=VALID)
    assert [trial["penalty"] for trial in model.info["trials"]] == [0.01, 0.1, 1.0]


def test_other_parameters_are_those_of_the_method():
    assert repr(method("bagged(of=listnet,penalty=3,members=2)").learner) == "bagged(of=listnet(penalty=3),members=2)"
    bagged = method("bagged(of=recipe(loss=ranknet))").learner.changed({"penalty": "2.0"})
    assert repr(bagged) == "bagged(of=recipe(solver=lbfgs(penalty=2.0)))"
    assert Learner.parse(repr(bagged)) == bagged
    assert bagged.has_parameter("penalty")
    assert not bagged.has_parameter("leaves")
    with pytest.raises(ParameterError, match="leaves"):
        method("bagged(of=listnet,leaves=3)")
    with pytest.raises(ParameterError, match="listnett"):
        method("bagged(of=listnett)")


def test_a_method_without_query_weights_is_refused():
    with pytest.raises(IncompatibleError, match=r"bagged draws queries by weights, and prank .*bootstrap=false"):
        podium.train(DATA, "bagged(of=prank)")
    podium.train(DATA, "bagged(of=prank,members=2,bootstrap=false)")


def test_one_model_has_no_spread():
    with pytest.raises(IncompatibleError, match="no spread"):
        podium.train(DATA, "listnet").spread(DATA)


@pytest.mark.parametrize(
    "change",
    [
        {"members": packed_json(["recipe"])},
        {"members": packed_json({})},
        {"members": np.frombuffer(b"[" * 99_999, np.uint8)},
        {"members": np.zeros((2, 2))},
        {"1/theta": np.zeros(9)},
        {"members": packed_json(["model(file=x)"] * 3)},
    ],
)
def test_a_damaged_file_is_refused(change, tmp_path):
    model = podium.train(DATA, "bagged(of=listnet,members=3)")
    replace(model, params={**model.params, **change}).save(tmp_path / "bad.podium")
    with pytest.raises(ModelFileError):
        Model.load(tmp_path / "bad.podium")
