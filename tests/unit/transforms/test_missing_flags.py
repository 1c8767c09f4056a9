import numpy as np
import scipy.sparse as sp

from podium import train
from podium.data.dataset import Dataset
from podium.transforms import Identity, MissingFlags, Quantile, ZScore

X = np.array([[1.0, np.nan, 5.0], [3.0, 8.0, 6.0], [2.0, np.nan, 7.0]], np.float32)
DATA = Dataset.from_arrays(X, [0, 1, 0], group=[3])


def test_flags_follow_the_features_that_are_missing_in_training():
    state = MissingFlags().fit(DATA)
    new = Dataset.from_arrays([[np.nan, 1.0, 1.0], [1.0, np.nan, 1.0]], group=[2])
    got = MissingFlags().features(state, new)
    np.testing.assert_array_equal(got[:, :3], ZScore().features(ZScore().fit(DATA), new))
    assert got[:, 3:].tolist() == [[0.0], [1.0]]
    assert MissingFlags().sources(state, 3).tolist() == [0, 1, 2, 1]


def test_of_sparse_features_those_that_are_stored_as_missing():
    sparse = Dataset.from_arrays(sp.csr_array(np.nan_to_num(X, nan=-99.0)), [0, 1, 0], group=[3])
    sparse.features.data[sparse.features.data == -99.0] = np.nan
    assert MissingFlags().fit(sparse)["flagged"].tolist() == [1]


def test_it_stands_on_any_transform():
    for of in (Identity(), Quantile()):
        transform = MissingFlags(of=of)
        got = transform.features(transform.fit(DATA), DATA)
        assert np.isfinite(got).all()
        assert got[:, 3].tolist() == [1.0, 0.0, 1.0]


def test_a_linear_model_learns_what_it_means_that_a_value_is_missing():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((400, 2))
    missing = rng.random(400) < 0.3
    x[missing, 0] = np.nan
    data = Dataset.from_arrays(x, missing.astype(int), group=[20] * 20)
    model = train(data, method="listnet(transform=missing-flags)")
    scores = model.score(data)
    assert scores[missing].min() > scores[~missing].max()
    weights = model.coefficients()
    assert weights.shape == (2,)
    np.testing.assert_allclose(weights, model.form().weights[:2] * model.state["of.scale"])
