import warnings

import numpy as np
import pytest
from scipy.special import ndtri

from podium import train
from podium.base.errors import IncompatibleError
from podium.data.dataset import Dataset
from podium.transforms import Quantile
from podium.transforms.quantile import EDGE, normal_quantiles


def values(seed, n=3000):
    """A normal, a log-normal of six decades, and one with many equal values that are neither least nor most."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    X[:, 1] = np.exp(3 * X[:, 1])
    X[:, 2] = np.where(np.abs(X[:, 2]) < 1, np.round(3 * X[:, 2]), 10 * X[:, 2])
    return X.astype(np.float32)


@pytest.mark.parametrize("to", ["normal", "uniform"])
@pytest.mark.parametrize("bins", [1000, 37])
def test_scikit_learn_gives_the_same_numbers(to, bins):
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    X, new = values(0), values(1, 2000)
    theirs = preprocessing.QuantileTransformer(n_quantiles=bins, output_distribution=to, subsample=10**9)
    expected = theirs.fit(X.astype(np.float64)).transform(new.astype(np.float64))
    transform = Quantile(bins=bins, to=to)
    state = transform.fit(Dataset.from_arrays(X, group=[len(X)]))
    got = transform.features(state, Dataset.from_arrays(new, group=[len(new)]))
    near_an_end = np.abs(
        new.astype(np.float64)[:, None, :] - X.astype(np.float64)[[X.argmin(0), X.argmax(0)], range(3)]
    )
    inside = near_an_end.min(axis=1) > 2e-7  # scikit-learn takes values up to 1e-7 from an end for the end
    np.testing.assert_allclose(got[inside], expected[inside], atol=1e-6)
    assert inside.mean() > 0.999


def test_the_normal_table_is_right_to_a_millionth():
    u = np.concatenate([np.linspace(0, 1, 100_001), np.geomspace(EDGE, 0.5, 100_001)])
    np.testing.assert_allclose(normal_quantiles(u), ndtri(np.clip(u, EDGE, 1 - EDGE)), atol=6e-7, rtol=0)


def test_equal_values_are_in_the_middle_of_their_shares_at_the_ends_too():
    data = Dataset.from_arrays([[0.0], [0.0], [0.0], [5.0], [6.0]], group=[5])
    state = Quantile(to="uniform").fit(data)
    assert Quantile(to="uniform").features(state, data).ravel().tolist() == [0.25, 0.25, 0.25, 0.75, 1.0]


def test_missing_values_and_constant_features_become_the_middle():
    data = Dataset.from_arrays([[np.nan, 3.0], [1.0, 3.0], [2.0, np.nan]], group=[3])
    new = Dataset.from_arrays([[np.nan, 4.0], [-np.inf, 3.0], [np.inf, -1e30]], group=[3])
    for to, expected in (
        ("uniform", [[0.5, 0.5], [0, 0.5], [1, 0.5]]),
        ("normal", [[0, 0], [ndtri(EDGE), 0], [-ndtri(EDGE), 0]]),
    ):
        got = Quantile(to=to).features(Quantile(to=to).fit(data), new)
        np.testing.assert_allclose(got, expected, atol=1e-6)


def test_it_never_falls():
    X = values(2)
    state = Quantile().fit(Dataset.from_arrays(X, group=[len(X)]))
    fine = np.sort(np.concatenate([X, np.nextafter(X, np.float32(9e9)), np.nextafter(X, np.float32(-9e9))]), axis=0)
    assert (np.diff(Quantile().features(state, Dataset.from_arrays(fine, group=[len(fine)])), axis=0) >= 0).all()


def test_trees_behind_it_rank_as_without_it():
    X = values(3, 600)
    y = (X[:, 0] + np.log(X[:, 1]) > 1).astype(int)
    data = Dataset.from_arrays(X, y, group=[20] * 30)
    bare, behind = (
        train(data, method=f"lambdamart(transform={name},rounds=20)").score(data) for name in ("identity", "quantile")
    )
    assert np.corrcoef(bare, behind)[0, 1] > 0.99


def test_more_documents_than_are_sorted_give_nearly_the_same_and_no_warning():
    x = np.random.default_rng(4).standard_normal((250_000, 1)).astype(np.float32)
    data = Dataset.from_arrays(x, group=[len(x)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = Quantile(to="uniform").features(Quantile(to="uniform").fit(data), data)
    order = np.argsort(np.argsort(x[:, 0])) / len(x)
    assert np.abs(got[:, 0] - order).max() < 0.01


def test_other_features_are_refused():
    state = Quantile().fit(Dataset.from_arrays([[1.0], [2.0]], group=[2]))
    with pytest.raises(IncompatibleError, match="1 features; the data has 2"):
        Quantile().features(state, Dataset.from_arrays([[1.0, 2.0]], group=[1]))


@pytest.mark.parametrize(
    "odd",
    [
        {"first": np.array([0, 3, 9])},
        {"first": np.array([1, 2, 4])},
        {"first": np.array([0, 9, 4])},
        {"first": np.array([0.0, 2.0, 4.0])},
        {"knot": np.zeros(7)},
        {"low": np.zeros((2, 2))},
    ],
)
def test_curves_that_do_not_fit_together_are_refused(odd):
    data = Dataset.from_arrays([[1.0, 5.0], [2.0, 7.0]], group=[2])
    state = Quantile().fit(data)
    assert state["first"].tolist() == [0, 2, 4]
    with pytest.raises(IncompatibleError, match="do not fit together"):
        Quantile().features({**state, **odd}, data)
