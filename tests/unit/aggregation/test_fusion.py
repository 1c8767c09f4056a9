"""RRF, CombSUM, CombMNZ and Copeland: one number each from their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings

from podium.aggregation import RRF, CombMNZ, CombSum, Copeland
from podium.aggregation.rankings.rankings import Rankings
from reference.aggregation import as_dicts, votes, with_absent_last

A, B, C = 0, 1, 2


def scored():
    return Rankings.from_entries(list("qqqqqq"), list("xxxyyy"), list("ABCABD"), scores=[8.0, 4.0, 2.0, 0.1, 0.5, 0.3])


def test_rrf_adds_reciprocal_ranks():
    votes = Rankings.from_orders([[["A", "B", "C"], ["B", "A"]]])
    assert RRF(k=10)(votes).scores == pytest.approx(np.array([1 / 11 + 1 / 12, 1 / 12 + 1 / 11, 1 / 13]))


def test_rrf_of_tied_documents_is_the_mean_over_their_places():
    votes = Rankings.from_orders([[["A", ("B", "C")]]])
    assert RRF()(votes).scores == pytest.approx(np.array([1 / 61, (1 / 62 + 1 / 63) / 2, (1 / 62 + 1 / 63) / 2]))


@pytest.mark.parametrize(
    ("normalise", "expected"),
    [
        ("minmax", [6 / 6 + 0, 2 / 6 + 1, 0, 0.2 / 0.4]),
        ("sum", [6 / 8 + 0, 2 / 8 + 0.4 / 0.6, 0, 0.2 / 0.6]),
        ("none", [8.1, 4.5, 2.0, 0.3]),
        (
            "zscore",
            [6 / np.std([8, 4, 2]), 2 / np.std([8, 4, 2]) + 0.4 / np.std([1, 5, 3]) * 10, 0, 2 / np.std([1, 5, 3])],
        ),
    ],
)
def test_combsum_adds_normalised_scores(normalise, expected):
    found = CombSum(normalise=normalise)(scored()).scores
    assert found == pytest.approx(np.array(expected))
    times = np.array([2, 2, 1, 1])
    assert CombMNZ(normalise=normalise)(scored()).scores == pytest.approx(times * found)


def test_borda_and_inverted_scores():
    """Lists A 9, B 1 and C .8, A .2 of three documents: those left out share the last places."""
    votes = Rankings.from_entries(["q"] * 4, list("xxyy"), list("ABAC"), scores=[9.0, 1.0, 0.2, 0.8])
    np.testing.assert_allclose(CombSum(normalise="borda")(votes).scores, [1 + 2 / 3, 2 / 3 + 1 / 3, 1 / 3 + 1])
    np.testing.assert_allclose(CombSum(normalise="inverted")(votes).scores, [0 + 1, 1, 0])


def test_z_scores_leave_the_order_of_z_scores_with_missing_ones_at_the_lowest():
    x, y = np.array([8.0, 4.0, 2.0]), np.array([0.1, 0.5, 0.3])
    z_x, z_y = (x - x.mean()) / x.std(), (y - y.mean()) / y.std()
    expected = np.array([z_x[0] + z_y[0], z_x[1] + z_y[1], z_x[2] + z_y.min(), z_x.min() + z_y[2]])
    found = CombSum(normalise="zscore")(scored()).scores
    assert found - found[0] == pytest.approx(expected - expected[0])


def test_a_list_of_equal_scores_counts_as_found():
    votes = Rankings.from_entries(list("qqq"), list("xyy"), list("ABC"), scores=[7.0, 2.0, 1.0])
    assert CombSum()(votes).scores.tolist() == [1.0, 1.0, 0.0]


@given(rankings=votes(weighted=True))
@settings(max_examples=40, deadline=None)
def test_copeland_counts_duels(rankings):
    n = rankings.n_documents
    lists = [with_absent_last(ranks, n) for ranks in as_dicts(rankings.query(0))]

    def duel(i, j):
        for_i = sum(w for ranks, w in zip(lists, rankings.weights, strict=True) if ranks[i] < ranks[j])
        for_j = sum(w for ranks, w in zip(lists, rankings.weights, strict=True) if ranks[j] < ranks[i])
        return (1 + np.sign(for_i - for_j)) / 2

    expected = [sum(duel(i, j) for j in range(n) if j != i) for i in range(n)]
    assert Copeland()(rankings).scores == pytest.approx(np.array(expected))


def test_a_draw_stays_a_draw_whatever_weights_round_to():
    votes = Rankings.from_orders([[["A", "B"], ["A", "B"], ["B", "A"]]], weights=[0.1, 0.2, 0.3])
    assert 0.1 + 0.2 != 0.3
    assert Copeland()(votes).scores.tolist() == [0.5, 0.5]
