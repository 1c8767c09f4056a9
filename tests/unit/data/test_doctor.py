"""The data doctor: each illness planted and found, none found in health."""

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from podium.data import Dataset, check, make_letor_like, split
from podium.formats import read_folder

OHSUMED = Path(__file__).parents[3] / "../shared/data/OHSUMED"
HEALTHY, _ = make_letor_like(60, (8, 20), n_features=10, seed=1)


def findings(**datasets: Dataset) -> dict[str, object]:
    return {finding.code: finding for finding in check(datasets)}


def with_column(data: Dataset, column: int, values) -> Dataset:
    X = data.features.copy()
    X[:, column] = values
    return replace(data, features=X)


def test_healthy_data_has_no_findings():
    train, vali, test = split(HEALTHY)
    assert check({"train": train, "vali": vali, "test": test}) == []


def test_sparse_data_is_judged_like_dense_data():
    sick = with_column(with_column(HEALTHY, 3, HEALTHY.features[:, 5]), 7, 0)
    sick = with_column(sick, 1, np.where(np.arange(sick.n_documents) % 5, sick.features[:, 1], np.nan))
    dense = check({"train": sick})
    assert [finding.code for finding in dense] == ["missing", "constant-features", "duplicate-features"]
    assert check({"train": replace(sick, features=sp.csr_array(sick.features))}) == dense


def test_a_forgotten_qid_is_one_giant_query():
    n = HEALTHY.n_documents
    found = findings(train=Dataset.from_arrays(HEALTHY.features, HEALTHY.labels))["one-query"]
    assert found.level == "warning"
    assert f"All {n} documents" in found.title
    big = Dataset.from_arrays(np.random.default_rng(0).random((2000, 2)), np.arange(2000) % 3)
    assert findings(train=big)["one-query"].level == "error"


def test_queries_of_one_document_are_counted():
    data = Dataset.from_arrays(np.arange(6.0)[:, None] ** 2, [0, 1, 0, 1, 0, 1], qid=[1, 1, 2, 3, 4, 5])
    found = findings(train=data)["single-document"]
    assert found.title == "4 of 5 queries have one document."
    assert found.level == "warning"
    assert found.examples == ("query 2", "query 3", "query 4", "query 5")


def test_queries_with_one_label_are_counted():
    labels = HEALTHY.labels.copy()
    labels[HEALTHY.offsets[2] : HEALTHY.offsets[4]] = 1
    found = findings(train=replace(HEALTHY, labels=labels))["single-label"]
    assert found.title.startswith("2 of 60 queries")
    assert found.examples == ("query 2", "query 3")


def test_constant_and_repeated_features_are_named():
    sick = with_column(with_column(HEALTHY, 3, HEALTHY.features[:, 5]), 7, 2.5)
    found = findings(train=replace(sick, feature_names=tuple("abcdefghij")))
    assert found["constant-features"].examples == ("h",)
    assert found["duplicate-features"].examples == ("d = f",)


@pytest.mark.parametrize(
    "leak",
    [
        lambda y: y,
        lambda y: -10 * y + 3,
        lambda y: np.exp(y) + 0.01 * np.sin(np.arange(len(y))),
        lambda y: (y > 0).astype(float),  # orders most pairs, all of them right
    ],
)
def test_a_feature_made_from_the_label_is_found(leak):
    found = findings(train=with_column(HEALTHY, 4, leak(HEALTHY.labels)))["label-leak"]
    assert found.examples[0].startswith("feature 5 (")
    assert len(found.examples) == 1


def test_a_rare_feature_that_is_always_right_is_no_leak():
    rare = (HEALTHY.labels == 4).astype(float)
    assert "label-leak" not in findings(train=with_column(HEALTHY, 4, rare))


def test_a_good_feature_is_no_leak():
    data, utility = make_letor_like(60, n_features=10, noise=0.3)
    assert "label-leak" not in findings(train=with_column(data, 4, utility))


def test_queries_in_two_parts_are_found_by_their_documents():
    train, test = HEALTHY.select(np.arange(40)), HEALTHY.select(np.arange(38, 60))
    found = findings(train=train, test=test)
    assert found["shared-queries"].level == "error"
    assert found["shared-queries"].title == "2 queries of train are in test as well, with the same documents."
    assert found["shared-queries"].examples == ("query 38", "query 39")
    assert "shared-query-ids" not in found
    renamed = replace(test, query_ids=np.array([f"t{q}" for q in range(test.n_queries)], dtype=object))
    assert "shared-queries" in findings(train=train, test=renamed)


