from dataclasses import replace

import numpy as np
import pytest

from podium.base.errors import DataError, IncompatibleError, ParameterError, PodiumWarning
from podium.data.dataset import Dataset
from podium.data.splits import hold_out
from podium.methods import Method
from podium.metrics import Metric
from podium.recipe import Recipe
from podium.solvers import LBFGS, SGD
from podium.testing import linear_data
from podium.training import measured, train
from podium.tuning import candidates

DATA, VALID = linear_data(20, 8), linear_data(10, 8, seed=1)
NDCG = Metric.parse("ndcg@10")


def test_a_grid_is_the_product_of_its_lists():
    made = candidates(Method(Recipe(), {"penalty": (0.1, 0.2), "tolerance": (0.01, 0.02, 0.03)}))
    assert len(made) == 6
    assert made[0] == (Recipe(solver=LBFGS(penalty=0.1, tolerance=0.01)), {"penalty": 0.1, "tolerance": 0.01})


def test_the_setting_that_does_best_on_validation_data_wins():
    model = train(DATA, Method(Recipe(), {"penalty": (1e9, 0.01)}), valid=VALID)
    assert model.learner == Recipe(solver=LBFGS(penalty=0.01))
    trials = model.info["trials"]
    assert [trial["penalty"] for trial in trials] == [1e9, 0.01]
    assert model.info["valid"] == max(trial["valid"] for trial in trials) == measured(model, VALID, NDCG)


def test_without_validation_data_the_settings_are_the_methods_own():
    model = train(DATA, Method(Recipe(), {"penalty": (1e9, 0.01)}))
    assert model.learner == Recipe()
    assert "trials" not in model.info


def test_the_metric_decides():
    by = {metric: train(DATA, "listnet", valid=VALID, metric=metric).info for metric in ("map", "ndcg@1")}
    assert by["map"]["metric"] == "map"
    assert by["map"]["valid"] == max(trial["valid"] for trial in by["map"]["trials"])
    assert by["map"]["valid"] != by["ndcg@1"]["valid"]


def test_a_method_may_be_given_by_name_or_value():
    scores = [train(DATA, how).score(DATA) for how in ("recipe", Recipe(), Method(Recipe()))]
    np.testing.assert_array_equal(scores[0], scores[1])
    np.testing.assert_array_equal(scores[0], scores[2])


def test_the_seed_matters_where_there_is_chance():
    one, same, other = (train(DATA, Recipe(solver=SGD(epochs=2)), seed=seed).score(DATA) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_observers_see_the_steps():
    seen = []
    train(DATA, Recipe(solver=LBFGS(iterations=3)), observers=(seen.append,))
    assert [step.iteration for step in seen] == [1, 2, 3]


def test_validation_data_is_transformed_as_the_training_data_was():
    stretched, seen = Dataset.from_arrays(VALID.features * [1, 1000, 0.001] + 7, VALID.labels, group=VALID.sizes), []
    model = train(stretched, Recipe(solver=SGD(epochs=3)), valid=stretched, observers=(seen.append,))
    assert max(step.valid for step in seen) == model.info["valid"] == measured(model, stretched, NDCG)
    assert model.info["valid"] > 0.8


def test_validation_data_must_fit():
    with pytest.raises(DataError, match="validation data has 5 features, the training data 3"):
        train(DATA, "ranknet", valid=linear_data(n_features=5))
    with pytest.raises(DataError, match="validation data needs labels"):
        train(DATA, "ranknet", valid=Dataset.from_arrays(VALID.features))


def test_validation_data_in_which_no_query_counts_is_refused_before_work_starts():
    seen = []
    nothing = replace(VALID, labels=np.zeros(VALID.n_documents))
    with pytest.raises(DataError, match="no query of the validation data counts for ndcg@10"):
        train(DATA, "ranknet", valid=nothing, observers=(seen.append,))
    assert not seen


@pytest.mark.parametrize("metric", ["num_ret", "unjudged@10", "set_F"])
def test_a_metric_that_cannot_tell_which_model_ranks_better_does_not_tune(metric):
    with pytest.raises(IncompatibleError, match="cannot tell which model ranks better"):
        train(DATA, "ranknet", valid=VALID, metric=metric)


def test_validation_labels_without_a_gain_are_refused_before_work_starts():
    seen = []
    below = Dataset.from_arrays(VALID.features, VALID.labels - 5, group=VALID.sizes)
    with pytest.raises(DataError, match="a label is -5, and a gain for labels below 0 is not defined"):
        train(DATA, "ranknet", valid=below, observers=(seen.append,))
    assert not seen


def test_data_without_labels_is_refused_in_words():
    with pytest.raises(IncompatibleError, match="listnet learns from grades, but the data has neither labels nor"):
        train(Dataset.from_arrays(DATA.features), "listnet")


@pytest.mark.parametrize("valid", [None, linear_data(6, 8, n_features=4, seed=1)])
@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("listnet", Dataset.from_arrays(np.ones((60, 4)), np.tile([0, 1, 2], 20), group=[30, 30])),
        ("lambdamart(rounds=3)", linear_data(3, 8, n_features=4)),
        ("lambdamart-mrr(rounds=3)", replace(linear_data(60, 8, n_features=4), labels=np.tile([0.1, 0.2], 240))),
    ],
)
def test_a_model_that_scores_all_documents_alike_is_said_to_be_constant(text, data, valid):
    with pytest.warns(PodiumWarning, match=f"all {data.n_documents} documents of the training data the same score"):
        model = train(data, text, valid=valid)
    assert np.ptp(model.score(data)) == 0


def test_no_documents_are_refused():
    with pytest.raises(DataError, match="there is no document to learn from"):
        train(Dataset.from_arrays(np.empty((0, 3)), []), "ranknet")


def test_threads_are_a_whole_number(monkeypatch):
    monkeypatch.setenv("PODIUM_THREADS", "many")
    with pytest.raises(ParameterError, match="PODIUM_THREADS must be a whole number of at least 1; got 'many'"):
        train(DATA, "ranknet")


def test_nothing_in_the_arguments_changes():
    before = DATA.features.copy(), DATA.labels.copy()
    train(DATA, "lambdamart(rounds=3)", valid=VALID)
    np.testing.assert_array_equal(DATA.features, before[0])
    np.testing.assert_array_equal(DATA.labels, before[1])


def test_a_fraction_of_the_queries_is_validation_data():
    training, held = hold_out(DATA, 0.25, seed=2)
    expected = train(training, "regression", valid=held, seed=2)
    model = train(DATA, "regression", valid=0.25, seed=2)
    assert model.info == expected.info
    assert model.seen(DATA) == (20, 15)


def test_a_fraction_of_too_few_queries_is_a_warning_and_no_validation_data():
    with pytest.warns(PodiumWarning, match=r"valid=0\.2: no query is held out, since fewer than 10"):
        model = train(DATA.select(np.arange(6)), "regression", valid=0.2)
    assert "valid" not in model.info


@pytest.mark.parametrize("valid", [0, 1, 1.5, -0.1])
def test_a_number_that_is_no_fraction_of_the_queries_is_refused(valid):
    with pytest.raises(ParameterError, match="above 0 and below 1"):
        train(DATA, "regression", valid=valid)
