"""Agreement: τ-b as SciPy has it, over the documents that the voter ranks."""

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.stats import kendalltau

from podium.aggregation import Borda, agreement
from podium.aggregation.rankings.rankings import Rankings
from reference.aggregation import votes


@given(rankings=votes())
@settings(max_examples=40, deadline=None)
def test_it_is_kendalls_tau_b(rankings):
    consensus = Borda()(rankings)
    for places, tau in zip(rankings.query(0).matrix(), agreement(rankings, consensus), strict=True):
        ranked = ~np.isnan(places)
        expected = kendalltau(-places[ranked], consensus.scores[ranked]).statistic if ranked.sum() > 1 else np.nan
        assert tau == pytest.approx(expected, nan_ok=True)


def test_it_is_the_mean_over_the_queries_where_the_voter_says_something():
    rankings = Rankings.from_orders([[list("AB"), list("BA"), list("AB")], [list("AB"), None, list("AB")]])
    assert agreement(rankings, Borda()(rankings)).tolist() == [1.0, -1.0, 1.0]