def test_small_or_empty_queries_that_agree_by_chance_are_not_shared():
    X = np.repeat([[0.0], [1.0], [2.0], [3.0], [2.0], [1.0]], [9, 1, 2, 1, 1, 1], axis=0)
    train = Dataset.from_arrays(X, np.arange(len(X)) % 2, group=[9, 1, 0, 2, 3])
    test = replace(train, query_ids=np.array(list("abcde"), dtype=object))
    assert not {"shared-queries", "shared-query-ids"} & findings(train=train, test=test).keys()
    assert findings(train=train, test=train)["shared-queries"].examples == ("query 1", "query 3", "query 4")


def test_equal_query_ids_with_other_documents_are_a_warning():
    train, test = HEALTHY.select(np.arange(40)), HEALTHY.select(np.arange(40, 60))
    found = findings(train=train, test=replace(test, query_ids=train.query_ids[:20]))
    assert found["shared-query-ids"].level == "warning"
    assert "shared-queries" not in found


def test_different_numbers_of_features_are_an_error():
    narrow = replace(HEALTHY.select([1]), features=HEALTHY.select([1]).features[:, :4])
    assert findings(train=HEALTHY.select([0, 2]), test=narrow)["widths"].level == "error"


def test_double_documents_with_conflicting_labels_are_named():
    X, labels = HEALTHY.features.copy(), HEALTHY.labels.copy()
    X[4], labels[4], labels[1] = X[1], 2, 0
    found = findings(train=replace(HEALTHY, features=X, labels=labels))["conflicting-labels"]
    assert found.examples == ("query 0: documents 0-1 and 0-4 have labels 0 and 2",)
    labels[4] = 0
    assert "conflicting-labels" not in findings(train=replace(HEALTHY, features=X, labels=labels))
    X[1] = X[HEALTHY.offsets[1]]  # the same document in another query is no conflict
    assert "conflicting-labels" not in findings(train=replace(HEALTHY, features=X))


def test_values_that_are_not_finite_are_counted():
    X = HEALTHY.features.copy()
    X[0, 2], X[3, 2], X[5, 6] = np.nan, np.nan, -np.inf
    found = findings(train=replace(HEALTHY, features=X))
    assert found["missing"].title == "1 features have missing values (NaN), 2 in all."
    assert found["infinite"].level == "error"
    assert found["infinite"].examples == ("feature 7",)


@pytest.mark.parametrize(
    ("change", "code", "level"),
    [
        (lambda y: y * 0 + 1, "one-grade", "error"),
        (lambda y: y * 6, "large-labels", "warning"),
        (lambda y: y * 1000, "large-labels", "error"),
        (lambda y: y - 1, "negative-labels", "warning"),
        (lambda y: y / 2, "fractional-labels", "note"),
    ],
)
def test_labels_out_of_the_usual_range_are_found(change, code, level):
    assert findings(train=replace(HEALTHY, labels=change(HEALTHY.labels)))[code].level == level


def test_scattered_queries_and_missing_labels_are_noted():
    order = np.random.default_rng(0).permutation(HEALTHY.n_documents)
    mixed = Dataset.from_arrays(HEALTHY.features[order], qid=HEALTHY.query_index[order])
    assert list(findings(test=mixed)) == ["scattered-queries", "no-labels"]


def test_errors_come_first_and_every_finding_says_where_why_and_what_to_do():
    X = with_column(HEALTHY, 2, 1).features.copy()
    X[0, 3] = np.inf
    found = check({"train": replace(HEALTHY, features=X, labels=HEALTHY.labels - 1)})
    assert [finding.level for finding in found] == ["error", "warning", "note"]
    assert all(finding.where == "train" and finding.why and finding.todo for finding in found)


@pytest.mark.skipif(not OHSUMED.exists(), reason="needs the LETOR data beside the checkout")
def test_ohsumed_has_no_leak_and_no_errors():
    fold = read_folder(OHSUMED)[0]
    found = check({"train": fold.train, "vali": fold.valid, "test": fold.test})
    assert {finding.code for finding in found} == {"conflicting-labels", "constant-features", "single-label"}


def test_odd_shapes_are_no_obstacle():
    one = Dataset.from_arrays([[1.0]], [1], qid=["a"])
    assert {finding.code for finding in check({"train": one})} == {"one-grade", "single-document", "constant-features"}
    empty = Dataset.from_arrays(np.empty((0, 2)), [], qid=[])
    check({"train": empty, "test": one})
    hollow = Dataset.from_arrays(np.arange(3.0)[:, None], [0, 1, 1], group=[0, 2, 0, 1, 0])
    check({"train": hollow})


def test_a_hundred_thousand_documents_take_seconds():
    data, _ = make_letor_like(1000, (80, 120), n_features=40)
    check({"train": HEALTHY})  # compiles
    start = time.process_time()
    check({"train": data})
    assert time.process_time() - start < 10
