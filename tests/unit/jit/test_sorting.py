"""Orders, ranks and ties against numpy and counting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.base.errors import DataError, ParameterError
from podium.jit.sorting import (
    _bucket_sort,
    argsort_descending,
    break_ties,
    dense_ranks,
    order,
    order_all,
    ordinal_ranks,
    sort_descending,
    top_k,
)
from podium.testing.examples import size

NUMBERS = st.one_of(
    st.floats(allow_nan=False),
    st.floats(-1, 1),
    st.integers(-3, 3).map(float),
    st.sampled_from([5e-324, -5e-324, 1.7e308, -1.7e308, np.inf, -np.inf, 0.0, -0.0]),
)


@settings(max_examples=size(300, 30), deadline=None)
@given(st.lists(NUMBERS, max_size=60))
def test_order_descends_and_is_stable(scores: list[float]) -> None:
    np.testing.assert_array_equal(order(scores), np.argsort(-np.array(scores), kind="stable"))


@pytest.mark.parametrize("shape", ["normal", "cauchy", "outlier", "geometric", "ascending", "equal", "two values"])
@pytest.mark.parametrize("n", [1, 2, 17, 1000, size(100_000, 3000)])
def test_order_is_right_for_every_shape_of_scores(shape: str, n: int) -> None:
    rng = np.random.default_rng(n)
    scores = {
        "normal": rng.normal(size=n),
        "cauchy": rng.standard_cauchy(n),
        "outlier": np.where(np.arange(n) == n // 2, 1e15, rng.normal(size=n)),
        "geometric": 0.5 ** rng.integers(0, 1000, n),
        "ascending": np.arange(n, dtype=float),
        "equal": np.ones(n),
        "two values": rng.integers(0, 2, n).astype(float),
    }[shape]
    np.testing.assert_array_equal(order(scores), np.argsort(-scores, kind="stable"))


def test_the_bucket_sort_gives_up_where_an_outlier_leaves_all_others_in_one_bucket() -> None:
    scores, out, work = (
        np.random.default_rng(0).normal(size=2000),
        np.empty(2000, np.int64),
        np.empty(12_002, np.uint64),
    )
    assert _bucket_sort(scores, out, work, scores.max(), (2.0**47 - 1) / np.ptp(scores), 16)
    scores[7] = 1e12
    assert not _bucket_sort(scores, out, work, scores.max(), (2.0**47 - 1) / np.ptp(scores), 16)


def test_scores_that_differ_in_their_last_bits_only_are_told_apart() -> None:
    rng = np.random.default_rng(0)
    scores = 1.0 + rng.integers(0, 3, 300) * np.finfo(float).eps
    scores[0] = 5.0  # the others share a few keys, and go through the comparison of equal keys
    np.testing.assert_array_equal(order(scores), np.argsort(-scores, kind="stable"))
    few = np.array([4.0, 1.0, 1.0 + 2.0**-52, 1.0, 1.0 + 2.0**-51, 0.0])
    assert order(few).tolist() == [0, 4, 2, 1, 3, 5]


def test_more_documents_than_short_keys_can_number_are_sorted() -> None:
    scores = np.random.default_rng(0).normal(size=200_000).round(5)
    np.testing.assert_array_equal(order(scores), np.argsort(-scores, kind="stable"))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-3, 3), max_size=30))
def test_ranks_count_the_distinct_larger_values(values: list[int]) -> None:
    assert dense_ranks(values).tolist() == [1 + len({w for w in values if w > v}) for v in values]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(st.integers(0, 5).map(float), st.floats(-40, 40)), max_size=30))
def test_sort_descending_sorts_grades_and_other_numbers(values: list[float]) -> None:
    out = np.empty(len(values))
    sort_descending(np.array(values, float), out)
    assert out.tolist() == sorted(values, reverse=True)


def test_top_k_is_the_head_of_the_order() -> None:
    assert top_k([0.1, 0.7, 0.7, 0.3], 2).tolist() == [1, 2]
    assert top_k([0.1, 0.7], 5).tolist() == [1, 0]
    with pytest.raises(ParameterError, match="at least 1"):
        top_k([0.1], 0)


def test_order_all_orders_each_query_and_says_where_ties_end() -> None:
    best_first, ends = order_all([1.0, 2.0, 2.0, 5.0, 5.0, 5.0, 7.0], np.array([0, 3, 3, 6, 7]))
    assert best_first.tolist() == [1, 2, 0, 3, 4, 5, 6]
    assert ends.tolist() == [2, 2, 3, 3, 3, 3, 1]


def test_break_ties_orders_by_key_within_ties_and_leaves_its_arguments() -> None:
    offsets = np.array([0, 3, 6])
    best_first, ends = order_all([1.0, 2.0, 2.0, 5.0, 5.0, 5.0], offsets)
    before = best_first.copy()
    keys = np.array([9.0, 1.0, 2.0, 0.0, 2.0, 2.0])
    assert break_ties(best_first, ends, offsets=offsets, keys=keys).tolist() == [2, 1, 0, 4, 5, 3]
    np.testing.assert_array_equal(best_first, before)


@pytest.mark.parametrize("function", [order, dense_ranks])
def test_a_score_that_is_no_number_is_refused_with_its_row(function: object) -> None:
    with pytest.raises(DataError, match="row 1 is not a number"):
        function([0.0, np.nan, 1.0])  # type: ignore[operator]


def test_scores_must_be_flat() -> None:
    with pytest.raises(DataError, match="Scores must be a flat list of numbers; got an array of shape"):
        order([[1.0, 2.0]])


def test_the_compiled_sort_survives_scores_that_are_no_numbers() -> None:
    out = np.full(4, -1)
    argsort_descending(np.array([0.0, np.nan, 1.0, np.nan]), out)
    assert sorted(out.tolist()) == [0, 1, 2, 3]


def test_places_are_strict_and_follow_the_order():
    assert ordinal_ranks([1.0, 3.0, 3.0, 2.0]).tolist() == [4, 1, 2, 3]
