"""What every method promises of its odds, where it was trained with validation data."""

import functools
from dataclasses import replace

import numpy as np
import pytest

from podium.data import make_letor_like, split
from podium.methods import METHODS
from podium.model import Model
from podium.training import train
from reference.learning import linear_data
from reference.variants import short

DATA, VALID, TEST = linear_data(20, 10), linear_data(10, 8, seed=1), linear_data(3, 7, seed=2)
MADE_UP = split(make_letor_like(150, (6, 12), n_features=8, noise=0.3, seed=5)[0], (0.4, 0.2, 0.4))
ALL = pytest.mark.parametrize("name", METHODS)
UNINFORMED = {"random"}  # its scores tell nothing, so its best odds are even


@functools.cache
def trained(name):
    return train(DATA, replace(METHODS[name], learner=short(METHODS[name].learner, 10), grid={}), valid=VALID)


def odds_of(model):
    """The odds that a model gives: without ties, and with ties if it has those too."""
    loss = getattr(model.learner, "loss", None)
    own = loss.rank_distribution() if loss is not None else None
    tied = [True] if own is not None and own[0].has_ties else []
    return [model.distribution(TEST, with_ties=with_ties) for with_ties in [False, *tied]]


@ALL
def test_probabilities_of_ranks_sum_to_one(name):
    plain, *tied = odds_of(trained(name))
    assert not plain.distribution.has_ties
    for odds in [plain, *tied]:
        for query in odds:
            marginals = query.rank_marginals()
            np.testing.assert_allclose(marginals.sum(axis=1), 1.0, atol=1e-8)
            np.testing.assert_allclose(query.first, marginals[:, 0], atol=1e-9)
            if odds.distribution.has_ties:
                assert query.first.sum() >= 1.0 - 1e-9
            else:
                assert query.first.sum() == pytest.approx(1.0, abs=1e-8)
            low, high = query.interval().T
            assert (low >= 1).all()
            assert (low <= high).all()
            assert (high <= len(query.scores)).all()
            outside = 1 - np.array([row[a - 1 : b].sum() for row, a, b in zip(marginals, low, high, strict=True)])
            assert (outside <= 0.1 + 1e-6).all()


@ALL
def test_higher_scores_have_better_odds(name):
    for query in trained(name).distribution(TEST):
        order = np.argsort(-query.scores)
        assert (np.diff(query.first[order]) <= 1e-12).all()
        assert (np.diff(query.expected_rank[order]) >= -1e-8).all()


@ALL
def test_a_file_gives_the_odds_back_bit_for_bit(name, tmp_path):
    trained(name).save(tmp_path / "m")
    for one, other in zip(odds_of(trained(name)), odds_of(Model.load(tmp_path / "m")), strict=True):
        assert one.how == other.how
        for key in ("first", "expected", "low", "high"):
            assert getattr(one.summary(), key).tobytes() == getattr(other.summary(), key).tobytes()


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
