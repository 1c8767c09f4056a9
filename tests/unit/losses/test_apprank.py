"""AppRank: the measure it approaches, and labels without a gain."""

import numpy as np
import pytest

from podium.base.errors import DataError
from podium.losses import AppRank
from podium.metrics import Metric
from podium.testing import draw_query


@pytest.mark.parametrize(("measure", "metric"), [("ndcg", "ndcg"), ("ap", "map"), ("err", "err")])
def test_a_large_alpha_gives_the_measure_itself(measure, metric):
    rng = np.random.default_rng(0)
    for n in (3, 8, 30):
        scores, labels = draw_query(rng, n)
        exact = Metric.parse(metric)(scores, labels, [0, n])[0]
        assert 1 - AppRank(measure=measure, alpha=1000.0)(scores, labels).value == pytest.approx(exact, abs=1e-9)


def test_equal_scores_share_the_middle_rank():
    got = AppRank()(np.zeros(3), [1, 0, 0])
    assert got.value == pytest.approx(1 - 1 / np.log2(1 + 2))  # rank 2 of 3
    assert got.gradient[0] < 0 < got.gradient[1] == got.gradient[2]


def test_labels_without_a_gain_are_refused_in_words():
    with pytest.raises(DataError, match="at least 0"):
        AppRank()([1.0, 2.0], [-1, 0])


@pytest.mark.parametrize(("alpha", "value"), [(1, 0.546779), (10, 0.666652)])
def test_reciprocal_ranks_are_those_of_tf_ranking(alpha, value):
    got = AppRank(measure="mrr", alpha=alpha)([0.0, 1.0, 3.0, 2.0], [0, 0, 1, 2])
    assert 1 - got.value == pytest.approx(value, abs=1e-6)


def test_ndcg_is_that_of_rax():
    assert 1 - AppRank(alpha=1.0)([0.0, 1.0, 3.0, 2.0], [0, 0, 1, 2]).value == pytest.approx(0.717892, abs=1e-6)


def test_precision_counts_the_relevant_documents_that_are_likely_among_the_first():
    """Ranks 1 and 3 of four, k = 2: σ(1.5) and σ(−0.5)."""
    got = AppRank(measure="p", k=2, alpha=1000.0)([4.0, 3.0, 2.0, 1.0], [1, 0, 2, 0])
    assert 1 - got.value == pytest.approx((1 / (1 + np.exp(-1.5)) + 1 / (1 + np.exp(0.5))) / 2)


def test_little_noise_changes_little_and_more_samples_come_near_the_mean():
    scores, labels, rng = np.array([0.0, 1.0, 3.0, 2.0]), np.array([0, 0, 1, 2]), np.random.default_rng(0)
    plain, noisy = AppRank(alpha=1.0), AppRank(alpha=1.0, noise="gumbel", samples=20_000)
    assert AppRank(alpha=1.0, noise="gumbel", beta=1e-9)(scores, labels).value == pytest.approx(
        plain(scores, labels).value, abs=1e-8
    )
    drawn = [plain(scores + rng.gumbel(size=4), labels).value for _ in range(4000)]
    assert noisy(scores, labels).value == pytest.approx(np.mean(drawn), abs=4 * np.std(drawn) / np.sqrt(4000))


def test_noise_is_drawn_again_in_each_step_and_plain_apprank_draws_nothing():
    assert AppRank().resampled(3) == AppRank()
    noisy = AppRank(noise="gumbel")
    assert noisy.resampled(3)([0.0, 1.0], [1, 0]).value != noisy([0.0, 1.0], [1, 0]).value
