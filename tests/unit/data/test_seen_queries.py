"""Whether data holds queries that a model was trained on: renamed, shuffled, cut and joined data is recognised."""

from __future__ import annotations

import math

import numpy as np
import pytest

from podium.data import Dataset, make_letor_like
from podium.data.seen_queries import MOST, Seen, sample_queries, seen


def shuffled(data: Dataset, seed: int) -> Dataset:
    rows = np.random.default_rng(seed).permutation(data.n_documents)
    qid = data.query_ids[data.query_index][rows]
    return Dataset.from_arrays(data.features[rows], data.labels[rows], qid=qid).grouped()


def test_shuffled_rows_and_a_part_of_the_queries_are_recognised() -> None:
    data, _ = make_letor_like(40, seed=1)
    sample = sample_queries(data)
    assert seen(sample, shuffled(data, 5)) == Seen(40, 40)
    assert seen(sample, data.select([3, 7])) == Seen(2, 2)


def test_new_queries_among_old_ones_are_not_taken_for_seen() -> None:
    data, _ = make_letor_like(40, seed=1)
    assert seen(sample_queries(data.select(np.arange(10))), data) == Seen(40, 10)


def test_other_documents_under_the_same_query_ids_are_new() -> None:
    data, other = (make_letor_like(40, seed=seed)[0] for seed in (1, 2))
    assert seen(sample_queries(data), other) == Seen(40, 0)


def test_of_many_queries_a_sample_is_compared() -> None:
    data = Dataset.from_arrays(np.arange(4000.0)[:, None], np.zeros(4000), qid=np.arange(4000) // 2).grouped()
    sample = sample_queries(data)
    checked, same = seen(sample, data)
    assert checked == same == MOST
    part = seen(sample, data.select(np.arange(1000)))
    assert part.checked == part.seen
    assert 0 < part.seen < MOST


@pytest.mark.parametrize("zero", [-0.0, 0.0])
def test_signs_of_zero_and_missing_values_do_not_matter(zero: float) -> None:
    rows, sparse = (
        np.array([[zero, np.nan], [1.0, 2.0]], np.float32),
        np.array([[0.0, -np.nan], [1.0, 2.0]], np.float32),
    )
    first, second = (Dataset.from_arrays(X, [0, 1], qid=["a", "a"]).grouped() for X in (rows, sparse))
    assert seen(sample_queries(first), second) == Seen(1, 1)


@pytest.mark.parametrize(
    "sample",
    [
        None,
        3,
        {},
        {"up_to": "x", "fingerprints": ""},
        {"up_to": "5", "fingerprints": "é"},
        {"up_to": math.inf, "fingerprints": ""},
    ],
)
def test_what_is_no_sample_compares_with_nothing(sample: object) -> None:
    assert seen(sample, make_letor_like(5, seed=1)[0]) == Seen(0, 0)
