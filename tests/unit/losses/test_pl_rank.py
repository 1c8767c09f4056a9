"""PL-Rank: expectations by enumeration, an unbiased gradient of small variance, and the metrics that it takes."""

import itertools
import math

import numpy as np
import pytest

from podium.base.errors import ParameterError
from podium.losses import Loss, PLRank
from podium.metrics import MAP, Metric

SCORES, LABELS = np.array([0.0, 1.0, 3.0, 2.0]), np.array([0.0, 0.0, 1.0, 2.0])


def enumerated(scores: np.ndarray, metric: str) -> float:
    """1 − Σ_π P(π) M(π)."""
    total = 0.0
    for order in map(list, itertools.permutations(range(len(scores)))):
        e = np.exp(scores[order])
        chance = math.prod(e / np.cumsum(e[::-1])[::-1])
        total += chance * Metric.parse(metric)(-np.arange(4.0), LABELS[order], [0, 4])[0]
    return 1 - total


CASES = [
    ("ndcg", 0.794100, [0.013522, 0.031065, 0.023804, -0.068390]),
    ("ndcg@2", 0.661361, [0.035759, 0.094480, 0.026441, -0.156680]),
]


@pytest.mark.parametrize(("metric", "value", "gradient"), CASES)
def test_the_expectation_and_its_gradient_are_those_of_all_rankings(metric, value, gradient):
    exact = enumerated(SCORES, metric)
    assert 1 - exact == pytest.approx(value, abs=1e-6)
    steps = 1e-5 * np.eye(4)
    slopes = [(enumerated(SCORES + e, metric) - enumerated(SCORES - e, metric)) / 2e-5 for e in steps]
    assert slopes == pytest.approx(gradient, abs=1e-6)
    rows = [Loss.parse(f"pl-rank(metric={metric},samples=2500,seed={seed})")(SCORES, LABELS) for seed in range(40)]
    drawn = np.array([[row.value, *row.gradient] for row in rows])
    error = drawn.std(axis=0, ddof=1) / math.sqrt(len(drawn))
    assert (np.abs(drawn.mean(axis=0) - [exact, *gradient]) <= 3 * error + 1e-6).all()


def test_the_gradient_varies_less_than_that_of_boltzrank():
    rng = np.random.default_rng(1)
    for n in (4, 20):
        scores, labels = rng.normal(size=n), rng.permutation(np.arange(n) % 4.0)
        spread = [
            np.std([Loss.parse(text.format(seed))(scores, labels).gradient for seed in range(100)], axis=0).mean()
            for text in ("pl-rank(metric=ndcg,seed={})", "boltzrank(proposals=plackett-luce,samples=16,seed={})")
        ]
        assert spread[0] < 0.5 * spread[1]


def test_scores_far_apart_give_the_metric_itself():
    assert PLRank()(40 * SCORES, LABELS).value == pytest.approx(1 - Metric.parse("ndcg")(SCORES, LABELS, [0, 4])[0])


def test_a_metric_that_is_no_sum_over_ranks_is_refused():
    with pytest.raises(
        ParameterError, match=r"map is not a sum over ranks that should be large\. Use one of: cg, dcg, .*ndcg"
    ):
        PLRank(metric=MAP())
