"""Mallows' consensus: its likelihood by enumeration, θ by its definition and from planted values."""

import math
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings

from podium.aggregation import Mallows
from podium.aggregation.rankings.rankings import Rankings
from podium.distributions.mallows import log_normaliser, mean_distance
from reference.aggregation import as_dicts, orders_within, votes, with_absent_last


def kendall(first, second):
    places = [{j: p for p, j in enumerate(order)} for order in (first, second)]
    return sum((places[0][i] < places[0][j]) != (places[1][i] < places[1][j]) for i, j in combinations(first, 2))


def log_likelihood(lists, weights, centre, theta):
    """Σ w log of the probability of every order that a list may hide, the distribution normalised by brute force."""
    total = 0.0
    for ranks, w in zip(lists, weights, strict=True):
        mine = [j for j in centre if j in ranks]
        everything = sum(math.exp(-theta * kendall(order, mine)) for order in permutations(mine))
        total += w * math.log(sum(math.exp(-theta * kendall(o, mine)) for o in orders_within(ranks)) / everything)
    return total


@pytest.mark.parametrize("unranked", ["last", "skip"])
@given(rankings=votes(most=5, voters=4, weighted=True))
@settings(max_examples=40, deadline=None)
def test_the_likelihood_is_that_of_brute_force_and_no_theta_or_centre_has_more(unranked, rankings):
    query = rankings.query(0)
    n = query.n_documents
    lists = [ranks for ranks in as_dicts(query) if ranks]
    if unranked == "last":
        lists = [with_absent_last(ranks, n) for ranks in lists]
    found = Mallows(unranked=unranked).fit(query)
    centre = [list(query.document_ids).index(name) for name in found.order]
    theta = min(found.theta, 30.0)
    value = log_likelihood(lists, rankings.weights, centre, theta)
    assert found.log_likelihood == pytest.approx(value, abs=1e-8)
    for near in (0.0, 0.5 * theta, 0.99 * theta, 1.01 * theta, theta + 0.3):
        assert log_likelihood(lists, rankings.weights, centre, near) <= value + 1e-8
    if n <= 4 and unranked == "last":
        for other in permutations(range(n)):
            assert log_likelihood(lists, rankings.weights, other, theta) <= value + 1e-8


@pytest.mark.parametrize("theta", [0.0, 0.3, 2.0])
def test_normaliser_and_mean_distance_are_those_of_all_orders(theta):
    for n in range(1, 7):
        distances = np.array([kendall(order, range(n)) for order in permutations(range(n))])
        weights = np.exp(-theta * distances)
        assert log_normaliser(np.array([n]), theta)[0] == pytest.approx(math.log(weights.sum()))
        assert mean_distance(np.array([n]), theta)[0] == pytest.approx(distances @ weights / weights.sum())


def draw(rng, n, theta):
    """An order of 0 … n − 1 by inserting each document at a place that costs what it passes."""
    order = []
    for i in range(n):
        chances = np.exp(-theta * np.arange(i + 1))
        order.insert(i - rng.choice(i + 1, p=chances / chances.sum()), i)
    return order


def test_a_planted_theta_is_recovered_within_its_standard_error():
    rng = np.random.default_rng(3)
    errors = []
    for _ in range(30):
        query = Rankings.from_orders([[[f"d{j:02d}" for j in draw(rng, 12, 0.8)] for _ in range(100)]]).query(0)
        found = Mallows().fit(query)
        assert found.order == [f"d{j:02d}" for j in range(12)]
        errors.append((found.theta - 0.8) / found.standard_error)
    assert np.mean(np.square(errors)) == pytest.approx(1.0, abs=0.8)  # 30 of them: ± 0.26


def test_lists_cut_at_some_depth_tell_the_same_theta():
    rng = np.random.default_rng(4)
    whole = [[f"d{j:02d}" for j in draw(rng, 10, 0.7)] for _ in range(400)]
    full = Mallows().fit(Rankings.from_orders([whole]).query(0))
    cut = Mallows().fit(Rankings.from_orders([[order[:4] for order in whole]]).query(0))
    assert cut.standard_error > full.standard_error
    assert cut.theta == pytest.approx(0.7, abs=4 * cut.standard_error)


def test_theta_is_infinite_without_contradiction_and_zero_without_agreement():
    agree = Mallows().fit(Rankings.from_orders([[["A", "B", "C"], ["A", "B", "C"]]]).query(0))
    assert (agree.theta, agree.log_likelihood) == (math.inf, 0.0)
    split = Mallows().fit(Rankings.from_orders([[["A", "B"], ["B", "A"]]]).query(0))
    assert split.theta == 0.0
    assert split.log_likelihood == pytest.approx(2 * math.log(1 / 2))
    silent = Mallows().fit(Rankings.from_orders([[[("A", "B")]]]).query(0))
    assert silent.theta == 0.0
