from stocky import STOCKY

from podium.methods import method
from podium.testing import METHOD_CHECKS


def test_it_is_known_by_its_name():
    assert method("stocky") == STOCKY


def test_it_keeps_the_promises_of_a_method():
    for check in METHOD_CHECKS.values():
        check(STOCKY)
