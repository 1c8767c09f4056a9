"""Propensities with features or grades beside the log: what they find, and how far they can be trusted."""

import dataclasses

import numpy as np
import pytest

from podium.clicks import simulate
from podium.clicks.simulate import click_chance
from podium.data.synthetic import make_letor_like
from podium.errors import DataError, PodiumWarning
from podium.propensities import propensities

DATA, _ = make_letor_like(80, (6, 8), n_features=8, seed=1)
TRUE = 1 / np.arange(1, 6)
RANKERS = [np.asarray(DATA.features[:, column], np.float64) for column in (0, 5)]


@pytest.fixture(scope="module")
def log():
    return simulate(DATA, RANKERS, pages=20_000, depth=5, seed=0)


@pytest.mark.parametrize("how", ["regression-em(draws=2)", "dual(draws=0)", "pairwise(rounds=3)"])
def test_weak_rankers_leave_the_curve_roughly_visible(log, how):
    with pytest.warns(PodiumWarning, match="estimated without interventions"):
        found = propensities(log, how, DATA)
    assert (np.diff(found.theta) < 0).all()
    assert np.abs(np.log(found.theta / TRUE)).max() < 0.5
    assert np.isnan(found.low[-1]) == ("draws=2" not in how)


def test_a_good_ranker_is_taken_for_position_bias():
    """Which is why the warning is given: here the lowest rank is looked at a fifth as often as the first, not less."""
    good = simulate(DATA, [DATA.labels + 1e-3 * RANKERS[0]], pages=20_000, depth=5, seed=0)
    with pytest.warns(PodiumWarning, match="estimated without interventions"):
        found = propensities(good, "regression-em(draws=0)", DATA)
    assert found.theta[-1] < 0.8 * TRUE[-1]


def test_trust_is_found_where_documents_are_judged():
    """People click on relevant documents with 0.95 and on others with 0.4, 0.3, …, of what they look at."""
    pages = simulate(DATA, RANKERS[:1], pages=60_000, depth=5, seed=0)
    binary = dataclasses.replace(DATA, labels=(DATA.labels > 1).astype(np.float64))
    relevant = np.zeros(pages.n_pairs)
    known = pages.find_pairs(DATA.query_ids[DATA.query_index], DATA.document_ids)
    relevant[known[known >= 0]] = binary.labels[known >= 0]
    trusted = 0.4 - 0.08 * np.arange(5)
    rank = pages.ranks() - 1
    chance = TRUE[rank] * np.where(relevant[pages.pairs] > 0, 0.95, trusted[rank])
    clicks = np.random.default_rng(1).random(pages.n_impressions) < chance
    found = propensities(pages.with_clicks(clicks), "trust(draws=30)", binary)
    np.testing.assert_allclose(found.beta, TRUE * trusted, atol=0.01)
    np.testing.assert_allclose(found.alpha, TRUE * (0.95 - trusted), atol=0.03)
    assert (found.low <= TRUE).all()
    assert (found.high >= TRUE).all()
    assert found.has_trust_bias


def test_grades_between_are_probabilities_of_relevance(log):
    found = propensities(log, "trust(draws=0)", DATA)
    chance = click_chance(DATA)
    np.testing.assert_allclose(found.alpha, TRUE * (chance.max() - chance.min()), atol=0.06)
    np.testing.assert_allclose(found.beta, TRUE * chance.min(), atol=0.02)


def test_data_without_grades_or_of_other_queries_is_refused(log):
    with pytest.raises(DataError, match="needs data with grades"):
        propensities(log, "trust", dataclasses.replace(DATA, labels=None))
    with pytest.raises(DataError, match=r"give the dataset of the queries \(--data\)"):
        propensities(log, "trust")
    other = dataclasses.replace(DATA, document_ids=np.array([f"x{k}" for k in range(DATA.n_documents)], object))
    with pytest.raises(DataError, match="none of the documents that the log shows at rank 1"):
        propensities(log, "trust", other)
