"""Samples of queries: sizes, weights, and unbiased means over the traffic."""

import numpy as np
import pytest

from podium.base.errors import DataError, UnknownNameError
from podium.judgments.query_sample import inclusion, sample_queries

RNG = np.random.default_rng(0)
FREQUENCIES = {f"q{k}": float(count) for k, count in enumerate(np.ceil(2000 / np.arange(1, 301)))}
VALUES = {query: RNG.uniform() + 0.1 * np.log(count) for query, count in FREQUENCIES.items()}
TRAFFIC = sum(FREQUENCIES.values())
TRUTH = sum(FREQUENCIES[query] * VALUES[query] for query in FREQUENCIES) / TRAFFIC


def test_the_weighted_mean_of_a_sample_by_frequency_is_unbiased():
    """1,000 samples of 40 of 300 queries: the mean of the estimates is within 3 standard errors."""
    found = []
    for seed in range(1000):
        sample = sample_queries(FREQUENCIES, 40, seed=seed)
        assert len(sample) == 40
        assert sum(sample.values()) == pytest.approx(1.0)
        found.append(sum(weight * VALUES[query] for query, weight in sample.items()))
    assert abs(np.mean(found) - TRUTH) < 3 * np.std(found) / np.sqrt(1000)
    plain = np.mean(list(VALUES.values()))
    assert abs(plain - TRUTH) > 20 * np.std(found) / np.sqrt(1000)  # rare queries are worse here


def test_every_query_is_drawn_with_its_probability():
    shares = np.array([0.6, 0.2, 0.1, 0.1])
    chance = inclusion(shares, 2)
    assert chance == pytest.approx([1.0, 0.5, 0.25, 0.25])
    drawn = np.zeros(4)
    for seed in range(2000):
        sample = sample_queries(dict(zip("abcd", shares.tolist(), strict=True)), 2, seed=seed)
        drawn += [query in sample for query in "abcd"]
    assert drawn / 2000 == pytest.approx(chance, abs=0.035)


def test_top_takes_the_most_frequent_and_random_all_alike():
    assert list(sample_queries(FREQUENCIES, 3, how="top")) == ["q0", "q1", "q2"]
    drawn = np.zeros(300)
    for seed in range(500):
        sample = sample_queries(FREQUENCIES, 30, how="random", seed=seed)
        drawn += [query in sample for query in FREQUENCIES]
    assert drawn.std() / 500 < 0.02
    assert drawn.mean() / 500 == pytest.approx(0.1)


def test_all_queries_are_taken_if_they_are_few():
    assert sample_queries({"a": 3.0, "b": 1.0}, 9) == {"a": 0.75, "b": 0.25}


def test_the_same_seed_gives_the_same_sample_in_any_order():
    turned = dict(reversed(FREQUENCIES.items()))
    assert sample_queries(FREQUENCIES, 20, seed=3) == sample_queries(turned, 20, seed=3)


def test_what_is_wrong_is_said():
    with pytest.raises(UnknownNameError, match="No sample of queries"):
        sample_queries(FREQUENCIES, 3, how="best")
    with pytest.raises(DataError, match="frequencies above 0"):
        sample_queries({"a": 0.0}, 1)
