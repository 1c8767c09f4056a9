"""Label rankings as queries: features, grades and preferences, what is refused, and a planted truth that is found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau

import podium
from podium.base.errors import DataError
from podium.data.dataset import Dataset
from podium.data.preference_tau import preference_tau

X = np.array([[1.0, 2.0], [3.0, 0.0]])


def test_features_are_the_outer_product_of_label_and_instance() -> None:
    data = Dataset.from_label_rankings(X, [["b", "a"], ["a", "b"]])
    expected = [np.kron(unit, x) for x in X for unit in np.eye(2)]
    np.testing.assert_array_equal(data.features.toarray(), expected)
    assert data.document_ids.tolist() == ["a", "b", "a", "b"]
    assert data.sizes.tolist() == [2, 2]
    assert data.labels.tolist() == [0, 1, 1, 0]


def test_ties_share_a_grade_and_labels_may_be_numbers() -> None:
    data = Dataset.from_label_rankings(X, [[3, [1, 2]], [{1, 3}, 2]])
    assert data.document_ids.tolist() == ["1", "2", "3"] * 2
    assert data.labels.tolist() == [0, 0, 1, 1, 0, 1]


def edges(data: Dataset) -> set[tuple[int, str, str]]:
    assert data.preferences is not None
    assert data.document_ids is not None
    names = data.document_ids[: data.sizes[0]].tolist()
    return {
        (q, names[int(a)], names[int(b)])
        for q in range(data.n_queries)
        for a, b, *_ in data.preferences.select([q]).edges
    }


def test_partial_orders_are_preferences() -> None:
    data = Dataset.from_label_rankings(X, [["c", ["a", "b"]], [("a", "c"), ("b", "c")]], labels="dcba")
    assert data.labels is None
    assert data.document_ids.tolist()[:4] == list("dcba")
    assert edges(data) == {(0, "c", "a"), (0, "c", "b"), (1, "a", "c"), (1, "b", "c")}
    top = Dataset.from_label_rankings(X, [["a", "b"], []], labels="abc")
    assert edges(top) == {(0, "a", "b")}


@pytest.mark.parametrize(
    ("rankings", "labels", "words"),
    [
        ([["a", "b"]], None, "1 rankings for 2 rows"),
        ([["a", "a"], ["a"]], None, "'a' is there twice"),
        ([["a", "b"], ["c"]], "ab", "label 'c'"),
        ([[("a", "a")], ["a"]], None, "pairs"),
        ([[("a", "b", "c")], ["a"]], None, "pairs"),
        (["ab", "ba"], None, "list of labels"),
        ([["a"], ["b"]], None, "no two labels"),
        (None, None, "no labels"),
        (None, "aa", "twice"),
    ],
)
def test_what_ranks_nothing_is_refused(rankings: Any, labels: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        Dataset.from_label_rankings(X, rankings, labels=labels)


def test_tau_of_preferences_is_kendalls_where_the_order_is_whole() -> None:
    rng = np.random.default_rng(0)
    orders = [rng.permutation(list("abcd")).tolist() for _ in range(5)]
    pairs = [[(row[i], row[j]) for i in range(4) for j in range(i + 1, 4)] for row in orders]
    scores = rng.normal(size=20)
    data = Dataset.from_label_rankings(np.ones((5, 1)), pairs)
    expected = [
        kendalltau(scores[4 * q : 4 * q + 4], [-row.index(d) for d in "abcd"])[0] for q, row in enumerate(orders)
    ]
    np.testing.assert_allclose(preference_tau(data, scores), expected)
    some = Dataset.from_label_rankings(X, [[("a", "b")], []])
    np.testing.assert_array_equal(preference_tau(some, [1, 0, 1, 0]), [1.0, np.nan])
    assert preference_tau(some, [1, 1, 0, 0])[0] == 0.0
    with pytest.raises(DataError, match="no preferences"):
        preference_tau(Dataset.from_label_rankings(X, [["a", "b"], ["b", "a"]]), [0] * 4)


def test_planted_weights_of_labels_are_found_from_whole_rankings_and_from_single_pairs() -> None:
    rng = np.random.default_rng(1)
    truth = rng.normal(size=(4, 3))
    instances = rng.normal(size=(300, 3))
    utilities = instances @ truth.T + 0.2 * rng.gumbel(size=(300, 4))
    whole = [[int(k) for k in np.argsort(-row)] for row in utilities]
    pairs = [[(row[0], row[1])] if q % 2 else [(row[1], row[3])] for q, row in enumerate(whole)]
    fresh = Dataset.from_label_rankings(rng.normal(size=(100, 3)), labels=range(4))
    best = fresh.features @ truth.ravel()
    expected = Dataset.from_arrays(fresh.features, best, group=fresh.sizes)
    for rankings, least in ((whole, 0.9), (pairs, 0.8)):
        model = podium.train(Dataset.from_label_rankings(instances, rankings, labels=range(4)), "ranking-svm")
        tau = podium.evaluate(expected, model.score(fresh), "kendall").means()["kendall"].value
        assert tau > least
