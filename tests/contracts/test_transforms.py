"""What every transform promises: finite numbers of one shape, rows in place, a state that a file can hold."""

import numpy as np
import pytest
import scipy.sparse as sp

from podium.data.dataset import Dataset
from podium.transforms import Transform
from reference.variants import variants

TRANSFORMS = [transform for cls in Transform.catalogue().values() for transform in variants(cls)]


def make(seed=0, *, sparse=False, missing=False):
    rng = np.random.default_rng(seed)
    X = 10 * rng.standard_normal((30, 4)) + [0, 5, -100, 3]
    X[:, 3] = 3.0  # constant
    X[rng.random(X.shape) < 0.3] = 0.0
    if missing:
        X[4, 1] = X[20, 3] = np.nan
    return Dataset.from_arrays(sp.csr_array(X) if sparse else X, rng.integers(0, 3, 30), group=[10, 1, 19])


def dense(features):
    return features.toarray() if sp.issparse(features) else features


@pytest.mark.parametrize("transform", TRANSFORMS, ids=repr)
@pytest.mark.parametrize("sparse", [False, True])
def test_rows_stay_in_place_and_nothing_else_changes(transform, sparse):
    data = make(sparse=sparse)
    made = transform.apply(transform.fit(data), data)
    assert made.features.shape[0] == data.n_documents
    assert made.features.dtype == np.float32
    assert np.isfinite(dense(made.features)).all()
    np.testing.assert_array_equal(made.labels, data.labels)
    np.testing.assert_array_equal(made.offsets, data.offsets)


@pytest.mark.parametrize("transform", TRANSFORMS, ids=repr)
def test_arguments_are_not_changed(transform):
    data = make(missing=True)
    before = data.features.copy()
    transform.apply(transform.fit(data), data)
    np.testing.assert_array_equal(data.features, before)


@pytest.mark.parametrize("transform", TRANSFORMS, ids=repr)
def test_the_state_is_plain_arrays_and_all_that_is_needed(transform):
    data, other = make(0), make(1)
    state = transform.fit(data)
    kept = {name: np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape) for name, array in state.items()}
    np.testing.assert_array_equal(transform.features(kept, other), transform.features(state, other))


@pytest.mark.parametrize("transform", TRANSFORMS, ids=repr)
def test_labels_of_new_data_are_not_looked_at_and_those_of_training_data_only_where_it_says_so(transform):
    data, blind = make(0), make(0)
    blind = Dataset.from_arrays(blind.features, group=blind.sizes)
    state = transform.fit(data)
    without = state if transform.supervised else transform.fit(blind)
    np.testing.assert_array_equal(transform.features(state, data), transform.features(without, blind))


@pytest.mark.parametrize("transform", TRANSFORMS, ids=repr)
@pytest.mark.parametrize("missing", [False, True])
def test_sparse_and_dense_features_differ_by_a_shift_of_each_feature_at_most(transform, missing):
    data, same = make(missing=missing), make(sparse=True, missing=missing)
    one = transform.apply(transform.fit(data), data).features
    two = dense(transform.apply(transform.fit(same), same).features)
    np.testing.assert_allclose(one - one[0], two - two[0], atol=2e-5)


@pytest.mark.parametrize("transform", TRANSFORMS, ids=repr)
def test_a_state_from_dense_features_fits_sparse_ones(transform):
    state = transform.fit(make(0))
    one, two = transform.features(state, make(1)), transform.features(state, make(1, sparse=True))
    np.testing.assert_allclose(one, dense(two), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("transform", TRANSFORMS, ids=repr)
@pytest.mark.parametrize("sparse", [False, True])
def test_a_state_from_sparse_features_fits_dense_ones(transform, sparse):
    state = transform.fit(make(0, sparse=True))
    one = transform.features(state, make(1))
    np.testing.assert_allclose(one, dense(transform.features(state, make(1, sparse=sparse))), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("transform", TRANSFORMS, ids=repr)
def test_threads_do_not_change_a_bit(transform, monkeypatch):
    rng = np.random.default_rng(0)
    X, labels = rng.standard_normal((20_000, 3)), rng.integers(0, 3, 20_000)
    data, found = Dataset.from_arrays(X, labels, group=np.full(200, 100)), []
    for threads in ("1", "2"):
        monkeypatch.setenv("PODIUM_THREADS", threads)
        found.append(transform.apply(transform.fit(data), data).features.tobytes())
    assert found[0] == found[1]


@pytest.mark.parametrize("transform", TRANSFORMS, ids=repr)
def test_no_documents_are_no_trouble(transform):
    nothing, state = Dataset.from_arrays(np.empty((0, 4), np.float32)), transform.fit(make())
    assert transform.apply(state, nothing).features.shape == (0, transform.apply(state, make()).features.shape[1])
