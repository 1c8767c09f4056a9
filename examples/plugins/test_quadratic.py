import numpy as np
from quadratic import Quadratic

from podium.testing import check_scorer


def test_it_keeps_the_promises_of_a_scorer():
    check_scorer(Quadratic())


def test_scores_are_a_weighted_sum_of_features_and_squares():
    X = np.array([[1.0, 2.0], [3.0, -4.0]], np.float32)
    assert Quadratic().score_rows(np.array([1.0, 10.0, 0.5, 0.25]), X).tolist() == [1 + 20 + 0.5 + 1, 3 - 40 + 4.5 + 4]
