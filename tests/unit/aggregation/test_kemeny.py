"""Kemeny: the cheapest order by trying all, by both exact solvers, and what the bound is worth."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from podium.aggregation import Kemeny
from podium.aggregation.kemeny import cheapest_sides, improve
from podium.aggregation.linear_ordering import least_order, order_cost
from podium.aggregation.pairwise_counts import wins
from podium.aggregation.rankings.rankings import Rankings
from reference.aggregation import as_dicts, cheapest, kemeny_cost, votes, with_absent_last


def random_rankings(n, voters, seed):
    rng = np.random.default_rng(seed)
    return Rankings.from_orders([[rng.permutation(n).tolist() for _ in range(voters)]])


@given(rankings=votes(most=6, weighted=True))
@settings(max_examples=60, deadline=None)
def test_no_order_is_cheaper(rankings):
    n, lists = rankings.n_documents, as_dicts(rankings.query(0))
    last = [with_absent_last(ranks, n) for ranks in lists]
    for method, seen in ((Kemeny(unranked="skip"), lists), (Kemeny(), last)):
        found = method(rankings)
        order = tuple(int(i) for i in np.argsort(-found.scores))
        assert found.costs[0] == pytest.approx(kemeny_cost(order, seen, rankings.weights))
        assert found.costs[0] == pytest.approx(cheapest(kemeny_cost, n, seen, rankings.weights))
        assert found.bounds[0] == found.costs[0]


@pytest.mark.parametrize("seed", range(3))
def test_no_order_of_seven_is_cheaper(seed):
    rankings = random_rankings(7, 5, seed)
    assert Kemeny()(rankings).costs[0] == cheapest(kemeny_cost, 7, as_dicts(rankings.query(0)), rankings.weights)


@given(rankings=votes(most=6, weighted=True), data=st.data())
@settings(max_examples=40, deadline=None)
def test_the_integer_program_finds_the_same(rankings, data):
    assume(rankings.n_documents > 1)
    before = wins(rankings.query(0))
    start = np.array(data.draw(st.permutations(range(len(before)))))
    order, bound = least_order(before, start)
    assert bound == pytest.approx(order_cost(before, order))
    assert bound == pytest.approx(cheapest(kemeny_cost, len(before), as_dicts(rankings.query(0)), rankings.weights))


@pytest.mark.parametrize("seed", range(3))
def test_the_integer_program_agrees_with_the_table_over_subsets(seed):
    plain = random_rankings(14, 3, seed)
    for rankings in (plain, plain.with_weights(np.random.default_rng(seed).uniform(0.5, 2.0, 3))):
        before = wins(rankings.query(0))
        order, bound = least_order(before, np.arange(14))
        assert bound == pytest.approx(order_cost(before, order))
        assert bound == pytest.approx(Kemeny()(rankings).costs[0])


def test_above_the_table_the_order_is_still_proven():
    found = Kemeny()(random_rankings(24, 5, 0))
    assert found.gaps[0] == 0.0


def test_above_exact_the_bound_holds():
    rankings = random_rankings(20, 5, 3)
    near, best = Kemeny(exact=1)(rankings), Kemeny()(rankings)
    assert near.bounds[0] <= best.costs[0] <= near.costs[0]
    assert near.bounds[0] == cheapest_sides(wins(rankings.query(0)))
    assert near.gaps[0] > 0.0


def test_no_single_move_improves_what_the_local_search_leaves():
    before = wins(random_rankings(12, 5, 1).query(0))
    order = improve(before, np.arange(12))
    for at in range(12):
        for to in range(12):
            moved = np.insert(np.delete(order, at), to, order[at])
            assert order_cost(before, moved) >= order_cost(before, order)


def test_a_cycle_is_cut_at_its_weakest_edge():
    orders = [["A", "B", "C"], ["B", "C", "A"], ["C", "A", "B"]]
    found = Kemeny()(Rankings.from_orders([orders], weights=[4.0, 3.0, 2.0]))
    # A before B 6:3, B before C 7:2, C before A 5:4: the last is given up
    assert found.order(0) == ["A", "B", "C"]
    assert found.costs[0] == 3 + 2 + 5
