"""Borda: the worked example, ties, partial lists, medians and norms."""

import numpy as np
import pytest
from hypothesis import given, settings

from podium.aggregation import Borda
from podium.aggregation.rankings.rankings import Rankings
from reference.aggregation import as_dicts, place, votes, with_absent_last


def points(rankings):
    """Each voter's points for each document: how many stand behind it."""
    n = rankings.n_documents
    lists = [with_absent_last(ranks, n) for ranks in as_dicts(rankings.query(0))]
    return np.array([[n - place(ranks, j) for j in range(n)] for ranks in lists])


def test_the_worked_example_gives_five_three_one():
    example = Rankings.from_orders([[["A", "B", "C"], ["A", "C", "B"], ["B", "A", "C"]]])
    assert Borda()(example).scores.tolist() == [2 + 2 + 1, 1 + 0 + 2, 0 + 1 + 0]


def test_the_documents_a_list_leaves_out_share_the_points_left():
    votes = Rankings.from_orders([[["A", "B", "C", "D"], ["D"]]])
    assert Borda()(votes).scores.tolist() == [3 + 1, 2 + 1, 1 + 1, 0 + 3]


@given(rankings=votes(weighted=True))
@settings(max_examples=50, deadline=None)
def test_the_sum_counts_the_documents_behind(rankings):
    assert Borda()(rankings).scores == pytest.approx(rankings.weights @ points(rankings))


@given(rankings=votes())
@settings(max_examples=50, deadline=None)
def test_the_median_is_that_of_the_points(rankings):
    assert Borda(combine="median")(rankings).scores == pytest.approx(np.median(points(rankings), axis=0))


def test_the_median_of_weighted_voters_lies_with_the_weight():
    votes = Rankings.from_orders([[["A", "B"], ["B", "A"]]], weights=[3.0, 1.0])
    assert Borda(combine="median")(votes).scores.tolist() == [1.0, 0.0]


@given(rankings=votes(weighted=True))
@settings(max_examples=50, deadline=None)
def test_lp_is_the_norm_of_the_points(rankings):
    expected = (rankings.weights @ points(rankings) ** 3) ** (1 / 3)
    assert Borda(combine="lp", p=3.0)(rankings).scores == pytest.approx(expected)


def test_a_high_power_does_not_overflow():
    votes = Rankings.from_orders([[list(range(100)), list(range(100))]])
    assert np.isfinite(Borda(combine="lp", p=500.0)(votes).scores).all()
