import math

import numpy as np
import pytest
from preference_perceptron import PreferencePerceptron

from podium.data import make_letor_like, split
from podium.jit.sorting import order
from podium.online import learn_online, start
from podium.online.learning.base import scores_of
from podium.testing.names import text_gives_it_back

DATA, _ = make_letor_like(60, (8, 12), n_features=8, seed=1)
LEARNER = PreferencePerceptron(learning_rate=0.5)


def test_its_text_gives_it_back():
    text_gives_it_back(LEARNER)


def test_pages_are_the_models_ranking_with_half_of_the_neighbours_exchanged():
    query, rng, exchanged = DATA.select([0]), np.random.default_rng(0), []
    model = start(DATA, "mlp(hidden=[4])", seed=3)
    best = order(model.score(query))
    for _ in range(200):
        rows = LEARNER.page(model, query, rng, length=5).rows
        pairs = [set(rows[:2]) == set(best[:2]), set(rows[2:4]) == set(best[2:4]), rows[4] == best[4]]
        assert all(pairs)
        exchanged += [rows[0] != best[0], rows[2] != best[2]]
    assert np.mean(exchanged) == pytest.approx(0.5, abs=4 * 0.5 / math.sqrt(400))


def test_a_click_on_the_lower_neighbour_alone_moves_it_up_by_the_discounts():
    model, query = start(DATA), DATA.select([0])
    page = LEARNER.page(model, query, np.random.default_rng(0), length=4)
    for clicks in ([], [1], [1, 2], [3], [1, 2, 3, 4]):
        assert LEARNER.step(model, page, clicks) is model
    upper, lower = (np.asarray(page.query.features[row], float) for row in page.rows[2:])
    step = LEARNER.step(model, page, [1, 4]).params["theta"] - model.params["theta"]
    weights, offset = step[:-1], step[-1]
    assert weights == pytest.approx(0.5 * (1 / math.log2(4) - 1 / math.log2(5)) * (lower - upper))
    assert offset == 0.0
    after = scores_of(LEARNER.step(model, page, [1, 4]), page.query)
    assert after[page.rows[3]] > after[page.rows[2]]


def test_simulated_users_teach_it():
    train, test = split(DATA, (0.7, 0.3))
    learned = learn_online(PreferencePerceptron(), train, test, steps=600, every=300)
    assert learned.ndcg[-1] > learned.ndcg[0] + 0.1
