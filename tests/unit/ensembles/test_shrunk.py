"""Shrinkage towards the first stage of a search: no more is learned than cross-validation can show."""

import dataclasses

import numpy as np
import pytest

import podium
from podium.base.errors import IncompatibleError
from podium.data.dataset import Dataset
from podium.ensembles.combining import zscores
from podium.ensembles.interpolated import simplex
from podium.ensembles.packing import unpack
from podium.ensembles.shrunk import _chosen, _Trial
from podium.explanation.attribution import shares_over_mean
from podium.export import export
from podium.learner import Learner
from podium.metrics import Metric
from podium.solvers import mean_metric
from podium.testing import LEARNER_CHECKS

QUICK = ("text_gives_it_back", "a_file_gives_the_model_back", "queries_are_scored_alone", "other_features_are_refused")
NDCG = Metric.parse("ndcg@10")


def searches(n, others, *, seed, noise=1.0, documents=20):
    """Queries whose grades depend on the first feature and, as `others` says, on the second; ten more are noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n * documents, 12))
    y = (X[:, 0] + others * X[:, 1] + noise * rng.normal(size=len(X)) > 1.3).astype(float)
    data = Dataset.from_arrays(X, y, group=[documents] * n, feature_names=["bm25", *(f"f{k}" for k in range(11))])
    return dataclasses.replace(data.grouped(), info={"first_stage": "bm25"})


def learned_share(model):
    return model.info["trials"][model.info["chosen"]]["learned"]


@pytest.mark.parametrize("check", QUICK)
def test_it_keeps_the_promises_of_learners(check):
    LEARNER_CHECKS[check](Learner.parse("shrunk(of=listnet(penalty=0.1),towards=1)"))


def test_where_learning_cannot_help_it_is_the_first_stage_or_close_to_it():
    losses, shares = [], []
    for seed in range(8):
        model = podium.train(searches(20, 0.0, seed=seed), "shrunk")
        new = searches(200, 0.0, seed=100 + seed)
        first = mean_metric(NDCG, np.asarray(new.features[:, 0], float), new)
        losses.append(first - mean_metric(NDCG, model.score(new), new))
        shares.append(learned_share(model))
    assert np.mean(losses) < 0.01
    assert max(losses) < 0.05
    assert np.mean(shares) < 0.25


def test_where_learning_helps_most_of_the_score_is_learned_and_it_is_better():
    gains, shares = [], []
    for seed in range(4):
        model = podium.train(searches(40, 1.0, seed=seed), "shrunk")
        new = searches(200, 1.0, seed=100 + seed)
        first = mean_metric(NDCG, np.asarray(new.features[:, 0], float), new)
        gains.append(mean_metric(NDCG, model.score(new), new) - first)
        shares.append(learned_share(model))
    assert min(gains) > 0.05
    assert np.mean(shares) > 0.5


def test_the_score_is_the_weighted_sum_of_z_scores_in_the_query():
    data = searches(40, 0.5, seed=0)
    models = [podium.train(data, "shrunk", seed=seed) for seed in range(6)]
    mixtures = [model for model in models if 0 < learned_share(model) < 1]
    assert mixtures
    model = mixtures[0]
    share = learned_share(model)
    first, learned = unpack(model.params, 2, most_features=12)
    np.testing.assert_array_equal(first.score(data), data.features[:, 0])
    z = [zscores(part.score(data), data.offsets) for part in (first, learned)]
    np.testing.assert_allclose(model.score(data), (1 - share) * z[0] + share * z[1], atol=1e-12)
    assert [member["share"] for member in model.info["members"]] == [1 - share, share]
    assert model.info["towards"] == "bm25"
    part = data.select([0])
    shares = shares_over_mean(model, part, np.arange(4)).shares.sum(axis=1)
    np.testing.assert_allclose(np.diff(shares), np.diff(model.score(part)[:4]), atol=1e-5)


def test_one_part_alone_is_the_model_and_engines_run_it(tmp_path):
    model = podium.train(searches(3, 0.0, seed=1, noise=5.0), "shrunk")
    assert learned_share(model) == 0.0
    assert repr(model.learner) == "single-feature"
    export(model, "elasticsearch-ltr", tmp_path / "m.json")


@pytest.mark.parametrize(
    ("gain", "error", "expected"),
    [
        (0.03, 0.04, 0.0),  # not one standard error
        (0.03, 0.03, 0.0),
        (0.03, 0.027, 0.25),  # 1 − .81 = .19
        (0.03, 0.02, 0.5),  # 1 − 4/9 = .556
        (0.03, 0.015, 0.75),  # 1 − ¼
        (0.03, 0.01, 1.0),  # 1 − 1/9 = .889
        (-0.03, 0.001, 0.0),
    ],
)
def test_the_best_share_is_shrunk_by_what_may_be_noise_of_its_gain(gain, error, expected):
    first = np.linspace(0.2, 0.8, 16)
    noise = np.tile([1.0, -1.0], 8) * error * np.sqrt(15.0)  # the standard error of its mean is `error`
    shares = [np.array([1.0 - w, w]) for w in (0.0, 0.25, 0.5, 0.75, 1.0)]
    between = first + 1e-9 * np.sign(gain)
    values = [first, between, between, between, first + gain + noise]
    trials = [_Trial(share, value) for share, value in zip(shares, values, strict=True)]
    chosen = _chosen(trials, [value.mean() for value in values])
    assert trials[chosen].shares[1] == expected


def test_a_share_between_that_is_below_the_first_stage_is_not_taken():
    first = np.linspace(0.2, 0.8, 16)
    gains = 0.03 + np.tile([0.02, -0.02], 8) * np.sqrt(15.0)  # half of it is noise
    values = [first, first - 0.01, first - 0.01, first - 0.01, first + gains]
    trials = [_Trial(np.array([1.0 - w, w]), value) for w, value in zip(np.arange(5) / 4, values, strict=True)]
    assert _chosen(trials, [value.mean() for value in values]) == 0


def test_trees_join_only_if_they_are_proved_better_than_linear_parts_alone():
    first, rng = np.linspace(0.2, 0.8, 40), np.random.default_rng(0)
    shares = list(simplex(3, 4))
    noise = rng.normal(size=40) * 0.02

    def trials(gain):
        return [_Trial(s, first + 0.2 * s[1] + (0.2 + gain) * s[2] + noise * s[2]) for s in shares]

    for gain, trees in ((0.001, False), (0.1, True)):
        tried = trials(gain)
        chosen = tried[_chosen(tried, [trial.values.mean() for trial in tried])].shares
        assert (chosen[2] > 0) == trees
        assert chosen[0] == 0.0


def test_shares_are_quarters_and_no_larger_than_the_best_one():
    model = podium.train(searches(40, 0.5, seed=0), "shrunk")
    trials, chosen = model.info["trials"], model.info["chosen"]
    assert [trial["learned"] for trial in trials] == [0.0, 0.25, 0.5, 0.75, 1.0]
    best = max(range(5), key=lambda k: trials[k]["valid"])
    assert chosen <= best


def test_validation_queries_decide_too():
    helps, not_here = searches(40, 1.0, seed=0), searches(400, -1.0, seed=1)
    assert learned_share(podium.train(helps, "shrunk")) > 0
    assert learned_share(podium.train(helps, "shrunk", valid=not_here)) == 0


@pytest.mark.slow
def test_trees_are_tried_with_many_queries_only():
    data = searches(30, 0.0, seed=0)
    assert "trees" not in podium.train(data, "shrunk").info["trials"][0]
    curved = np.abs(data.features[:, 1]) > 1.0
    data = dataclasses.replace(data, labels=curved.astype(float))
    model = podium.train(data, "shrunk(least=30,trees=lambdamart(rounds=10,num_leaves=4,transform=identity))")
    chosen = model.info["trials"][model.info["chosen"]]
    assert len(model.info["trials"]) == 15
    assert chosen["trees"] >= 0.5


def test_one_query_is_not_enough_to_learn_from():
    model = podium.train(searches(1, 1.0, seed=0), "shrunk")
    assert learned_share(model) == 0.0


def test_a_feature_that_is_not_there_is_refused():
    data = searches(5, 0.0, seed=0)
    with pytest.raises(IncompatibleError, match="no feature 'title'"):
        podium.train(data, "shrunk(towards=title)")
    with pytest.raises(IncompatibleError, match="no feature 'first-stage' to shrink towards"):
        podium.train(dataclasses.replace(data, info=None), "shrunk")
    assert podium.train(data, "shrunk(towards=f3)").info["towards"] == "f3"


def test_features_of_an_index_are_learned_from_by_it_without_being_asked():
    data = searches(12, 1.0, seed=0)
    assert "towards" in podium.train(data).info
    assert "towards" not in podium.train(dataclasses.replace(data, info=None), "listnet").info
