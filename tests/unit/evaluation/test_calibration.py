import json
import math
from dataclasses import replace

import numpy as np
import pytest

from podium.base.errors import DataError
from podium.data.dataset import Dataset
from podium.distributions.ordered_partitions_fd import OrderedPartitionsFD
from podium.distributions.plackett_luce import PlackettLuce
from podium.evaluation.calibration import calibration
from podium.odds import Odds

PL = PlackettLuce()


def odds_of(scores, sizes, distribution=PL):
    return Odds(distribution, np.array(scores, np.float64), np.concatenate([[0], np.cumsum(sizes)]), 1.0, "by hand")


def data_of(labels, sizes):
    return Dataset.from_arrays(np.zeros((len(labels), 1)), labels, group=sizes)


def simulated(distribution, *, queries=600, documents=8, seed=0):
    """Odds of a distribution, and data whose grades are rankings drawn from it."""
    rng, sizes = np.random.default_rng(seed), np.full(queries, documents)
    scores = 1.5 * rng.standard_normal((queries, documents))
    labels = -np.concatenate([distribution.sample(s, rng)[0] for s in scores])
    return odds_of(scores.ravel(), sizes, distribution), data_of(labels, sizes)


def test_figures_of_one_query_are_those_of_the_definition():
    p = np.array([0.46, 0.35, 0.19])
    found = calibration(odds_of(np.log(p), [3]), data_of([0, 1, 0], [3]))
    assert [(one.low, one.high, one.documents) for one in found.bins] == [(0.1, 0.2, 1), (0.3, 0.4, 1), (0.4, 0.5, 1)]
    assert [one.predicted for one in found.bins] == pytest.approx([0.19, 0.35, 0.46])
    assert [one.observed for one in found.bins] == [0, 1, 0]
    assert [one.standard_error for one in found.bins] == pytest.approx([0.19, 0.65, 0.46])
    assert found.error == pytest.approx((0.19 + 0.65 + 0.46) / 3)
    assert found.brier == pytest.approx((0.19**2 + 0.65**2 + 0.46**2) / 3)
    assert found.brier_even == pytest.approx(1 / 3 * 2 / 3)
    assert found.log_loss == pytest.approx(-(math.log(0.81) + math.log(0.35) + math.log(0.54)) / 3)
    assert found.log_loss_even == pytest.approx(-(math.log(1 / 3) + 2 * math.log(2 / 3)) / 3)
    assert (found.coverage, found.width) == (1.0, 3.0)


def test_where_k_share_the_best_grade_the_chance_is_to_be_among_the_first_k():
    scores = [1.0, 0.5, -0.3]
    found = calibration(odds_of(scores, [3]), data_of([0, 1, 1], [3]))
    chance = PL.rank_marginals(scores)[:, :2].sum(axis=1)
    assert found.brier == pytest.approx(np.mean((chance - [0, 1, 1]) ** 2))


def test_the_ranks_of_a_grade_are_covered_as_likely_as_the_distribution_says():
    scores, grades = [2.0, 1.0, 0.0, -1.0], [1, 1, 0, 0]
    found, marginals = calibration(odds_of(scores, [4]), data_of(grades, [4]), level=0.5), PL.rank_marginals(scores)
    summary = PL.summary(scores, level=0.5)
    expected = []
    for i, ranks in enumerate([(1, 2), (1, 2), (3, 4), (3, 4)]):
        held = sum(marginals[i, r - 1] for r in ranks if summary.low[i] <= r <= summary.high[i])
        expected.append(held / sum(marginals[i, r - 1] for r in ranks))
    assert found.coverage == pytest.approx(np.mean(expected))
    assert 0 < found.coverage < 1


def test_with_ties_all_of_the_best_grade_come_first_and_ranks_are_dense():
    odds, data = odds_of([3.0, 2.0, 1.0], [3], OrderedPartitionsFD()), data_of([1, 1, 0], [3])
    found, summary = calibration(odds, data), OrderedPartitionsFD().summary([3.0, 2.0, 1.0])
    assert found.ties
    assert found.brier == pytest.approx(np.mean((summary.first - [1, 1, 0]) ** 2))
    assert found.brier_even == pytest.approx(2 / 3 * 1 / 3)
    assert found.coverage == np.mean((summary.low <= [1, 1, 2]) & (summary.high >= [1, 1, 2]))


