"""Auto: linear models and trees, in the proportion that is best on validation data."""

import dataclasses

import numpy as np
import pytest

import podium
from podium.base.errors import PodiumError
from podium.data import make_letor_like, split
from podium.ensembles.auto import Auto
from podium.ensembles.combining import zscores
from podium.ensembles.composite import parsed
from podium.ensembles.packing import unpack
from podium.explanation.explain import explain
from podium.explanation.importance import importance
from podium.export import export
from podium.learner import Learner
from podium.metrics import Metric
from podium.solvers import mean_metric
from podium.testing import LEARNER_CHECKS, linear_data

SMALL = (
    "auto(linear=[listnet(penalty=0.1),listnet(penalty=0.1,transform=query-zscore)],"
    "trees=[lambdamart(rounds=8,num_leaves=4,transform=identity),lambdamart(rounds=8,num_leaves=4,transform=add-minmax)])"
)
QUICK = ("text_gives_it_back", "a_file_gives_the_model_back", "queries_are_scored_alone", "other_features_are_refused")


@pytest.fixture(scope="module")
def parts():
    return split(make_letor_like(50, (6, 12), n_features=8, seed=4)[0])


@pytest.fixture(scope="module")
def model(parts):
    return podium.train(parts[0], SMALL, valid=parts[1])


@pytest.mark.parametrize("check", QUICK)
def test_it_keeps_the_promises_of_learners(check):
    LEARNER_CHECKS[check](Learner.parse(SMALL))


@pytest.mark.slow
def test_threads_change_no_bit():
    LEARNER_CHECKS["one_seed_gives_one_file_on_any_number_of_threads"](Learner.parse(SMALL))


def members(model):
    return unpack(model.params, len([m for m in model.info["members"] if m["share"]]), most_features=model.n_features)


def test_the_score_is_the_weighted_sum_of_z_scores_in_the_query(parts, model):
    shares = [member["share"] for member in model.info["members"] if member["share"]]
    z = [zscores(member.score(parts[2]), parts[2].offsets) for member in members(model)]
    np.testing.assert_allclose(model.score(parts[2]), np.tensordot(shares, z, axes=1), atol=1e-12)
    assert sum(shares) == pytest.approx(1)


def test_without_validation_data_the_shares_are_those_of_the_parameter(parts):
    model = podium.train(parts[0], SMALL)
    assert [member["share"] for member in model.info["members"]] == pytest.approx([0.15, 0.15, 0.35, 0.35])


def test_no_other_proportion_is_better_on_validation_data(parts, model):
    metric, valid = Metric.parse("ndcg@10"), parts[1]
    assert 0 < model.info["members"][0]["share"] < 0.5, "both parts take part"
    z = [zscores(member.score(valid), valid.offsets) for member in members(model)]
    linear, trees = np.mean(z[:2], axis=0), np.mean(z[2:], axis=0)
    every = [mean_metric(metric, (1 - a) * linear + a * trees, valid) for a in np.arange(11) / 10]
    assert model.info["valid"] == pytest.approx(max(every), abs=1e-12)


def test_by_default_the_deeper_symmetric_trees_learn_by_the_loss_of_yetirank():
    by = [(parsed(text).learner.scorer.max_depth, parsed(text).learner.loss.name) for text in Auto().trees]
    assert by[3:] == [(4, "lambdarank"), (6, "yeti-rank")]
    assert {loss for _, loss in by[:4]} == {"lambdarank"}


def test_members_without_weight_are_not_in_the_file():
    """Random scores beside a linear truth: they get no weight, and the file is that of the linear member."""
    model = podium.train(
        linear_data(30, 8), "auto(linear=[regression],trees=[random],share=0)", valid=linear_data(400, 8, seed=1)
    )
    assert [member["share"] for member in model.info["members"]] == [1.0, 0.0]
    assert [repr(member.learner) for member in members(model)] == [model.info["members"][0]["learner"]]


def test_scaling_that_changes_nothing_and_members_that_cannot_learn_are_left_out():
    scaled = linear_data(12, 6)
    X = scaled.features.copy()
    X[0, 0] = np.inf
    infinite = scaled.with_features(X, None)
    with pytest.raises(PodiumError):
        podium.train(infinite, "listnet")
    model = podium.train(infinite, SMALL)
    assert all("lambdarank" in member["learner"] for member in model.info["members"])
    assert "infinite" in model.info["left_out"]["listnet(penalty=0.1)"]


def test_its_features_are_explained_and_weighed(parts, model):
    test = parts[2]
    names = [test.document_name(row) for row in (0, 1)]
    explanation = explain(model, test, query=test.query_name(0), documents=(names[0], names[1]))
    assert explanation.rest == pytest.approx(0, abs=1e-5)  # SHAP values and their sums are exact to single precision
    assert explanation.difference == pytest.approx(np.ptp(model.score(test.select([0]))[:2]))
    shares, how = importance(model, test)
    assert shares.sum() == pytest.approx(1)
    assert "gain" in how or "weight" in how


def test_an_engine_cannot_run_it_and_the_error_says_so(model, tmp_path):
    with pytest.raises(PodiumError, match="auto"):
        export(model, "solr", tmp_path / "m.json")


@pytest.mark.parametrize("shares", [None, np.array(0.5), np.array([np.inf]), np.ones(9), np.ones((2, 2))])
def test_damaged_shares_are_refused_in_words(parts, model, shares):
    params = {name: array for name, array in model.params.items() if name != "shares"}
    damaged = dataclasses.replace(model, params=params if shares is None else params | {"shares": shares})
    with pytest.raises(PodiumError):
        damaged.score(parts[2])
