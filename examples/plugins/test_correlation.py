from correlation import Correlation

from podium.testing import check_learner


def test_it_keeps_the_promises_of_an_algorithm():
    check_learner(Correlation(), reaches=0.95)
