"""IR SVM's weights of pairs and queries, and subset regression's weights of places."""

import numpy as np
import pytest

from podium.losses import IRSVM, Hinge, Regression, SubsetRegression
from podium.metrics import Metric


def test_a_pair_weighs_what_ndcg_at_1_loses_when_the_worse_stands_at_the_top():
    labels, ndcg = np.array([2, 1, 0]), Metric.parse("ndcg@1")

    def drop(better, worse):
        at_top = [ndcg(np.arange(3) == i, labels, [0, 3])[0] for i in (better, worse)]
        return at_top[0] - at_top[1]

    got = IRSVM(normalise=False)(np.zeros(3), labels)  # where every pair falls short by 1
    assert got.value == pytest.approx(drop(0, 1) + drop(0, 2) + drop(1, 2))
    assert got.gradient[0] == pytest.approx(-drop(0, 1) - drop(0, 2))
    assert got.gradient[2] == pytest.approx(drop(0, 2) + drop(1, 2))


def test_binary_grades_make_it_the_mean_hinge():
    scores, labels = np.array([0.2, -0.4, 0.9, 0.1]), [1, 0, 0, 1]
    assert IRSVM()(scores, labels).value == pytest.approx(Hinge(normalise=True)(scores, labels).value)
    assert IRSVM()(scores, labels).gradient == pytest.approx(Hinge(normalise=True)(scores, labels).gradient)


def test_grades_of_any_size_have_finite_weights():
    got = IRSVM()([0.0, 0.0], [5000.0, -5000.0])
    assert got.value == 1.0
    assert got.gradient.tolist() == [-1.0, 1.0]


def test_places_beyond_the_top_weigh_less():
    loss, labels = SubsetRegression(top=2, rest=0.25), [3, 2, 1, 0]
    assert loss(np.array(labels) + 1.0, labels).curvature.tolist() == [2.0, 2.0, 0.5, 0.5]


def test_equal_grades_share_the_weights_of_their_places():
    loss = SubsetRegression(top=2, rest=0.25)
    assert loss(np.zeros(4), [3, 1, 1, 1]).curvature == pytest.approx([2.0, *[2 * (1 + 0.25 + 0.25) / 3] * 3])


@pytest.mark.parametrize("target", ["label", "gain"])
def test_a_top_that_holds_all_is_plain_regression(target):
    scores, labels = np.array([0.2, -0.4, 0.9]), [2, 0, 1]
    whole = SubsetRegression(target=target, top=3)(scores, labels)
    assert whole.value == pytest.approx(Regression(target=target)(scores, labels).value)
    assert whole.gradient == pytest.approx(Regression(target=target)(scores, labels).gradient)
