"""Unusual data for learners: each function makes one kind, named after what is unusual about it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from podium.base.arrays import Array, Singles
from podium.data.dataset import Dataset
from podium.data.preferences import from_labels
from podium.testing.examples import linear_data


def binary_labels() -> Dataset:
    return _labelled(_labels() >= 2)


def labels_to_thirty() -> Dataset:
    return _labelled(np.minimum(10 * _labels(), 30))


def labels_with_fractions() -> Dataset:
    return _labelled(_labels() + 0.25)


def copies_of_documents() -> Dataset:
    return replace(_data(), features=np.repeat(_features()[::2], 2, axis=0))


def features_of_all_scales() -> Dataset:
    return replace(_data(), features=_features() * np.array([1e-6, 1.0, 1e3, 1e9], np.float32))


def empty_queries() -> Dataset:
    return Dataset.from_arrays(_features(), _labels(), group=[0, *_data().sizes, 0]).grouped()


def one_query_of_2000_documents() -> Dataset:
    return linear_data(1, 2000, n_features=4)


def preferences_only() -> Dataset:
    return replace(_data(), labels=None, preferences=from_labels(_labels(), _data().offsets))


def nothing_relevant() -> Dataset:
    return _labelled(_labels() / 100)


def everything_relevant() -> Dataset:
    return _labelled(_labels() + 1)


def one_grade_per_query() -> Dataset:
    return _labelled(_data().query_index % 3)


def labels_of_any_number() -> Dataset:
    return _labelled(_labels() + np.random.default_rng(0).uniform(0, 0.5, _data().n_documents))


def labels_below_zero() -> Dataset:
    return _labelled(_labels() - 2)


def sparse_features() -> Dataset:
    return replace(_data(), features=sp.csr_array(_features().clip(min=0)))


def one_document_per_query() -> Dataset:
    return linear_data(40, 1, n_features=4)


def one_document() -> Dataset:
    return linear_data(1, 1, n_features=4)


def features_all_constant() -> Dataset:
    return Dataset.from_arrays(np.ones((60, 4)), np.tile([0, 1, 2], 20), group=[30, 30]).grouped()


def features_missing() -> Dataset:
    X = _features().copy()
    X[::7, 1] = np.nan
    X[:, 3] = np.nan
    return replace(_data(), features=X)


def features_infinite() -> Dataset:
    X = _features().copy()
    X[5, 2] = np.inf
    return replace(_data(), features=X)


def one_grade() -> Dataset:
    return _labelled(np.ones(_data().n_documents))


def an_empty_list_of_preferences() -> Dataset:
    return replace(_data(), labels=None, preferences=from_labels(np.zeros(_data().n_documents), _data().offsets))


def neither_labels_nor_preferences() -> Dataset:
    return replace(_data(), labels=None)


def a_million_documents() -> Dataset:
    n = 1_000_000
    features = np.broadcast_to(np.float32(0), (n, 46))  # takes no memory
    return Dataset(features, (np.arange(n) % 3).astype(np.float64), np.arange(0, n + 1, 100))


USABLE = (
    binary_labels, labels_to_thirty, labels_with_fractions, copies_of_documents, features_of_all_scales, empty_queries,
    one_query_of_2000_documents,
)  # fmt: skip
"""Data as other benchmarks have it: no learner may refuse it."""

UNUSUAL = (
    preferences_only, nothing_relevant, everything_relevant, one_grade_per_query, labels_of_any_number,
    labels_below_zero, sparse_features, one_document_per_query, one_document, features_all_constant, features_missing,
    features_infinite,
)  # fmt: skip
"""A learner refuses it before work starts, or learns from it."""

HOPELESS = {
    one_grade: "at least two grades, but all 48 documents have grade 1",
    an_empty_list_of_preferences: "but (the list of them is empty|the data has only preferences)",
    neither_labels_nor_preferences: "the data has neither labels nor preferences",
}
"""There is nothing to learn from, and every supervised learner says so, in these words, before work starts."""


def _data() -> Dataset:
    return linear_data(6, 8, n_features=4)


def _features() -> Singles:
    return np.asarray(_data().features)


def _labels() -> Array:
    labels = _data().labels
    assert labels is not None
    return labels


def _labelled(labels: ArrayLike) -> Dataset:
    return replace(_data(), labels=np.asarray(labels, np.float64))
