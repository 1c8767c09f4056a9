"""Feature selection for a method: the path, the rule that chooses, and what is refused."""

import itertools

import numpy as np
import pytest

from podium.base.errors import DataError, IncompatibleError, ParameterError
from podium.data.dataset import Dataset
from podium.data.splits import split
from podium.data.synthetic import make_letor_like, useless_features
from podium.evaluation.select_features import FeatureSelection, SelectionStep, select_features
from podium.formats import write_letor
from podium.metrics import Metric
from podium.solvers.early_stopping import query_values
from podium.training import train


@pytest.fixture(scope="module")
def parts():
    return split(make_letor_like(60, (8, 15), n_features=12, seed=4)[0], (0.7, 0.3))


@pytest.mark.parametrize("by", ["gain", "shap", "gas", "lasso"])
def test_each_step_does_without_what_the_one_before_dropped(parts, by):
    path = select_features(*parts, "ranknet", by=by).path
    assert [len(step.features) for step in path] == list(range(12, 0, -1))
    for step, following in itertools.pairwise(path):
        assert np.setdiff1d(step.features, step.dropped).tolist() == following.features.tolist()
    assert path[-1].dropped.tolist() == path[-1].features.tolist()


def test_a_step_is_measured_by_a_model_of_its_features_alone(parts):
    training, valid = parts
    step = select_features(training, valid, "ranknet").path[7]
    only = ",".join(str(l + 1) for l in step.features)
    values = query_values(
        Metric.parse("ndcg@10"), train(training, f"ranknet(transform=keep(only=[{only}]))").score(valid), valid
    )
    assert step.values.tolist() == values.tolist()
    counted = values[np.isfinite(values)]
    assert step.mean == pytest.approx(counted.mean())
    assert step.error == pytest.approx(counted.std(ddof=1) / np.sqrt(len(counted)))


def test_useless_features_go_first():
    data, _ = make_letor_like(150, (15, 25), seed=0)
    useless = useless_features(150, (15, 25), seed=0)
    half = next(step for step in select_features(*split(data, (0.7, 0.3)), "ranknet").path if len(step.features) <= 12)
    assert np.isin(half.features, useless).mean() <= 0.1


def step(n, values):
    values = np.array(values, float)
    return SelectionStep(np.arange(n), np.arange(0), float(np.nanmean(values)), 0.1, values)


def test_the_fewest_features_that_are_not_proved_worse_are_chosen():
    best, near, worse = [0.5, 0.7, 0.9, np.nan], [0.4, 0.8, 0.89, np.nan], [0.4, 0.59, 0.8, np.nan]
    selection = FeatureSelection((step(3, best), step(2, near), step(1, worse)), "gain", "ndcg")
    assert selection.best is selection.path[0]
    assert selection.chosen is selection.path[1]
    equal = FeatureSelection((step(2, best), step(1, best)), "gain", "ndcg")
    assert equal.best is equal.chosen is equal.path[1]


def test_validation_data_without_two_queries_that_count_is_refused(parts):
    training, valid = parts
    with pytest.raises(DataError, match=r"ndcg@10.* counts 1 query of the validation data"):
        select_features(training, valid.select(np.array([0])), "ranknet")


def test_the_command_prints_the_path_and_writes_the_names(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from podium.cli.main import app

    monkeypatch.chdir(tmp_path)
    write_letor(make_letor_like(40, (6, 9), n_features=4, seed=1)[0], "train.txt")
    result = CliRunner().invoke(app, ["select", "train.txt", "--method", "regression(penalty=0.5)", "-o", "few.txt"])
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[1] == "data       32 queries to learn from, 8 to validate"
    assert [line.split()[0] for line in lines[3:7]] == ["4", "3", "2", "1"]
    kept = (tmp_path / "few.txt").read_text().split()
    assert f"regression(penalty=0.5,transform=keep(only=[{','.join(kept)}]))" in result.output
    assert sum("← kept" in line for line in lines) == 1


def test_methods_without_importance_and_mixing_transforms_are_refused(parts):
    with pytest.raises(IncompatibleError, match="has no importance of features"):
        select_features(*parts, "ranknet(scorer=mlp)")
    with pytest.raises(IncompatibleError, match="each is transformed on its own"):
        select_features(*parts, "ranknet(transform=second-order)")
    with pytest.raises(ParameterError, match="by is one of gain, shap, drop, gas, lasso"):
        select_features(*parts, "ranknet", by="magic")


def planted(seed):
    """Queries whose grades depend on 5 of 30 features, and these five."""
    rng = np.random.default_rng(seed)
    useful = np.sort(rng.permutation(30)[:5])
    X = rng.standard_normal((1500, 30)).astype(np.float32)
    use = 0.45 * X[:, useful] @ rng.choice([-1.0, 1.0], 5) + 0.6 * rng.standard_normal(1500)
    return Dataset(X, np.digitize(use, [0.0, 0.8, 1.6]).astype(np.float64), np.arange(101) * 15), useful


@pytest.mark.parametrize("by", ["gain", "shap", "drop"])
def test_the_five_planted_of_thirty_features_are_kept_in_nine_of_ten_seeds(by):
    hits = 0
    for seed in range(10):
        data, useful = planted(seed)
        kept = select_features(*split(data, (0.7, 0.3)), "regression", by=by, keep=5, steps=4).chosen.features
        hits += kept.tolist() == useful.tolist()
    assert hits >= 9


def test_steps_and_keep_say_how_many_features_the_models_have(parts):
    path = select_features(*parts, "ranknet", keep=3, steps=2)
    assert [len(step.features) for step in path.path] == [12, 6, 3]
    assert path.chosen is path.path[-1]
    assert len(select_features(*parts, "ranknet", by="gas", keep=11).chosen.features) == 11
    assert [len(step.features) for step in select_features(*parts, "ranknet", keep=12).path] == [12]
    with pytest.raises(ParameterError, match="keep=13, but the data has 12 features"):
        select_features(*parts, "ranknet", keep=13)
    with pytest.raises(ParameterError, match="steps must be a whole number"):
        select_features(*parts, "ranknet", steps=0)
