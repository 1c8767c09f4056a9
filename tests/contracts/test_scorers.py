"""What every scorer promises, run over the registry."""

import numpy as np
import pytest

from podium.data.dataset import Dataset
from podium.scorers import RowScorer, Scorer
from podium.testing import SCORER_CHECKS, linear_data, variants
from podium.testing.examples import installed, with_fields

SCORERS = list(  # without costs, of which trees need as many as there are features
    dict.fromkeys(
        with_fields(scorer, costs=())
        for cls in Scorer.catalogue().values()
        if installed(cls)
        for scorer in variants(cls)
    )
)


@pytest.mark.parametrize("scorer", SCORERS, ids=repr)
@pytest.mark.parametrize("check", SCORER_CHECKS.values(), ids=lambda check: check.__name__)
def test_every_scorer_keeps_its_promises(check, scorer):
    check(scorer)


@pytest.mark.parametrize("scorer", [scorer for scorer in SCORERS if isinstance(scorer, RowScorer)], ids=repr)
def test_the_size_of_blocks_does_not_matter(scorer, monkeypatch):
    data, g = linear_data(30, 10), np.random.default_rng(3).standard_normal(300)
    params = {"theta": scorer.init(3, np.random.default_rng(1)) + 0.1}
    score, down = scorer.score(params, data), scorer.pullback(params, data, g)
    monkeypatch.setattr("podium.base.threads.BLOCK", 7)
    np.testing.assert_allclose(scorer.score(params, data), score, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(scorer.pullback(params, data, g), down, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("scorer", [scorer for scorer in SCORERS if isinstance(scorer, RowScorer)], ids=repr)
def test_a_row_is_scored_without_regard_to_others(scorer):
    data, params = linear_data(2, 10), {"theta": scorer.init(3, np.random.default_rng(1)) + 0.1}
    alone = [scorer.score(params, Dataset.from_arrays(row[None]))[0] for row in data.features]
    np.testing.assert_allclose(scorer.score(params, data), alone, rtol=1e-12, atol=1e-14)
