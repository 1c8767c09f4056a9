"""Contract suite of transforms: finite numbers, rows in place, a state of plain arrays that a file can hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from podium.base.arrays import Array, dense
from podium.data.dataset import Dataset
from podium.testing.examples import size, threads
from podium.testing.names import text_gives_it_back
from podium.testing.numbers import near
from podium.transforms import Transform


def check_transform(transform: Transform) -> None:
    """Run every check of transforms."""
    for check in TRANSFORM_CHECKS.values():
        check(transform)


def rows_stay_in_place(transform: Transform) -> None:
    """A row of finite float32 numbers for each document; labels and queries are as before."""
    for sparse in (False, True):
        data = _data(sparse=sparse)
        transformed = transform.apply(transform.fit(data), data)
        assert transformed.features.shape[0] == data.n_documents, (
            f"{transformed.features.shape[0]} rows of {data.n_documents}"
        )
        assert transformed.features.dtype == np.float32, f"features are {transformed.features.dtype}"
        assert np.isfinite(dense(transformed.features)).all(), "features are not finite"
        assert transformed.labels is data.labels, "labels changed"
        assert transformed.offsets is data.offsets, "queries changed"


def missing_values_become_numbers_or_stay(transform: Transform) -> None:
    """A missing value gives a finite number or stays missing; it spoils no other document."""
    data, whole = _data(missing=True), _data()
    state = transform.fit(whole)
    features, expected = (dense(transform.features(state, part)) for part in (data, whole))
    assert not np.isinf(features).any(), "a missing value became infinite"
    others = np.setdiff1d(np.arange(data.n_documents), _MISSING_ROWS)
    alone = np.isin(data.query_index, data.query_index[_MISSING_ROWS], invert=True)[others]
    _near(features[others][alone], expected[others][alone], 1e-5, "documents of queries without missing values")


def arguments_are_not_changed(transform: Transform) -> None:
    """Features are as before."""
    data = _data(missing=True)
    transform.apply(transform.fit(data), data)
    before, after = dense(_data(missing=True).features), dense(data.features)
    assert np.array_equal(after, before, equal_nan=True), "the transform changed its data"


def state_is_plain_arrays(transform: Transform) -> None:
    """The bytes of its state's arrays are all that it needs to transform new data."""
    state, other = transform.fit(_data(0)), _data(1)
    kept = {name: np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape) for name, array in state.items()}
    restored, original = transform.features(kept, other), transform.features(state, other)
    assert np.array_equal(dense(restored), dense(original), equal_nan=True), "a state from bytes gives other features"


def labels_are_not_looked_at(transform: Transform) -> None:
    """New data needs no labels; training data needs them only if the transform is `supervised`."""
    data = _data()
    blind = _with_queries(Dataset.from_arrays(data.features, group=data.sizes).grouped())
    state = transform.fit(data)
    without = state if transform.supervised else transform.fit(blind)
    seen, unseen = transform.features(state, data), transform.features(without, blind)
    assert np.array_equal(dense(seen), dense(unseen)), "labels change the features"


def sparse_and_dense_agree(transform: Transform) -> None:
    """Fitted to sparse features, each differs by a shift at most; one state gives both kinds the same features."""
    for missing in (False, True):
        data, same = _data(missing=missing), _data(sparse=True, missing=missing)
        from_dense = dense(transform.apply(transform.fit(data), data).features)
        from_sparse = dense(transform.apply(transform.fit(same), same).features)
        _near(
            from_sparse - from_sparse[0],
            from_dense - from_dense[0],
            2e-5,
            "sparse features against dense ones, up to a shift",
        )
    for state in (transform.fit(_data()), transform.fit(_data(sparse=True))):
        new, sparse = transform.features(state, _data(1)), transform.features(state, _data(1, sparse=True))
        _near(dense(sparse), dense(new), 1e-6, "new sparse features against new dense ones")


def threads_do_not_change_a_bit(transform: Transform) -> None:
    """One thread and two give the same bytes."""
    rng, results = np.random.default_rng(0), []
    n_queries = size(200, 2)
    X, labels = rng.standard_normal((100 * n_queries, 3)), rng.integers(0, 3, 100 * n_queries)
    data = _with_queries(Dataset.from_arrays(X, labels, group=np.full(n_queries, 100)).grouped())
    for number in (1, 2):
        with threads(number):
            results.append(dense(transform.apply(transform.fit(data), data).features).tobytes())
    assert results[0] == results[1], "threads change the features"


def no_documents_are_no_trouble(transform: Transform) -> None:
    """An empty dataset gives no rows, of as many columns as any other."""
    nothing, state = Dataset.from_arrays(np.empty((0, 4), np.float32)).grouped(), transform.fit(_data())
    got, expected = transform.apply(state, nothing).features.shape, transform.apply(state, _data()).features.shape
    assert got == (0, expected[1]), f"no documents give features of shape {got}"


TRANSFORM_CHECKS: dict[str, Callable[[Transform], None]] = {
    check.__name__: check
    for check in (
        rows_stay_in_place, missing_values_become_numbers_or_stay, arguments_are_not_changed, state_is_plain_arrays,
        labels_are_not_looked_at, sparse_and_dense_agree, threads_do_not_change_a_bit, no_documents_are_no_trouble,
        text_gives_it_back,
    )
}  # fmt: skip
"""Checks of every transform, by name: transform → None."""

_MISSING_ROWS = [4, 20]


def _data(seed: int = 0, *, sparse: bool = False, missing: bool = False) -> Dataset:
    """Features of several scales with zeros, one of them constant; three queries, one with a single document."""
    rng = np.random.default_rng(seed)
    X = 10 * rng.standard_normal((30, 4)) + [0, 5, -100, 3]
    X[:, 3] = 3.0
    X[rng.random(X.shape) < 0.3] = 0.0
    if missing:
        X[_MISSING_ROWS, [1, 3]] = np.nan
    features = sp.csr_array(X) if sparse else X
    return _with_queries(Dataset.from_arrays(features, rng.integers(0, 3, 30), group=[10, 1, 19]).grouped())


def _with_queries(data: Dataset) -> Dataset:
    """The data with query features: one of two markets, and a length."""
    queries = np.arange(data.n_queries)
    about = np.column_stack([queries % 2, np.sqrt(queries)]).astype(np.float64)
    return replace(data, query_features=about, query_feature_names=("market", "length"))


def _near(got: Array, expected: Array, tolerance: float, what: str) -> None:
    """Missing in the same places, and near elsewhere."""
    assert np.array_equal(np.isnan(got), np.isnan(expected)), f"{what}: missing values are elsewhere"
    near(np.nan_to_num(got), np.nan_to_num(expected), tolerance, what)
