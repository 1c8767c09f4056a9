"""Synthetic data keeps what it promises."""

import numpy as np
import pytest
from lightgbm import LGBMRegressor
from sklearn.linear_model import LinearRegression

from podium.base.errors import ParameterError
from podium.data import make_letor_like


def test_the_same_seed_gives_the_same_data():
    (a, u), (b, v), (c, _) = make_letor_like(10, seed=1), make_letor_like(10, seed=1), make_letor_like(10, seed=2)
    assert a.digest() == b.digest() != c.digest()
    assert np.array_equal(u, v)


def test_sizes_widths_and_grades_are_as_asked():
    data, utility = make_letor_like(300, (5, 9), n_features=11)
    assert data.n_queries == 300
    assert (data.sizes.min(), data.sizes.max()) == (5, 9)
    assert data.n_features == 11
    assert len(utility) == data.n_documents
    shares = np.bincount(data.labels.astype(int), minlength=5) / data.n_documents
    assert np.allclose(shares, [0.52, 0.32, 0.13, 0.02, 0.01], atol=0.002)


def test_without_noise_grades_rise_with_utility_within_each_query():
    data, utility = make_letor_like(50, noise=0)
    for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        assert (np.diff(data.labels[a:b][np.argsort(utility[a:b])]) >= 0).all()


def test_utility_is_the_better_guide_then_trees_then_a_line_then_one_feature():
    data, utility = make_letor_like(400, seed=3)
    cut = data.offsets[250]
    X, y = data.features, data.labels
    right = {"utility": agreement(data, utility), "feature": max(agreement(data, x) for x in X.T)}
    for name, model in (("trees", LGBMRegressor(n_jobs=1, verbose=-1)), ("line", LinearRegression())):
        scores = model.fit(X[:cut], y[:cut]).predict(X)
        right[name] = agreement(data, scores)
    assert right["utility"] > right["trees"] + 0.02
    assert right["trees"] > right["line"] + 0.02
    assert right["line"] > right["feature"] + 0.02
    assert right["feature"] > 0.55


def agreement(data, scores) -> float:
    """The share of pairs with different labels in the right order, in the queries that were not learned from."""
    right = total = 0
    for a, b in zip(data.offsets[250:-1], data.offsets[251:], strict=True):
        better = data.labels[a:b, None] > data.labels[None, a:b]
        right += ((scores[a:b, None] > scores[None, a:b]) & better).sum()
        total += better.sum()
    return right / total


@pytest.mark.parametrize(
    "wrong", [{"n_queries": 0}, {"documents": (0, 3)}, {"documents": (5, 3)}, {"n_features": 3}, {"noise": -1}]
)
def test_wrong_sizes_are_refused(wrong):
    with pytest.raises(ParameterError, match="make_letor_like needs"):
        make_letor_like(**({"n_queries": 5} | wrong))


def test_the_smallest_set_is_finite():
    data, utility = make_letor_like(1, (1, 1), n_features=4)
    assert np.isfinite(data.features).all()
    assert np.isfinite(utility).all()
