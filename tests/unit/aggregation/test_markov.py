"""The four chains: transitions worked out by hand from their definitions, and the stationary distribution."""

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.aggregation import MC1, MC2, MC3, MC4
from podium.aggregation.markov import stationary
from podium.aggregation.rankings.rankings import Rankings
from reference.aggregation import as_dicts, votes


@functools.cache
def partial():
    return Rankings.from_orders([[["A", "B"], ["C", "A"], ["B", ("A", "C")]]]).query(0)


@functools.cache
def full():
    return Rankings.from_orders([[["A", "B", "C"], ["A", "C", "B"], ["B", "A", "C"]]]).query(0)


def test_mc1_counts_the_lists_that_rank_as_high():
    expected = [[3 / 4, 1 / 4, 0], [2 / 6, 3 / 6, 1 / 6], [3 / 8, 2 / 8, 3 / 8]]
    assert MC1().transitions(full()) == pytest.approx(np.array(expected))


def test_mc2_chooses_a_list_then_one_as_high():
    expected = [
        [(1 + 1 + 1 / 2) / 3, (1 / 2) / 3, 0],
        [(1 / 2 + 1 / 3) / 3, (1 / 2 + 1 / 3 + 1) / 3, (1 / 3) / 3],
        [(1 / 3 + 1 / 2 + 1 / 3) / 3, (1 / 3 + 1 / 3) / 3, (1 / 3 + 1 / 2 + 1 / 3) / 3],
    ]
    assert MC2().transitions(full()) == pytest.approx(np.array(expected))


def test_mc3_chooses_a_list_then_moves_only_up():
    expected = [[8 / 9, 1 / 9, 0], [2 / 9, 6 / 9, 1 / 9], [3 / 9, 2 / 9, 4 / 9]]
    assert MC3().transitions(full()) == pytest.approx(np.array(expected))


def test_mc4_moves_where_the_majority_points():
    expected = [[1, 0, 0], [1 / 3, 2 / 3, 0], [1 / 3, 1 / 3, 1 / 3]]
    assert MC4().transitions(full()) == pytest.approx(np.array(expected))


def test_partial_and_tied_lists_say_nothing_of_what_they_leave_out():
    # A stands in all three lists, B in the first and third, C in the second and third, tied with A in the last
    mc1 = [[3 / 6, 1 / 6, 2 / 6], [1 / 3, 2 / 3, 0], [1 / 4, 1 / 4, 2 / 4]]
    mc2 = [
        [(1 + 1 / 2 + 1 / 3) / 3, (1 / 3) / 3, (1 / 2 + 1 / 3) / 3],
        [(1 / 2) / 2, (1 / 2 + 1) / 2, 0],
        [(1 / 3) / 2, (1 / 3) / 2, (1 + 1 / 3) / 2],
    ]
    mc3 = [
        [(1 + 1 / 2 + 2 / 3) / 3, (1 / 3) / 3, (1 / 2) / 3],
        [(1 / 2) / 2, (1 / 2 + 1) / 2, 0],
        [0, (1 / 3) / 2, (1 + 2 / 3) / 2],
    ]
    mc4 = [[2 / 3, 0, 1 / 3], [0, 1, 0], [0, 1 / 3, 2 / 3]]  # A and B draw; B beats C, and C beats A, one to none
    for chain, expected in ((MC1, mc1), (MC2, mc2), (MC3, mc3), (MC4, mc4)):
        assert chain(unranked="skip").transitions(partial()) == pytest.approx(np.array(expected)), chain


@given(rankings=votes(weighted=True))
@settings(max_examples=40, deadline=None)
def test_transitions_follow_their_definitions(rankings):
    query, n = rankings.query(0), rankings.n_documents
    lists, weights = as_dicts(query), rankings.weights
    one, two, three = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    for ranks, w in zip(lists, weights, strict=True):
        for i in ranks:
            as_high = [j for j in ranks if ranks[j] <= ranks[i]]
            higher = [j for j in ranks if ranks[j] < ranks[i]]
            one[i, as_high] += w
            two[i, as_high] += w / len(as_high)
            three[i, higher] += w / len(ranks)
            three[i, i] += w * (len(ranks) - len(higher)) / len(ranks)
    for chain, steps in ((MC1, one), (MC2, two), (MC3, three)):
        assert chain(unranked="skip").transitions(query) == pytest.approx(steps / steps.sum(axis=1, keepdims=True))


@given(rankings=votes())
@settings(max_examples=40, deadline=None)
def test_the_stationary_distribution_does_not_change_in_a_step(rankings):
    for chain in (MC1(), MC2(unranked="skip"), MC3(teleport=0.2), MC4()):
        n = rankings.n_documents
        walk = (1 - chain.teleport) * chain.transitions(rankings.query(0)) + chain.teleport / n
        found = chain(rankings).scores
        assert found.sum() == pytest.approx(1.0)
        assert found @ walk == pytest.approx(found, rel=1e-12)


def test_a_stationary_distribution_is_exact_where_it_is_tiny():
    # two states, left with probabilities a and b: π = (b, a)/(a + b)
    a, b = 1e-13, 0.5
    found = stationary(np.array([[1 - a, a], [b, 1 - b]]))
    assert found == pytest.approx(np.array([b, a]) / (a + b), rel=1e-14)


def test_a_tiny_teleport_gives_the_distribution_of_the_chain_itself():
    found = MC1(teleport=1e-13)(Rankings.from_orders([[["A", "B", "C"], ["B", "C", "A"], ["C", "A", "B"]]])).scores
    assert found == pytest.approx(np.full(3, 1 / 3))


@pytest.mark.parametrize("chain", [MC1, MC2, MC3, MC4])
@given(rankings=votes(weighted=True), unranked=st.sampled_from(["last", "skip"]))
@settings(max_examples=30, deadline=None)
def test_iteration_without_the_matrix_finds_what_elimination_does(chain, rankings, unranked):
    method, query = chain(unranked=unranked), rankings.query(0)
    found, error = method.iterated(query)
    assert error < 1e-10
    assert found == pytest.approx(method.one(query), rel=1e-8, abs=1e-12)


def test_a_teleport_too_small_for_iteration_is_left_to_elimination():
    rng = np.random.default_rng(1)
    query = Rankings.from_orders([[rng.permutation(520).tolist() for _ in range(3)]]).query(0)
    method = MC2(teleport=1e-9)
    walk = (1 - 1e-9) * method.transitions(query) + 1e-9 / 520
    assert method.one(query) == pytest.approx(stationary(walk), rel=1e-12)
