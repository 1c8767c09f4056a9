import pytest
from inverse_square import InverseSquare

from podium.aggregation.rankings.rankings import Rankings
from podium.testing import check_aggregator


def test_it_keeps_the_promises_of_an_aggregator():
    check_aggregator(InverseSquare())


def test_scores_are_sums_of_inverse_squared_ranks():
    votes = Rankings.from_orders([[["A", "B", "C"], ["B", "A"]]])
    assert InverseSquare()(votes).scores == pytest.approx([1 + 1 / 4, 1 / 4 + 1, 1 / 9])
