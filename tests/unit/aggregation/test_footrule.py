"""Footrule: the least displacement, by trying all orders."""

import numpy as np
import pytest
from hypothesis import given, settings

from podium.aggregation import Footrule
from podium.aggregation.rankings.rankings import Rankings
from reference.aggregation import as_dicts, cheapest, footrule_cost, votes, with_absent_last


@given(rankings=votes(weighted=True))
@settings(max_examples=60, deadline=None)
def test_no_order_is_cheaper(rankings):
    n, lists = rankings.n_documents, as_dicts(rankings.query(0))
    last = [with_absent_last(ranks, n) for ranks in lists]
    for method, seen in ((Footrule(unranked="skip"), lists), (Footrule(), last)):
        found = method(rankings)
        order = tuple(int(i) for i in np.argsort(-found.scores))
        assert found.costs[0] == pytest.approx(footrule_cost(order, seen, rankings.weights))
        assert found.costs[0] == pytest.approx(cheapest(footrule_cost, n, seen, rankings.weights))
        assert found.gaps[0] == 0.0


def test_a_short_list_is_stretched_over_all_places():
    found = Footrule(unranked="skip")(Rankings.from_orders([[["A", "B", "C", "D"], ["A", "C"]]]))
    # in the second list A stands at 4·1/2 = 2 and C at 4·2/2 = 4; A B C D is one place off each
    assert found.costs[0] == abs(2 - 1) + abs(4 - 3)


def test_of_equal_orders_the_one_nearest_in_squares_is_taken():
    rankings = Rankings.from_orders([[list("CABD"), list("DCBA"), list("BDAC"), list("ACDB")]])
    lists = as_dicts(rankings.query(0))
    near, far = (2, 0, 3, 1), (2, 0, 1, 3)  # C A D B and C A B D; the places of D sum to 10, those of B to 11
    assert footrule_cost(near, lists, [1] * 4) == footrule_cost(far, lists, [1] * 4)
    assert Footrule()(rankings).order(0)[2:] == ["D", "B"]
