"""Expectation and variance over the orders of tied documents, against all orders."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from podium.base.errors import IncompatibleError
from podium.evaluation.tie_spread import tie_spread
from podium.metrics import Metric

EXACT = (
    "ndcg@3",
    "ndcg",
    "dcg@2",
    "p@2",
    "recall@2",
    "rbp(p=0.5)@3",
    "r-precision",
    "mean-ndcg",
    "ndcg@2[letor4,ideal=judged]",
)
SAMPLED = ("map", "map@2", "mrr", "err@3", "pair-accuracy")


def all_orders(metric: Metric, scores: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """The mean and variance of a metric over all orders of one query's documents, ties taken as they come."""
    rule = Metric.parse(str(metric).partition("[")[0] + "[" + _inside(metric) + "ties=input]")
    orders = [sorted(rows, key=lambda row: -scores[row]) for rows in itertools.permutations(range(len(scores)))]
    lists, counts = np.unique(labels[np.array(orders)], axis=0, return_counts=True)
    strict = np.arange(len(scores), 0, -1.0)
    values = np.repeat([rule(strict, ranked, [0, len(ranked)])[0] for ranked in lists], counts)
    return float(np.mean(values)), float(np.var(values))


@pytest.mark.parametrize("name", EXACT)
def test_sums_of_worth_times_place_have_their_exact_variance(name: str) -> None:
    rng = np.random.default_rng(0)
    metric = Metric.parse(name)
    for _ in range(6):
        scores, labels = rng.integers(0, 3, 6).astype(float), rng.integers(0, 3, 6).astype(float)
        labels[0] = 2
        found = tie_spread(metric, scores, labels, [0, 6])
        assert found.exact
        assert (found.expected[0], found.variance[0]) == pytest.approx(all_orders(metric, scores, labels), abs=1e-12)


@pytest.mark.parametrize("name", SAMPLED)
def test_other_measures_have_theirs_from_random_orders(name: str) -> None:
    metric = Metric.parse(name)
    scores, labels = np.array([1.0, 1, 1, 0, 0, 0]), np.array([0.0, 2, 1, 0, 1, 0])
    expected, variance = all_orders(metric, scores, labels)
    found = tie_spread(metric, scores, labels, [0, 6], rounds=2000)
    assert not found.exact
    assert found.expected[0] == pytest.approx(expected, abs=1e-12)
    assert found.variance[0] == pytest.approx(variance, rel=0.2)
    again = tie_spread(metric, scores, labels, [0, 6], rounds=2000)
    assert again.variance[0] == found.variance[0]


def test_without_ties_nothing_varies_and_skipped_queries_stay_skipped() -> None:
    for name in ("ndcg", "map"):
        found = tie_spread(Metric.parse(name), [3, 2, 1, 1], [0, 1, 0, 0], [0, 2, 4], rounds=20)
        assert found.variance[0] == 0.0
        assert np.isnan(found.variance[1])
        assert (found.mean().skipped, found.deviation()) == (1, 0.0)


def test_the_mean_over_queries_varies_as_independent_queries_do() -> None:
    found = tie_spread(Metric.parse("p@1"), [1, 1, 1, 1], [1, 0, 1, 0], [0, 2, 4])
    assert found.deviation() == pytest.approx(np.sqrt(2 * 0.25) / 2)


def test_short_lists_that_count_zero_do_not_vary() -> None:
    assert tie_spread(Metric.parse("ndcg@3[letor4]"), [1, 1], [1, 0], [0, 2]).variance.tolist() == [0.0]


def test_missed_documents_count_for_the_ideal() -> None:
    args = ([1, 1], [1, 0], [0, 2])
    alone = tie_spread(Metric.parse("ndcg"), *args)
    missed = tie_spread(Metric.parse("ndcg"), *args, judged=[1, 0, 1], judged_offsets=[0, 3])
    ideal = 1 + 1 / np.log2(3)
    assert missed.variance[0] == pytest.approx(alone.variance[0] / ideal**2)


def test_scores_that_are_tied_only_in_single_precision_vary_there() -> None:
    args = ([1.0, 1.0 + 1e-12], [1, 0], [0, 2])
    assert tie_spread(Metric.parse("p@1"), *args).variance[0] == 0.0
    assert tie_spread(Metric.parse("p@1[scores=float32]"), *args).variance[0] == 0.25


def test_a_measure_with_a_value_of_its_own_for_ties_is_refused() -> None:
    with pytest.raises(IncompatibleError, match="kendall does not average over the orders of tied"):
        tie_spread(Metric.parse("kendall"), [1, 1], [1, 0], [0, 2])


def _inside(metric: Metric) -> str:
    return "letor4,ideal=judged," if metric.convention.discount == "letor" else ""


def test_documents_without_judgment_are_left_out_of_what_ties_with_bpref() -> None:
    known = {"judged": [1, 0], "judged_offsets": [0, 2], "unjudged": [False, False, True]}
    found = tie_spread(Metric.parse("bpref"), [1.0, 1.0, 1.0], [1, 0, 0], [0, 3], **known)
    assert found.expected[0] == 0.5  # above the one judged non-relevant document, or below it
    assert found.variance[0] == pytest.approx(0.25, rel=0.1)
