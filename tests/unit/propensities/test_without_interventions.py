"""Propensities with features or grades beside the log: what they find, and how far they can be trusted."""

import dataclasses

import numpy as np
import pytest

from podium.base.errors import ConvergenceWarning, DataError, PodiumWarning
from podium.clicks import ClickLog, simulate
from podium.clicks.simulate import click_chance
from podium.data import Dataset
from podium.data.synthetic import make_letor_like
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


def test_regression_em_finds_the_curve_of_its_own_model():
    """P(click) = θ_k σ(w·x) without error; ten rounds were 24 to 46 % too low at ranks 2 to 6 of such logs."""
    data, _ = make_letor_like(100, (8, 8), n_features=4, seed=2)
    z = np.asarray(data.features, np.float64)
    z = (z - z.mean(axis=0)) / z.std(axis=0)
    gamma = 1 / (1 + np.exp(2.0 - z @ [0.8, -0.6, 0.5, 0.4]))
    found = []
    for seed in range(4):
        log = simulate(
            data, [z[:, 0] + np.random.default_rng(seed).normal(size=len(z))], pages=40_000, depth=6, seed=seed
        )
        chance = np.zeros(log.n_pairs)
        pair = log.find_pairs(data.query_ids[data.query_index], data.document_ids)
        chance[pair[pair >= 0]] = gamma[pair >= 0]
        clicks = np.random.default_rng([seed, 1]).random(log.n_impressions) < chance[log.pairs] / log.ranks()
        with pytest.warns(PodiumWarning, match="estimated without interventions"):
            found.append(propensities(log.with_clicks(clicks), "regression-em(draws=0)", data).theta)
    ratio = np.array(found) * np.arange(1, 7)
    assert (np.abs(ratio.mean(axis=0) - 1) <= 0.05).all(), ratio.mean(axis=0)


def test_regression_em_says_when_it_stopped_early(log):
    with (
        pytest.warns(PodiumWarning, match="estimated without interventions"),
        pytest.warns(ConvergenceWarning, match="not converged after 4 fits of the scorer"),
    ):
        propensities(log, "regression-em(draws=0,rounds=4)", DATA)


def test_dual_compares_ranks_on_the_pages_that_have_both():
    """Short pages, which are clicked more, say nothing of the ranks that they lack."""
    rng, pages = np.random.default_rng(0), []
    for k in range(6000):
        size, chance = ((2, 0.9), (4, 0.2))[k % 2]
        pages.append(
            (f"q{k % 2}", [f"d{d}" for d in range(size)], [r for r in range(1, size + 1) if rng.random() < chance / r])
        )
    flat = Dataset.from_arrays(
        np.zeros((6, 1)), np.zeros(6), qid=["q0"] * 2 + ["q1"] * 4, document_ids=["d0", "d1", "d0", "d1", "d2", "d3"],
    )  # fmt: skip
    with pytest.warns(PodiumWarning, match="estimated without interventions"):
        found = propensities(ClickLog.from_pages(pages), "dual(draws=0)", flat)
    np.testing.assert_allclose(found.theta, 1 / np.arange(1, 5), rtol=0.12)


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
