"""Plackett–Luce with shared places: by enumeration of all sets, Davidson's closed form, and lists that tie too many."""

import numpy as np
import pytest
from hypothesis import given, settings

from podium.aggregation import PlackettLuceMLE
from podium.aggregation.davidson_luce import MOST_TIED, profile, tie_sizes
from podium.aggregation.rankings.rankings import Rankings
from reference.aggregation import as_dicts, davidson_luce, votes


def enumerated(query, s, log_delta, *, last):
    """The log-likelihood of the lists, each by enumeration of the sets at every place."""
    delta = dict(zip(tie_sizes(query).tolist(), np.exp(log_delta).tolist(), strict=True))
    total = 0.0
    for w, ranks in zip(query.weights, as_dicts(query), strict=True):
        if ranks:
            absent = tuple(j for j in range(query.n_documents) if j not in ranks) if last else ()
            total += w * np.log(davidson_luce(ranks, s, delta, absent))
    return total


@pytest.mark.parametrize("last", [True, False])
@given(rankings=votes(weighted=True))
@settings(max_examples=30, deadline=None)
def test_likelihood_is_that_of_enumeration_and_delta_is_the_best(last, rankings):
    query = rankings.query(0)
    s = np.random.default_rng(query.n_documents).normal(size=query.n_documents)
    found = profile(query, s, last=last)
    assert found.value == pytest.approx(enumerated(query, s, found.log_delta, last=last), abs=1e-9)
    for d in range(1, len(found.log_delta)):
        if abs(found.log_delta[d]) < 25.0:  # otherwise every place is shared alike, and the best is infinite
            for h in (-1e-3, 1e-3):
                moved = found.log_delta + h * np.eye(len(found.log_delta))[d]
                assert enumerated(query, s, moved, last=last) < found.value + 1e-12


@given(rankings=votes(weighted=True))
@settings(max_examples=20, deadline=None)
def test_derivatives_are_those_of_the_value_and_curvature_bounds_the_second(rankings):
    query, model = rankings.query(0), PlackettLuceMLE(ties="shared")
    n, h = query.n_documents, 1e-5
    s = np.random.default_rng(n).normal(size=n)
    found, information = model.slope(query, s), model.information(query, s)
    assert (found.curvature >= np.diag(information) - 1e-6).all()
    for i in range(n):
        up, down = (model.slope(query, s + sign * h * np.eye(n)[i]).value for sign in (1, -1))
        assert (up - down) / (2 * h) == pytest.approx(found.gradient[i], abs=1e-5)


def test_two_documents_have_the_worths_of_davidsons_law():
    orders = [["A", "B"]] * 3 + [["B", "A"]] + [[("A", "B")]] * 2
    query = Rankings.from_orders([orders]).query(0)
    found = PlackettLuceMLE(pseudo=0.0, ties="shared").fit(query)
    assert np.exp(found.log_worths[0] - found.log_worths[1]) == pytest.approx(3.0)
    assert np.exp(profile(query, found.log_worths, last=False).log_delta[1]) == pytest.approx(2 / np.sqrt(3))


def test_documents_missing_from_a_list_are_no_tie():
    query = Rankings.from_orders([[["A", "B", ("C", "D")], ["B", "A"], ["D"]]]).query(0)
    assert tie_sizes(query).tolist() == [1, 2]
    assert np.isfinite(PlackettLuceMLE(ties="shared").one(query)).all()


def test_a_query_with_a_larger_tie_counts_orders_as_unknown():
    many = tuple(f"d{k}" for k in range(MOST_TIED + 1))
    query = Rankings.from_orders([[["A", many, "B"], ["B", "A"]]]).query(0)
    shared, unknown = (PlackettLuceMLE(ties=ties).one(query) for ties in ("shared", "unknown"))
    assert shared == pytest.approx(unknown)
