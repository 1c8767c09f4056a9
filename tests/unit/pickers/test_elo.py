"""ELO-DCG: the worked example, a brute force, and what has no loss."""

import numpy as np
import pytest

from podium.pickers.elo import _above_none, expected_losses
from reference.pickers import elo_of_document, elo_of_query


def test_the_worked_example():
    grades = np.array([[2, 2, 1], [1, 0, 2], [0, 0, 0]]).T  # documents × members
    of_query, of_documents = expected_losses(2.0**grades - 1.0, cutoff=10)
    assert of_query == pytest.approx(0.246047, abs=5e-7)
    assert of_documents == pytest.approx([0.0, 0.041008, 0.0], abs=5e-7)


@pytest.mark.parametrize("cutoff", [1, 2, 3, 10])
@pytest.mark.parametrize("whole", [True, False])
def test_sums_over_sorted_gains_are_the_brute_force(cutoff, whole):
    rng = np.random.default_rng(cutoff)
    for n in (1, 2, 3, 7, 12):
        grades = rng.uniform(0, 4, (5, n))
        gains = 2.0 ** (np.round(grades) if whole else grades) - 1.0  # whole grades are often tied
        of_query, of_documents = expected_losses(gains, cutoff=cutoff)
        listed = gains.tolist()
        assert of_query == pytest.approx(elo_of_query(listed, cutoff), abs=1e-10)
        expected = [elo_of_document(listed, i, cutoff) for i in range(n)]
        np.testing.assert_allclose(of_documents, expected, atol=1e-10)
        assert of_query >= 0
        assert (of_documents >= 0).all()


def test_members_who_agree_lose_nothing():
    gains = np.tile([3.0, 1.0, 0.0], (4, 1))
    of_query, of_documents = expected_losses(gains, cutoff=10)
    assert (of_query, of_documents.tolist()) == (0.0, [0.0, 0.0, 0.0])
    assert expected_losses(np.empty((3, 0)), cutoff=10)[1].shape == (0,)


def test_documents_without_a_loss_come_last_by_their_variance():
    worth = _above_none(np.array([0.0, 1e-3, 0.0, 0.5]), np.array([9.0, 0.0, 1.0, 0.0]))
    assert np.argsort(-worth).tolist() == [3, 1, 0, 2]
    assert (worth >= 0).all()
