"""Dataset: what arrays become, and what is refused."""

import numpy as np
import pytest
import scipy.sparse as sp

from podium.base.errors import DataError
from podium.data import Dataset


def test_rows_of_a_query_are_put_together_and_back():
    data = Dataset.from_arrays(np.arange(5.0)[:, None], [0, 1, 2, 3, 4], qid=["b", "a", "b", "c", "a"])
    assert data.query_ids.tolist() == ["b", "a", "c"]
    assert data.labels.tolist() == [0, 1, 2, 3, 4]
    assert data.query_index.tolist() == [0, 1, 0, 2, 1]
    grouped = data.grouped()
    assert grouped.offsets.tolist() == [0, 2, 4, 5]
    assert grouped.labels.tolist() == data.to_grouped(data.labels).tolist() == [0, 2, 1, 4, 3]
    assert data.from_grouped(grouped.labels).tolist() == data.labels.tolist()
    assert [grouped.document_name(row) for row in range(5)] == ["0", "2", "1", "4", "3"]
    assert grouped.grouped() is grouped
    assert data.digest() == grouped.digest()


@pytest.mark.parametrize(
    "use", [lambda x: x[0], len, list, np.diff, lambda x: np.asarray(x, np.int64), lambda x: x.tolist()]
)
def test_rows_that_lie_apart_cannot_be_cut_by_offsets(use):
    data = Dataset.from_arrays(np.eye(3), [1, 2, 3], qid=["b", "a", "b"])
    with pytest.raises((DataError, AttributeError), match=r"rows of a query lie apart.*data\.grouped"):
        use(data.offsets)


def test_a_dataset_is_shown_on_one_line():
    data = Dataset.from_arrays(np.eye(3), [1, 2, 3], qid=["b", "a", "b"], preferences=([2], [0]), source="x.txt")
    assert repr(data) == "Dataset(2 queries, 3 documents, 3 features, labels 1 to 3, 1 preference, from x.txt)"
    assert (
        repr(data.select([1])) == "Dataset(1 query, 1 document, 3 features, labels 2 to 2, 0 preferences, from x.txt)"
    )
    assert repr(Dataset.from_arrays(np.eye(2))) == "Dataset(1 query, 2 documents, 2 features, no labels)"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"qid": ["a", None]}, "row 1 has no query id"),
        ({"qid": [1.0, np.nan]}, "row 1 has no query id"),
        ({"qid": ["a", 1]}, "2 queries"),
        ({"labels": ["good", "bad"]}, "row 0: label 'good' is no number"),
        ({"group": ["x", "y"]}, "group sizes must be whole numbers"),
        ({"group": [0.5, 1.5]}, "group sizes must be whole numbers"),
        ({"group": [3, -1]}, "group sizes must be whole numbers"),
    ],
)
def test_what_is_no_number_and_no_query_is_refused(options, message):
    if message == "2 queries":
        assert Dataset.from_arrays(np.eye(2), qid=np.array(["a", 1], dtype=object)).n_queries == 2
        return
    with pytest.raises(DataError, match=message):
        Dataset.from_arrays(np.eye(2), **options)


def test_features_must_be_numbers():
    with pytest.raises(DataError, match="features must be numbers"):
        Dataset.from_arrays([["a", "b"]])


def test_preferences_are_counted_in_the_input():
    data = Dataset.from_arrays(np.eye(3), qid=["b", "a", "b"], preferences=([2], [0], [0.7]))
    assert data.preferences.edges.tolist() == [[1, 0, 0.7, 1]]
    assert data.preferences.offsets.tolist() == [0, 1, 1]
    with pytest.raises(DataError, match="different queries"):
        data.with_preferences([0], [1])
    with pytest.raises(DataError, match="there are 3 rows"):
        data.with_preferences([0], [3])


def test_selected_queries_keep_what_is_theirs():
    data = Dataset.from_arrays(
        np.arange(6.0)[:, None],
        np.arange(6),
        group=[1, 2, 3],
        document_ids=list("abcdef"),
        query_weights=[1, 2, 3],
        preferences=([1, 5], [2, 3]),
    )
    part = data.select([2, 0])
    assert part.document_ids.tolist() == list("defa")
    assert part.query_ids.tolist() == ["2", "0"]
    assert part.query_weights.tolist() == [3, 1]
    assert part.preferences.edges.tolist() == [[2, 0, 1, 1]]
    assert part.preferences.offsets.tolist() == [0, 1, 1]


def test_the_caller_s_arrays_are_left_alone():
    matrix = sp.csr_array((np.array([1, 2, 3], np.float32), np.array([2, 0, 0], np.int32), [0, 3]), shape=(1, 3))
    data = Dataset.from_arrays(matrix, [1])
    assert data.features.toarray().tolist() == [[5, 0, 1]]
    assert matrix.indices.tolist() == [2, 0, 0]
    assert matrix.data.tolist() == [1, 2, 3]


def test_the_digest_sees_all_that_learning_sees():
    X, y = np.eye(3), [1, 0, 2]
    digests = {
        Dataset.from_arrays(*arrays, **options).digest()
        for arrays, options in [
            ((X, y), {}),
            ((2 * X, y), {}),
            ((X, [1, 0, 1]), {}),
            ((X, y), {"group": [1, 2]}),
            ((X, y), {"query_weights": [2]}),
            ((X, y), {"preferences": ([0], [1])}),
            ((sp.csr_array(X), y), {}),
        ]
    }
    assert len(digests) == 7
    assert Dataset.from_arrays(X, y).digest() == Dataset.from_arrays(X, y, document_ids=list("abc")).digest()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": [1]}, "1 labels for 2 rows"),
        ({"labels": [1, np.inf]}, "row 1: label inf"),
        ({"qid": [1]}, "1 query ids for 2 rows"),
        ({"group": [1]}, "add up to 1, but there are 2 rows"),
        ({"group": [1, 1], "qid": [1, 2]}, "not both"),
        ({"feature_names": ["a"]}, "1 feature names for 2 features"),
        ({"query_weights": [1, 2, 3]}, "3 query_weights for 1 queries"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(options, message):
    with pytest.raises(DataError, match=message):
        Dataset.from_arrays(np.eye(2), **options)


@pytest.mark.parametrize("queries", [[-1], [0, -2], [4], [1.5], [True, False, True, False]], ids=repr)
def test_queries_that_are_not_numbers_of_queries_are_refused(queries):
    data = Dataset.from_arrays(np.zeros((8, 1)), np.arange(8) % 2, group=[2, 2, 2, 2])
    with pytest.raises(DataError, match="queries must be whole numbers from 0 to 3; got"):
        data.select(queries)


@pytest.mark.parametrize("queries", [[], [1, 2], [3, 0], [2, 2]], ids=repr)
def test_queries_are_selected_in_the_order_given(queries):
    data = Dataset.from_arrays(np.arange(8.0)[:, None], np.arange(8) % 2, group=[2, 2, 2, 2])
    rows = [row for q in queries for row in (2 * q, 2 * q + 1)]
    found = data.select(queries)
    assert found.features[:, 0].tolist() == rows
    assert found.offsets.tolist() == [2 * k for k in range(len(queries) + 1)]
