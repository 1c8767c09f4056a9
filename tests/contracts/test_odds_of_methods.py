"""The odds of every method predict, where it was trained with validation data."""

from dataclasses import replace

import numpy as np
import pytest

from podium.data import make_letor_like, split
from podium.methods import METHODS
from podium.testing.examples import short
from podium.training import train

pytestmark = pytest.mark.slow

MADE_UP = split(make_letor_like(150, (6, 12), n_features=8, noise=0.3, seed=5)[0], (0.4, 0.2, 0.4))
ALL = pytest.mark.parametrize("name", METHODS)
UNINFORMED = {"random"}  # its scores tell nothing, so its best odds are even


@ALL
def test_default_odds_predict_unseen_data_better_than_even_chances(name):
    data, valid, test = MADE_UP
    learner = short(METHODS[name].learner, 30)
    odds = train(data, replace(METHODS[name], learner=learner, grid={}), valid=valid).distribution(test)
    found, even = log_losses(odds, test.labels)
    if name in UNINFORMED:
        np.testing.assert_allclose(found, even, rtol=0.02)
    else:
        assert (found < even).all()


def log_losses(odds, labels):
    """The mean −log P(among the k of the best grade) per document, −log P(before) per pair; even chances'."""
    first, pairs = [], []
    for q, query in enumerate(odds):
        y = labels[odds.offsets[q] : odds.offsets[q + 1]]
        if y.min() == y.max():
            continue
        came, k = y == y.max(), int((y == y.max()).sum())
        chance = query.distribution.rank_cdf(query.scores, np.full((len(y), 1), k))[:, 0]
        first += [
            (-np.log(p if hit else 1 - p), -np.log(k / len(y) if hit else 1 - k / len(y)))
            for p, hit in zip(chance, came, strict=True)
        ]
        pairs += [(-np.log(p), np.log(2)) for p in query.prefers()[y[:, None] > y]]
    return np.array([np.mean(first, axis=0), np.mean(pairs, axis=0)]).T
