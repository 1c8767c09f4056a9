"""Online learning: steps against their formulas and by enumeration, and learning from simulated people."""

import itertools

import numpy as np
import pytest

from podium.base.errors import DataError, IncompatibleError, ParameterError
from podium.data import make_letor_like, split
from podium.online.learning import DBGD, PDGD, OnlineLearner, learn_online, start
from podium.online.learning.base import scores_of
from podium.online.learning.pdgd import gradient_of
from reference.online import pdgd_gradient, plackett_luce_prefix

SCORES = np.array([0.7, -0.4, 1.5, 0.1])
LENGTH = 3


@pytest.fixture(scope="module")
def made():
    data, _ = make_letor_like(60, (8, 12), n_features=8, seed=1)
    return split(data, (0.7, 0.3))


def test_the_step_of_pdgd_is_its_formula_on_every_page_with_every_click():
    for rows in itertools.permutations(range(4), LENGTH):
        for clicked in itertools.product([False, True], repeat=LENGTH):
            found = gradient_of(SCORES, np.array(rows), np.array(clicked))
            assert found == pytest.approx(pdgd_gradient(SCORES, rows, clicked), abs=1e-14)


def expected(relevance, examined=(1.0, 0.6, 0.3)):
    """The expected step of PDGD in scores, over all pages and all clicks of people who read by position."""
    total = np.zeros(4)
    for rows in itertools.permutations(range(4), LENGTH):
        page = plackett_luce_prefix(SCORES, rows)
        chance = [e * relevance[row] for e, row in zip(examined, rows, strict=True)]
        for clicked in itertools.product([False, True], repeat=LENGTH):
            weight = np.prod([p if c else 1 - p for p, c in zip(chance, clicked, strict=True)])
            total += page * weight * gradient_of(SCORES, np.array(rows), np.array(clicked))
    return total


def test_pdgd_does_not_move_documents_that_people_like_equally():
    assert expected([0.4] * 4) == pytest.approx(np.zeros(4), abs=1e-15)


def test_pdgd_moves_what_people_like_up_whatever_the_scores_say():
    worst = np.argmin(SCORES)
    liked = np.full(4, 0.3)
    liked[worst] = 0.6
    found = expected(liked)
    assert found[worst] > 0
    assert (np.delete(found, worst) < 0).all()


def test_scores_far_apart_do_not_overflow():
    found = gradient_of(np.array([0.0, 2000.0, -900.0]), np.array([2, 1, 0]), np.array([True, False, False]))
    assert np.isfinite(found).all()


def test_the_step_follows_the_gradient_of_the_scorer(made):
    train, _ = made
    query = train.select([0])
    for scorer in ("linear", "mlp(hidden=[4])"):
        model = start(train, scorer, seed=3)
        learner, rng = PDGD(learning_rate=1e-6), np.random.default_rng(0)
        page = learner.page(model, query, rng, length=5)
        after = learner.step(model, page, [2])
        gradient = gradient_of(page.memory, page.rows, page.clicked([2]))
        moved = scores_of(after, page.query) - scores_of(model, page.query)
        assert moved @ gradient > 0  # up the objective
        assert learner.step(model, page, []) is model
        assert learner.step(model, page, [1, 2, 3, 4, 5]) is model


def test_dbgd_goes_where_clicks_speak_for_the_candidate(made):
    train, _ = made
    model, learner = start(train), DBGD(learning_rate=0.5)
    page = learner.page(model, train.select([0]), np.random.default_rng(0), length=6)
    direction, credits = page.memory
    assert np.linalg.norm(direction) == pytest.approx(1.0)
    won, lost = int(np.argmax(credits)) + 1, int(np.argmin(credits)) + 1
    assert learner.step(model, page, [won]).params["theta"] == pytest.approx(0.5 * direction)
    assert learner.step(model, page, [lost]) is model
    assert learner.step(model, page, [won, lost]) is model  # a tie


def test_people_teach_pdgd_more_than_dbgd_in_as_many_pages(made):
    train, test = made
    fast = learn_online("pdgd", train, test, steps=600, every=300)
    slow = learn_online("dbgd", train, test, steps=600, every=300)
    assert fast.ndcg[-1] > fast.ndcg[0] + 0.1
    assert fast.ndcg[-1] > slow.ndcg[-1]
    assert fast.regret[-1] < slow.regret[-1]
    assert fast.online_performance() > slow.online_performance()
    assert (np.diff(fast.regret) >= 0).all()


@pytest.mark.parametrize("people", ["cascade", "dbn"])
def test_other_people_and_networks_learn_too_and_the_seed_decides(made, people):
    train, test = made
    how = {"steps": 150, "every": 150, "people": people, "scorer": "mlp(hidden=[4])"}
    first, second = (learn_online(PDGD(learning_rate=0.05), train, test, **how) for _ in range(2))
    assert (first.model.params["theta"] == second.model.params["theta"]).all()
    assert first.steps.tolist() == [0, 150]
    assert first.model.info["steps"] == 150


def test_the_names_of_learners_parse_back():
    for learner in (PDGD(learning_rate=0.3), DBGD(delta=2.0)):
        assert OnlineLearner.parse(repr(learner)) == learner


def test_what_cannot_learn_click_by_click_is_refused_in_words(made):
    train, test = made
    with pytest.raises(IncompatibleError, match="scorer=linear or scorer=mlp"):
        start(train, "trees")
    learner, model, rng = PDGD(), start(train), np.random.default_rng(0)
    with pytest.raises(DataError, match="a page is for one query; got 2"):
        learner.page(model, train.select([0, 1]), rng)
    page = learner.page(model, train.select([0]), rng, length=3)
    with pytest.raises(DataError, match="positions 1 to 3"):
        learner.step(model, page, [4])
    with pytest.raises(ParameterError, match="at least 1"):
        learn_online("pdgd", train, test, steps=0)
