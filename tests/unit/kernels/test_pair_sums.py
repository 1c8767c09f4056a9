"""Sums over pairs of edges by panels: a number that is none must not be written beyond them."""

import numpy as np
import pytest

from podium.kernels import pair_sums


@pytest.mark.parametrize("r", [np.nan, np.inf, -np.inf, -1e300, 1e300, 0.0, 3.999, 4.0])
def test_every_number_has_a_panel_that_is_there(r):
    panel, _ = pair_sums._place(r, 0.0, 1.0, 4)
    assert panel == (0 if np.isnan(r) else int(min(max(r, 0), 3)))


def test_scores_that_are_not_numbers_are_placed_once_each():
    r = np.array([0.5, np.nan, 3.5, np.inf, 1.5, -np.inf])
    order, starts, _ = pair_sums._in_panels(r, 0.0, 1.0, 4)
    assert sorted(order.tolist()) == list(range(6))
    assert starts[4] == 6
