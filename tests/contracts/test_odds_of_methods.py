"""What every method promises of its odds, where it was trained with validation data."""

import functools
from dataclasses import replace

import numpy as np
import pytest

from podium.methods import METHODS
from podium.model import Model
from podium.training import train
from reference.learning import linear_data
from reference.variants import short

DATA, VALID, TEST = linear_data(20, 10), linear_data(10, 8, seed=1), linear_data(3, 7, seed=2)
ALL = pytest.mark.parametrize("name", METHODS)


@functools.cache
def trained(name):
    return train(DATA, replace(METHODS[name], learner=short(METHODS[name].learner, 10), grid={}), valid=VALID)


@ALL
@pytest.mark.parametrize("strict", [False, True], ids=["own", "strict"])
def test_probabilities_of_ranks_sum_to_one(name, strict):
    odds = trained(name).distribution(TEST, strict=strict)
    assert not (strict and odds.law.has_ties)
    for query in odds:
        marginals = query.rank_marginals()
        np.testing.assert_allclose(marginals.sum(axis=1), 1.0, atol=1e-8)
        np.testing.assert_allclose(query.first, marginals[:, 0], atol=1e-9)
        if odds.law.has_ties:
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
    for query in trained(name).distribution(TEST, strict=True):
        order = np.argsort(-query.scores)
        assert (np.diff(query.first[order]) <= 1e-12).all()
        assert (np.diff(query.expected_rank[order]) >= -1e-8).all()


@ALL
def test_a_file_gives_the_odds_back_bit_for_bit(name, tmp_path):
    trained(name).save(tmp_path / "m")
    loaded = Model.load(tmp_path / "m")
    for strict in (False, True):
        one, other = (model.distribution(TEST, strict=strict) for model in (trained(name), loaded))
        assert one.how == other.how
        for key in ("first", "expected", "low", "high"):
            assert getattr(one.summary(), key).tobytes() == getattr(other.summary(), key).tobytes()