@pytest.mark.parametrize("distribution", [PL, OrderedPartitionsFD()], ids=repr)
def test_a_distribution_is_calibrated_on_its_own_samples(distribution):
    found = calibration(*simulated(distribution))
    assert sum(one.documents for one in found.bins) == found.documents
    assert off(found, least=5) == []


def test_a_distribution_is_calibrated_however_coarse_the_grades_are():
    odds, data = simulated(PL, queries=400, documents=20)
    coarse = replace(data, labels=np.select([data.labels >= -3, data.labels >= -8], [2.0, 1.0], 0.0))
    assert off(calibration(odds, coarse), least=8) == []
    sharper = replace(odds, scores=2 * odds.scores)
    assert off(calibration(sharper, coarse), least=8) != []


def off(found, *, least):
    """What speaks against a distribution: bins off by four standard errors, intervals that hold too little, scores."""
    telling = [one for one in found.bins if one.documents * min(one.predicted, 1 - one.predicted) > 5]
    wrong = [one for one in telling if abs(one.observed - one.predicted) >= 4 * one.standard_error]
    few = [] if len(telling) >= least else [f"only {len(telling)} bins tell"]
    short = [] if found.coverage > 0.895 else [f"intervals hold {found.coverage}"]
    scores = [] if found.brier < found.brier_even and found.log_loss < found.log_loss_even else ["worse than even"]
    return [*wrong, *few, *short, *scores]


@pytest.mark.parametrize("factor", [0.4, 2.5])
def test_a_wrong_temperature_is_detected(factor):
    odds, data = simulated(PL)
    right, wrong = calibration(odds, data), calibration(replace(odds, scores=odds.scores / factor), data)
    assert wrong.error > 3 * right.error
    assert wrong.log_loss > right.log_loss
    assert wrong.brier > right.brier
    assert max(abs(one.observed - one.predicted) / one.standard_error for one in wrong.bins) > 6
    assert (wrong.coverage < right.coverage - 0.1) if factor < 1 else (wrong.width > right.width + 1)


def test_long_lists_are_measured_by_moments_as_short_ones_by_the_exact_distribution(monkeypatch):
    odds, data = simulated(PL, queries=3, documents=250)
    exact = calibration(odds, data)
    monkeypatch.setattr(PlackettLuce, "has_exact_marginals", lambda self, n: False)
    fast = calibration(odds, data)
    assert fast.log_loss == pytest.approx(exact.log_loss, rel=0.02)
    assert fast.coverage == pytest.approx(exact.coverage, abs=0.01)


def test_queries_of_one_grade_are_left_out_and_counted():
    odds = odds_of([1.0, 0.0, 2.0, 2.0, 0.0], [2, 2, 1])
    found = calibration(odds, data_of([1, 0, 1, 1, 0], [2, 2, 1]))
    assert (found.queries, found.skipped, found.documents) == (1, 2, 2)


def test_what_came_first_against_all_odds_costs_without_bound(monkeypatch):
    monkeypatch.setattr(PlackettLuce, "rank_cdf", lambda self, scores, ranks: np.zeros(ranks.shape))
    found = calibration(odds_of([0.0, 2.0], [2]), data_of([1, 0], [2]))
    assert found.log_loss == math.inf
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["log_loss"] is None


def test_the_level_of_intervals_is_free():
    odds, data = simulated(PL, queries=300)
    narrow = calibration(odds, data, level=0.5)
    assert 0.5 < narrow.coverage < 0.75
    assert narrow.width < calibration(odds, data).width


def test_labels_are_needed_and_must_fit():
    odds = odds_of([1.0, 0.0], [2])
    with pytest.raises(DataError, match="there are no labels"):
        calibration(odds, Dataset.from_arrays(np.zeros((2, 1))))
    with pytest.raises(DataError, match="3 documents, but the odds are of 2"):
        calibration(odds, data_of([1, 0, 0], [3]))
    with pytest.raises(DataError, match="no query has two grades"):
        calibration(odds, data_of([1, 1], [2]))
