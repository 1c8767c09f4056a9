"""Weights for covariate shift: the ratio of densities, told by features of queries."""

from dataclasses import replace

import numpy as np
import pytest

import podium
from podium.base.errors import DataError
from podium.data.covariate_shift import _logistic, shift_weights
from podium.data.dataset import Dataset
from podium.formats import write_letor


def queries(mean, count, rng, *, given=True):
    z = rng.normal(mean, 1.0, count)
    X = np.repeat(z, 2)[:, None] + np.tile([[-0.1], [0.1]], (count, 1))
    about = {"query_features": z[:, None], "query_feature_names": ("z",)} if given else {}
    labels = np.tile([0.0, 1.0], count)
    return Dataset(X.astype(np.float32), labels, np.arange(count + 1) * 2, **about), z


@pytest.mark.parametrize("given", [True, False])
def test_weights_are_the_ratio_of_the_densities(given):
    rng = np.random.default_rng(0)
    (source, z), (target, _) = queries(0.0, 2000, rng, given=given), queries(0.5, 1000, rng, given=given)
    like = shift_weights(source, target)
    ratio = np.clip(np.exp(0.5 * z - 0.125), 0.1, 10.0)  # of the normal densities
    np.testing.assert_allclose(like.weights, ratio / ratio.mean(), rtol=0.25)
    assert like.weights.mean() == pytest.approx(1.0)
    assert like.effective == pytest.approx(like.weights.sum() ** 2 / (like.weights**2).sum())
    assert not like.too_few
    assert like.names == (("z",) if given else ("mean of f1",))


def test_without_a_shift_all_queries_count_about_the_same():
    rng = np.random.default_rng(1)
    like = shift_weights(queries(0.0, 500, rng)[0], queries(0.0, 500, rng)[0])
    assert like.effective > 0.95 * 500


def test_weights_are_within_bounds_and_too_few_queries_are_said():
    rng = np.random.default_rng(2)
    like = shift_weights(queries(0.0, 200, rng)[0], queries(4.0, 200, rng)[0])
    assert like.weights.max() / like.weights.min() <= 100 * (1 + 1e-12)
    assert like.too_few


def test_the_regression_is_at_its_minimum():
    rng = np.random.default_rng(3)
    z, is_target = rng.standard_normal((50, 2)), rng.random(50) < 0.4
    theta = _logistic(z, is_target)
    probability = 1 / (1 + np.exp(-(z @ theta[:-1] + theta[-1])))
    np.testing.assert_allclose(z.T @ (probability - is_target) + theta[:-1], 0.0, atol=1e-3)
    assert probability.mean() == pytest.approx(is_target.mean(), abs=1e-4)


def test_queries_that_cannot_be_compared_are_refused():
    rng = np.random.default_rng(4)
    source, _ = queries(0.0, 10, rng)
    with pytest.raises(DataError, match="have the features z, those of the target mean of f1"):
        shift_weights(source, queries(0.0, 10, rng, given=False)[0])
    with pytest.raises(DataError, match="4 queries on one side; 5 are needed"):
        shift_weights(source, queries(0.0, 4, rng)[0])


def test_train_like_other_data_weighs_the_queries(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from podium.cli.main import app

    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    (source, _), (target, _) = queries(0.0, 30, rng), queries(1.0, 20, rng)
    unjudged = np.where(np.arange(60) < 8, np.nan, source.labels)  # four queries, which are not learned from
    write_letor(replace(source, labels=unjudged), "source.txt")
    write_letor(replace(target, labels=np.full(target.n_documents, np.nan)), "target.txt")
    words = ["train", "source.txt", "--method", "listnet", "--valid", "none", "--like", "target.txt"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.stderr
    judged = podium.read_data("source.txt").judged()
    like = shift_weights(judged, podium.read_data("target.txt"))
    assert f"target.txt: weights {like.weights.min():.2f} to {like.weights.max():.2f}, worth" in result.stdout
    weighted = podium.train(replace(judged, query_weights=like.weights), "listnet")
    assert podium.load("model.podium").score(source).tobytes() == weighted.score(source).tobytes()
