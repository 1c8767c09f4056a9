"""AppRank: the measure it approaches, and labels without a gain."""

import numpy as np
import pytest

from podium.base.errors import DataError
from podium.losses import AppRank
from podium.metrics import Metric
from podium.testing import draw_query


@pytest.mark.parametrize(("measure", "metric"), [("ndcg", "ndcg"), ("ap", "map")])
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
